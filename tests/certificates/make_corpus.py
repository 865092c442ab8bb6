"""Write the corpus of certificates: `python tests/certificates/make_corpus.py`.

- `instances/`: instance files;
- `accept/`: what the learner writes for them, and a few certificates made by hand;
- `reject/`: one file for every attack in attacks.py, named after it;
- `malformed/`: one file for every way in malformations.py not to be a certificate.

The same program writes the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

from attacks import ATTACKS
from forging import EXPONENTIAL, UNIT, Document, canonical, change_base, over_a_larger_field, seal
from instances import INSTANCES
from malformations import MALFORMED

from exactmha.certificates.write import CertificateRecorder
from exactmha.conditions import Grid
from exactmha.instance import from_dict
from exactmha.verification import verify

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Run:
    """One run of the learner whose certificate is in the corpus."""

    instance: str
    bound: int | None = None
    seed: int = 1
    grid: int | None = 7
    redrawn: tuple[str, ...] = ()
    """the tokens that this run draws again"""


RUNS = {
    "rational-by-hand": Run("rational-by-hand", seed=0, grid=3),
    "rational-two-heads": Run("rational-two-heads"),
    "rational-two-heads-other-run": Run("rational-two-heads", seed=4),
    "rational-three-heads": Run("rational-three-heads", seed=3),
    "rational-one-head-3d-bound-2": Run("rational-one-head-3d", bound=2, seed=2, grid=5),
    "rational-no-heads": Run("rational-no-heads"),
    "rational-no-heads-bound-2": Run("rational-no-heads", bound=2),
    "rational-not-canonical": Run("rational-not-canonical"),
    "radical-two-heads": Run("radical-two-heads"),
    "radical-three-halves": Run("radical-three-halves", grid=5),
    "radical-three-heads-1d": Run("radical-three-heads-1d", grid=5),
    "radical-one-head-bound-2": Run("radical-one-head", bound=2, grid=5),
    "radical-fourth-root": Run("radical-fourth-root", grid=5),
    "exponential-two-heads": Run("exponential-two-heads"),
    "exponential-two-heads-3d": Run("exponential-two-heads-3d", seed=2),
    "exponential-three-heads": Run("exponential-three-heads", seed=5),
    "exponential-square-root": Run("exponential-square-root", seed=2),
    "exponential-zero-weight": Run("exponential-zero-weight"),
    "exponential-bound-3": Run("exponential-two-heads", bound=3),
    "exponential-bound-reached": Run("exponential-two-heads", bound=2),
    "exponential-one-head": Run("exponential-one-head"),
    "exponential-wide-grid": Run("exponential-two-heads", grid=None),
    "exponential-redrawn": Run("exponential-two-heads", seed=6, redrawn=("u_2", "u_2", "b_2")),
    "rational-redrawn-ambiguous": Run("rational-three-heads", seed=5, redrawn=("b_2", "b_2")),
}


def written(run: Run) -> Document:
    source = INSTANCES[run.instance]
    model = from_dict(json.loads(source))
    recorder = CertificateRecorder()
    grid = Grid(run.grid, run.grid) if run.grid else None
    result = verify(model, heads_bound=run.bound, seed=run.seed, grid=grid, recorder=recorder)
    if result.recovery is None or run.redrawn != tuple(redraw.token for redraw in result.recovery.redraws):
        raise ValueError(f"{run}: not the run it is meant to be")
    document: Document = json.loads(recorder.text(result.recovery, model.field, source))
    return document


def accepted() -> dict[str, Document]:
    """Return the certificates to be accepted, by name."""
    documents = {name: written(run) for name, run in RUNS.items()}
    larger = deepcopy(documents["radical-two-heads"])
    over_a_larger_field(larger)
    coarser = deepcopy(documents["rational-not-canonical"])
    change_base(coarser, [6], [[1], [0]])  # every power of 3 comes with that of 2
    hidden = EXPONENTIAL.certificate(
        UNIT,
        UNIT,
        [([[[1, 2], [3, 5]]], [1, 1])],
        told=2,
        digest=hashlib.sha256(INSTANCES["exponential-hidden-heads"]).hexdigest(),
    )
    for name, document in (
        ("radical-over-a-larger-field", larger),
        ("rational-over-a-coarser-base", coarser),
        ("exponential-hidden-heads", hidden),
    ):
        seal(document)
        documents[name] = document
    return documents


def corpus() -> dict[str, bytes]:
    """Return the whole corpus: path below this folder → bytes."""
    documents = accepted()
    files = {f"instances/{name}.json": data for name, data in INSTANCES.items()}
    files |= {f"accept/{name}.json": canonical(document) for name, document in documents.items()}
    files |= {f"reject/{name}.json": canonical(attack.make(documents)) for name, attack in ATTACKS.items()}
    files |= {
        f"malformed/{name}.json": change(canonical(documents[target])) for name, (target, change) in MALFORMED.items()
    }
    return files


def main() -> None:
    files = corpus()
    for name, data in files.items():
        path = HERE / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    for path in HERE.glob("*/*.json"):
        if path.relative_to(HERE).as_posix() not in files:
            path.unlink()
    for folder in ("instances", "accept", "reject", "malformed"):
        sizes = [len(data) for name, data in files.items() if name.startswith(folder)]
        print(f"{folder:10} {len(sizes):4} files {sum(sizes):8} bytes")


if __name__ == "__main__":
    main()
