"""The instances that the corpus is about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def instance(field: str, heads: Sequence[tuple[Any, Sequence[str]]], dim: int) -> bytes:
    written = [json.dumps({"W": W, "v": list(v)}) for W, v in heads]
    listed = ",\n   ".join(written)
    start = f'{{"format": "exactmha/instance/1", "field": "{field}", "dim": {dim}'
    return f'{start},\n "heads": [{listed}]}}\n'.encode()


INSTANCES = {
    "rational-by-hand": instance("rational", [([["log(2)"]], ["1"]), ([["log(3)"]], ["2"])], 1),
    "rational-two-heads": instance(
        "rational",
        [
            ([["log(2)", "-log(3)"], ["log(6)", "log(3/2)"]], ["1", "-2/3"]),
            ([["-log(3)", "0"], ["log(2)", "2*log(2)"]], ["2", "1/2"]),
        ],
        2,
    ),
    "rational-three-heads": instance(
        "rational",
        [
            ([["log(2)", "log(5)"], ["0", "-log(2)"]], ["1", "1"]),
            ([["-log(2)", "0"], ["log(5)", "log(2)"]], ["-1", "1/3"]),
            ([["0", "0"], ["0", "0"]], ["0", "2"]),
        ],
        2,
    ),
    "rational-one-head-3d": instance(
        "rational",
        [([["log(2)", "0", "-log(2)"], ["log(7)", "log(2)", "0"], ["0", "log(14)", "log(2)"]], ["1", "2", "-1/2"])],
        3,
    ),
    "rational-no-heads": instance("rational", [], 2),
    # equal W twice (v adds up), and two heads whose sum is zero: two canonical heads
    "rational-not-canonical": instance(
        "rational",
        [
            ([["log(6)", "0"], ["0", "-log(6)"]], ["1", "0"]),
            ([["log(36)/2", "0"], ["log(1)", "log(1/6)"]], ["1/2", "2"]),
            ([["log(6)", "log(6)"], ["0", "log(6)"]], ["5", "-7"]),
            ([["0", "2*log(6)"], ["log(6)", "0"]], ["-1", "1"]),
            ([["log(6)", "log(216)/3"], ["0", "log(6)"]], ["-5", "7"]),
        ],
        2,
    ),
    "radical-two-heads": instance(
        "radical",
        [
            ([["1/2*log(2)", "log(2)"], ["-1/2*log(2)", "0"]], ["1+sqrt(2)", "-1/3"]),
            ([["-log(2)", "1/2*log(2)"], ["log(2)", "3/2*log(2)"]], ["sqrt(2)", "2-1/2*sqrt(2)"]),
        ],
        2,
    ),
    "radical-three-halves": instance(
        "radical",
        [
            ([["1/2*log(3/2)", "0"], ["log(3/2)", "-1/2*log(3/2)"]], ["sqrt(3/2)", "1"]),
            ([["-1/2*log(3/2)", "log(3/2)"], ["0", "1/2*log(3/2)"]], ["2", "1/3-sqrt(6)"]),
        ],
        2,
    ),
    "radical-three-heads-1d": instance(
        "radical",
        [
            ([["1/3*log(5)"]], ["root(5,3)"]),
            ([["-2/3*log(5)"]], ["1-root(25,3)"]),
            ([["0"]], ["1/2"]),
        ],
        1,
    ),
    "radical-one-head": instance(
        "radical", [([["2/3*log(2)", "-log(2)"], ["1/3*log(2)", "0"]], ["root(4,3)/2", "-1"])], 2
    ),
    "radical-fourth-root": instance(
        "radical", [([["1/4*log(2)"]], ["root(2,4)/(1+sqrt(2))"]), ([["-1/2*log(2)"]], ["1/(1-root(2,4))"])], 1
    ),
    "exponential-two-heads": instance(
        "exponential",
        [([["1/2", "-3"], ["0", "2"]], ["1", "-2/3"]), ([["-1", "1/2"], ["2", "1"]], ["3/2", "2"])],
        2,
    ),
    "exponential-two-heads-3d": instance(
        "exponential",
        [
            ([["1", "0", "-2"], ["3", "1/2", "0"], ["0", "-1", "1"]], ["1", "-2", "1/3"]),
            ([["-1", "2", "0"], ["0", "1", "3/2"], ["2", "0", "-1"]], ["0", "1", "2"]),
        ],
        3,
    ),
    "exponential-three-heads": instance(
        "exponential",
        [
            ([["1", "2"], ["0", "-1"]], ["1", "1"]),
            ([["-2", "1"], ["1", "3"]], ["-1", "2"]),
            ([["0", "-1"], ["2", "1/3"]], ["1/2", "-3"]),
        ],
        2,
    ),
    "exponential-square-root": instance(
        "exponential",
        [
            ([["sqrt(2)", "-1/2*sqrt(2)"], ["0", "2*sqrt(2)"]], ["1", "3"]),
            ([["-sqrt(2)", "sqrt(2)"], ["3*sqrt(2)", "sqrt(2)/3"]], ["-2", "1/2"]),
        ],
        2,
    ),
    "exponential-zero-weight": instance("exponential", [([["0"]], ["-5/3"])], 1),
    "exponential-one-head": instance("exponential", [([["2", "-1"], ["1", "3"]], ["1", "-1/2"])], 2),
    # M′ of proofs/uniqueness-from-transcript, Theorem B.3: two heads that no profile over B = U = I can tell from one
    "exponential-hidden-heads": instance(
        "exponential", [([["1", "2"], ["3", "7"]], ["1", "0"]), ([["1", "2"], ["4", "5"]], ["0", "1"])], 2
    ),
}
