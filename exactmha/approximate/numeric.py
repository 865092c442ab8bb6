"""A learner for a real-valued black box: noisy answers in, estimates out, with a certificate in balls.

The estimates come from midpoints and prove nothing. The certificate is the certified run of
`exactmha.approximate.run`: if every answer lies within ε of what some model with at most H canonical heads gives,
that model's parameters lie in the printed boxes (`proofs/stability`, Theorem 4). No model is seen here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

from flint import arb, ctx, fmpq

from exactmha.approximate.balls import precisions
from exactmha.approximate.choose import DEFAULT_KIND, DEFAULT_SCALE, designs
from exactmha.approximate.design import TokenDesign
from exactmha.approximate.jacobian import Parameters, parameters
from exactmha.approximate.lost import SeparationLost
from exactmha.approximate.match import MOST_PREDICTED, Prediction, orders
from exactmha.approximate.profile import ProfileBox, ProfileSamples, midpoint_profile
from exactmha.approximate.run import CertifiedRun, certify, computed_bases
from exactmha.approximate.samples import Samples, SampleSource, number_source
from exactmha.errors import InputError
from exactmha.forms import parse_rational
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.outcome import Outcome
from exactmha.sequences import Token

BlackBox = Callable[[list[list[Fraction]]], Any]
"""Takes a sequence of tokens with exact coordinates (floats can be made of them), returns a real number."""
DEFAULT_ERROR = "1e-12"
"""What is assumed of the answers unless `epsilon` says otherwise: about right for float64 answers of size up to 100."""
_ESTIMATE_BITS = 1024
_MOST_BITS = 4096


@dataclass(frozen=True)
class NumericRecovery:
    """Estimates, and what is proved about them.

    `estimate` holds exact midpoints, None where the midpoints have no profile with H positive poles; where
    `run` holds it is the centre of the boxes, else it is a guess and nothing is claimed about it.
    """

    design: TokenDesign
    estimate: Parameters | None
    run: CertifiedRun
    queries: int
    """2H(2d² − 1) + 1 for every design tried"""

    @property
    def outcome(self) -> Outcome:
        """HOLDS: the boxes are proved. UNDECIDED: the error is too large. FAILS: no such model has these answers."""
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
    scale: fmpq | int = DEFAULT_SCALE,
) -> NumericRecovery:
    """Learn `heads` ≥ 1 heads in R^dim from answers with errors at most `epsilon` > 0, and certify the result.

    Asks 2H(2d² − 1) + 1 = 4Hd² − 2H + 1 queries of length at most 2H + 1 for each of `draws` designs, and keeps
    the one with the smallest certified constant. All that is proved rests on `epsilon`. The b_j have length `scale`
    and the u_i length 1; small weights need longer tokens (8 for a fresh layer of PyTorch). The answers may be int,
    float, Fraction, fmpq, arb or mpf; `epsilon` one of these, or text such as "1e-12".

    Raises `InputError` for an answer that is not a finite real number.
    """
    for name, value in (("heads", heads), ("dim", dim), ("draws", draws)):
        if value < 1:
            raise InputError("must be at least 1", field=name, value=value)
    error = positive_rational(epsilon, "epsilon")
    best: NumericRecovery | None = None
    asked = 0
    for count, design in enumerate(designs(kind, dim, seed, fmpq(scale))):
        if count == draws:
            break
        answers = answers_of(oracle, design, heads)
        asked += len(answers)
        source = number_source(answers, design, heads)
        run = certify(source, error)
        found = NumericRecovery(design, _estimate(run, source), run, asked)
        best = found if best is None or _is_better(found, best) else best
    if best is None:
        raise InputError("no design of this kind is a basis", field="kind", value=kind)
    return NumericRecovery(best.design, best.estimate, best.run, asked)


def _is_better(found: NumericRecovery, best: NumericRecovery) -> bool:
    if found.run.enclosure is None or best.run.enclosure is None:
        return best.run.enclosure is None and (found.run.enclosure is not None or best.estimate is None)
    return bool(found.run.enclosure.constant < best.run.enclosure.constant)


def answers_of(oracle: BlackBox, design: TokenDesign, heads: int) -> list[fmpq]:
    """Ask f(b_1), then 2H queries a profile, in the order of the design."""
    queries = [design.base_query(), *(query for planned in design.profiles for query in planned.queries(heads))]
    return [as_rational(oracle([_fractions(token) for token in query])) for query in queries]


def _fractions(token: Token) -> list[Fraction]:
    return [Fraction(int(fmpq(x).numerator), int(fmpq(x).denominator)) for x in token]


def as_rational(number: Any) -> fmpq:
    """Return a finite real number as the rational that it is, without rounding; of an `arb`, its midpoint."""
    if isinstance(number, fmpq | int):
        return fmpq(number)
    if isinstance(number, arb):
        if not number.is_finite():
            raise InputError("an answer must be a finite real number", value=str(number))
        return number.mid().fmpq()
    if isinstance(number, Fraction):
        return fmpq(number.numerator, number.denominator)
    if hasattr(number, "man_exp"):  # mpmath's mpf
        mantissa, exponent = number.man_exp  # of |number|; (0, a code) for infinities and nan
        if not mantissa and number != 0:
            raise InputError("an answer must be a finite real number", value=str(number))
        return fmpq(int(mantissa) if number >= 0 else -int(mantissa)) * fmpq(2) ** int(exponent)
    try:
        value = float(number)
    except (TypeError, ValueError):
        raise InputError("an answer must be a finite real number", value=number) from None
    if not isfinite(value):
        raise InputError("an answer must be a finite real number", value=number)
    return fmpq(*value.as_integer_ratio())


def positive_rational(value: Any, field: str, limits: Limits = DEFAULT_LIMITS) -> fmpq:
    """Read a positive number exactly, from text such as 1e-30 or 2^-40 or from any number that `as_rational` takes."""
    try:
        number = parse_rational(value, limits) if isinstance(value, str) else as_rational(value)
    except InputError as error:
        raise error.located(field=field) from None
    if number is None or number <= 0 or number.height_bits() > _MOST_BITS:
        raise InputError(f"must be a positive rational of at most {_MOST_BITS} bits", field=field, value=value)
    return number


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
