"""Write the corpus of Transformer certificates: `python tests/transformer/make_transformer_corpus.py`.

`instances/`, `accept/`, `reject/` (one file for every attack) and `malformed/`; the same program writes the same bytes.
"""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

from transformer_attacks import ATTACKS, MALFORMED, Document

from exactmha.certificates.write import CertificateRecorder, canonical_json
from exactmha.transformer.certificate import certificate_text
from exactmha.transformer.instance import from_dict
from exactmha.transformer.verification import verify_transformer

HERE = Path(__file__).parent


def instance(
    field: str, dim: int, heads: list[tuple[list[list[str]], list[list[str]]]], w: list[list[str]], a: list[str]
) -> bytes:
    listed = [{"W": W, "O": rows} for W, rows in heads]
    content = {"format": "exactmha/instance/1", "field": field, "dim": dim, "heads": listed, "ffn": {"w": w, "a": a}}
    return json.dumps(content).encode() + b"\n"


_O = [[["1", "0"], ["0", "1"]], [["1", "2"], ["-1", "0"]]]
_NETWORK = ([["1", "0"], ["1", "3"]], ["1", "-1/2"])
INSTANCES = {
    "exponential": instance(
        "exponential", 2, [([["1/2", "1"], ["0", "-1"]], _O[0]), ([["0", "1"], ["1", "2"]], _O[1])], *_NETWORK
    ),
    "rational": instance("rational", 2, [([["log(2)", "0"], ["log(3)", "-log(2)"]], _O[0])], *_NETWORK),
    "radical": instance("radical", 2, [([["1/2*log(2)", "0"], ["log(2)", "-1/2*log(2)"]], _O[0])], *_NETWORK),
    "one-dimension": instance("rational", 1, [([["log(2)"]], [["1"]]), ([["-log(3)"]], [["2"]])], [["1"]], ["3"]),
    "no-heads": instance("exponential", 2, [], [], []),
    "redundant": instance(
        "exponential",
        2,
        [
            ([["1", "0"], ["0", "2"]], _O[0]),
            ([["1", "0"], ["0", "2"]], _O[1]),
            ([["5", "5"], ["5", "5"]], [["0", "0"], ["0", "0"]]),
        ],
        [["1", "0"], ["-2", "0"], ["1", "3"], ["1", "3"], ["1", "1"], ["-1", "-1"]],
        ["1", "1/2", "2", "-2", "1", "-1"],
    ),
    "cancelling-heads": instance(  # log 4 = 2·log 2: heads 2 and 3 have one W, which is not in the form
        "rational",
        2,
        [
            ([["log(2)", "0"], ["log(3)", "-log(2)"]], _O[0]),
            ([["log(4)", "0"], ["0", "log(3)"]], _O[1]),
            ([["2*log(2)", "0"], ["0", "log(9) - log(3)"]], [["-1", "-2"], ["1", "0"]]),
        ],
        *_NETWORK,
    ),
}
TARGET = "exponential"
"""The certificate that is attacked."""


def accepted() -> dict[str, bytes]:
    """Return the certificates that the learner's runs give."""
    documents = {}
    for name, source in INSTANCES.items():
        recorder = CertificateRecorder()
        text = certificate_text(verify_transformer(from_dict(json.loads(source)), recorder=recorder), recorder, source)
        if text is None:
            raise ValueError(f"{name}: no certificate")
        documents[name] = text.encode()
    return documents


def attacked(data: bytes, name: str) -> bytes:
    """Return a certificate with one attack carried out."""
    document: Document = deepcopy(json.loads(data))
    ATTACKS[name][1](document)
    return canonical_json(document)


def corpus() -> dict[str, bytes]:
    """Return the whole corpus: path below this folder → bytes."""
    good = accepted()
    files = {f"instances/{name}.json": data for name, data in INSTANCES.items()}
    files |= {f"accept/{name}.json": data for name, data in good.items()}
    files |= {f"reject/{name}.json": attacked(good[TARGET], name) for name in ATTACKS}
    files |= {f"malformed/{name}.json": change(good[TARGET]) for name, change in MALFORMED.items()}
    return files


def main() -> None:
    """Write it, and drop files that are no longer in it."""
    files = corpus()
    for name, data in files.items():
        path = HERE / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    for path in HERE.glob("*/*.json"):
        if path.relative_to(HERE).as_posix() not in files:
            path.unlink()


if __name__ == "__main__":
    main()
