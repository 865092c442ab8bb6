"""A learner for a real-valued black box: noisy answers in, estimates out, with a certificate in balls.

The estimates come from midpoints and prove nothing. The certificate is the certified run of
`exactmha.approximate.run`: if every answer lies within ε of what some model with at most H canonical heads gives,
that model's parameters lie in the printed boxes (`proofs/stability`, Theorem 4). That there is such a model is the
user's assumption; it is not proved. No model is seen here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

from exactmha.approximate.balls import precisions
from exactmha.approximate.choose import DEFAULT_KIND, DEFAULT_SCALE, KINDS, designs
from exactmha.approximate.design import TokenDesign
from exactmha.approximate.jacobian import Parameters, parameters
from exactmha.approximate.lost import SeparationLost
from exactmha.approximate.match import MOST_PREDICTED, Prediction, can_be_matched, orders
from exactmha.approximate.numbers import Reading, fraction, positive_rational, reading, whole
from exactmha.approximate.profile import ProfileBox, ProfileSamples, midpoint_profile
from exactmha.approximate.run import CertifiedRun, certify, computed_bases
from exactmha.approximate.samples import Samples, SampleSource, number_source
from exactmha.errors import InputError
from exactmha.limits import DEFAULT_LIMITS
from exactmha.outcome import Outcome

BlackBox = Callable[[list[list[Fraction]]], Any]
"""Takes a sequence of tokens with exact coordinates (floats can be made of them), returns a real number."""
DEFAULT_ERROR = "1e-12"
"""What is assumed of the answers unless `epsilon` says otherwise: about right for float64 answers of size up to 100."""
_ESTIMATE_BITS = 1024
_MOST_DRAWS = 256
_MOST_SEED = 2**64 - 1


@dataclass(frozen=True)
class NumericRecovery:
    """Estimates, and what is proved about them.

    `estimate` holds exact midpoints, None where the midpoints have no profile with H positive poles; where
    `run` holds it is the centre of the boxes, else it is a guess and nothing is claimed about it. Heads are in the
    order of increasing λ = b_1^T W u_1 of the design.
    """

    design: TokenDesign
    estimate: Parameters | None
    run: CertifiedRun
    queries: int
    """2H(2d² − 1) + 1 for every design tried"""

    @property
    def outcome(self) -> Outcome:
        """HOLDS: every model with at most H heads that has these answers within ε has its parameters in the boxes.

        That is conditional: it does not prove that there is one. UNDECIDED: the error is too large for these tokens.
        FAILS: it is proved that no model with at most H heads has these answers within ε.
        """
        return self.run.outcome


def learn_numeric(
    oracle: BlackBox,
    dim: int,
    heads: int,
    *,
    epsilon: Any = DEFAULT_ERROR,
    seed: int = 0,
    draws: int = 1,
    kind: str = DEFAULT_KIND,
    scale: Any = None,
) -> NumericRecovery:
    """Learn `heads` ≥ 1 heads in R^dim from answers with errors at most `epsilon` > 0, and certify the result.

    Asks 2H(2d² − 1) + 1 = 4Hd² − 2H + 1 queries of length at most 2H + 1 for each of `draws` designs of one `kind`
    (see `exactmha.approximate.choose`), and keeps the one with the smallest certified constant. A contradiction in one
    design, or between the boxes of two, ends the search: then the outcome is FAILS. `scale` is the length of the
    tokens b, by default 1/2; best is about `heads` divided by the largest |W_ij|, where that is known
    (8 for a fresh layer of PyTorch).

    The certificate is conditional (`NumericRecovery.outcome`): `heads` and `epsilon` must be right. The answers,
    `epsilon` and `scale` may be any numbers that `exactmha.approximate.numbers.reading` takes exactly; an `arb` keeps
    its radius. `epsilon` and `scale` may be text such as "1e-12" too.

    Raises `InputError` for an answer that is not such a number, and for arguments that cannot be used.
    """
    if not callable(oracle) or hasattr(oracle, "state_dict"):
        hint = "wrap it: lambda tokens: float(...) of a list of tokens"
        raise InputError("must be a function of a list of tokens, and not a module", field="oracle", hint=hint)
    heads, dim = whole(heads, "heads", 1, DEFAULT_LIMITS.heads), whole(dim, "dim", 1, DEFAULT_LIMITS.dim)
    seed, draws = whole(seed, "seed", 0, _MOST_SEED), whole(draws, "draws", 1, _MOST_DRAWS)
    error, length = positive_rational(epsilon, "epsilon"), _length(kind, scale)
    found: list[NumericRecovery] = []
    asked = 0
    for design in designs(kind, dim, seed, length):
        answers = answers_of(oracle, design, heads)
        asked += len(answers)
        source = number_source(answers, design, heads)
        run = _against(certify(source, error), found)
        found.append(NumericRecovery(design, _estimate(run, source), run, asked))
        if run.outcome is Outcome.FAILS:
            return found[-1]
        if len(found) == draws:
            break
    if not found:
        raise InputError("no design of this kind is a basis", field="kind", value=kind)
    best = min(found, key=_rank)
    if best.run.enclosure is None:
        advice = f"other tokens may help: scale (here {length}) and draws" if kind != "integer" else "see draws"
        best = replace(best, run=replace(best.run, reason=f"{best.run.reason}; {advice}"))
    return replace(best, queries=asked)


def _length(kind: str, scale: Any) -> fmpq:
    if kind not in KINDS:
        raise InputError("unknown design", field="kind", value=kind, hint=f"choose from {', '.join(KINDS)}")
    if scale is None:
        return DEFAULT_SCALE
    if kind == "integer":
        raise InputError("is not used by integer tokens", field="scale", value=scale, hint="leave it out")
    return positive_rational(scale, "scale")


def _rank(found: NumericRecovery) -> tuple[int, arb]:
    """Order: certified runs by their constants, then those with an estimate."""
    if found.run.enclosure is not None:
        return 0, found.run.enclosure.constant
    return (1 if found.estimate is not None else 2), arb(0)


def _against(run: CertifiedRun, earlier: Sequence[NumericRecovery]) -> CertifiedRun:
    """Return `run`, failed when its boxes and those of an earlier design have no model in common."""
    for other in earlier:
        if run.enclosure is None or other.run.enclosure is None:
            continue
        if not _common(run.enclosure.parameters, other.run.enclosure.parameters):
            reason = (
                f"no model with at most {len(run.enclosure.parameters.v)} heads has such answers within the error, "
                f"since the boxes from {other.design.name} and from the next draw have no model in common"
            )
            return replace(run, outcome=Outcome.FAILS, enclosure=None, reason=reason, step="draws")
    return run


def _common(first: Parameters, second: Parameters) -> bool:
    """Decide whether some order of the heads makes all boxes of two runs meet."""
    heads = range(len(first.v))
    ours, theirs = ([found.head(h) for h in heads] for found in (first, second))
    return can_be_matched(
        [[g for g in heads if all(x.overlaps(y) for x, y in zip(ours[h], theirs[g], strict=True))] for h in heads]
    )


def answers_of(oracle: BlackBox, design: TokenDesign, heads: int) -> list[Reading]:
    """Ask f(b_1), then 2H queries a profile, in the order of the design."""
    queries = [design.base_query(), *(query for planned in design.profiles for query in planned.queries(heads))]
    return [reading(oracle([[fraction(x) for x in token] for token in query]), "an answer") for query in queries]


# --- estimates from midpoints: they prove nothing -------------------------------------------------------


def _estimate(run: CertifiedRun, source: SampleSource) -> Parameters | None:
    if run.enclosure is not None:
        return _midpoints(run.enclosure.parameters)
    for bits in precisions(_ESTIMATE_BITS):
        with ctx.workprec(bits):
            try:
                found = midpoint_parameters(source().centre())
            except SeparationLost:
                continue
            if bits == _ESTIMATE_BITS:
                return found
    return None


def _midpoints(boxes: Parameters) -> Parameters:
    return Parameters(
        tuple(tuple(x.mid() for x in v) for v in boxes.v),
        tuple(tuple(tuple(x.mid() for x in row) for row in W) for W in boxes.W),
    )


def midpoint_parameters(samples: Samples) -> Parameters:
    """Run the learner from scratch on midpoints: profiles, best matches, v, W; proves nothing.

    Raises `SeparationLost` where the midpoints have no profile with H positive poles.
    """
    design = samples.design
    bases = [samples.base]
    grid: dict[tuple[int, int], ProfileBox] = {}
    for index, planned in enumerate(design.profiles):
        if planned.is_sum:
            continue
        if planned.row and len(bases) == 1:
            bases += computed_bases(design, grid)
        box = _point(samples.of(index, bases[planned.row]))
        if index:
            base = bases[planned.row] + (samples.base if planned.row else 0)
            both = samples.of(design.sum_of(index), base)
            first = grid[0, planned.column] if planned.row else grid[0, 0]
            box = box.permuted(_best(Prediction(first, box, add_residues=not planned.row), both))
        grid[planned.row, planned.column] = box
    return _midpoints(parameters(design, grid))


def _point(samples: ProfileSamples) -> ProfileBox:
    residues, logits = midpoint_profile(samples)
    order = sorted(range(len(logits)), key=lambda h: logits[h])
    return ProfileBox(samples.name, tuple(residues[h] for h in order), tuple(logits[h] for h in order))


def _best(prediction: Prediction, both: ProfileSamples) -> Sequence[int]:
    """Return the matching whose prediction comes nearest to the answers of the sum profile."""
    heads = list(range(both.heads))
    if len(heads) > MOST_PREDICTED:
        raise SeparationLost("match", both.name, f"estimates are made for at most {MOST_PREDICTED} heads")

    def misfit(order: Sequence[int]) -> arb:
        values = prediction.values(order)
        return max(abs(both.base + x - f).mid() for x, f in zip(values, both.answers, strict=True))

    return min(orders([heads] * len(heads)), key=misfit)
