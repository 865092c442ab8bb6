"""Everything about the approximate regime of one instance: constants, certified runs, digits, attack, claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from flint import arb, ctx, fmpq

from exactmha.approximate.adversary import Attack, attack
from exactmha.approximate.balls import decimal_exponent, largest, precisions, rational_text, scientific
from exactmha.approximate.choose import designs, kind_for, scale_for
from exactmha.approximate.design import TokenDesign
from exactmha.approximate.jacobian import Dominant, Grid, Jacobian, StageNorm, dominant, stage_norms
from exactmha.approximate.lost import SeparationLost
from exactmha.approximate.margins import APriori, Margins, a_priori, margins
from exactmha.approximate.run import CertifiedRun, Method, certify, largest_certified
from exactmha.approximate.samples import SampleSource, exact_source
from exactmha.approximate.truth import first_order, ordered_truth, true_parameters
from exactmha.attention import Attention, Model
from exactmha.errors import ConditionFailed, InputError
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.outcome import Claim, Evidence, Outcome
from exactmha.recover.design import expected_queries

DEFAULT_EPSILON = fmpq(1, 10**30)
DIGITS = (3, 6, 12, 24)
SHARP_ENOUGH = fmpq(1, 2)
_CONSTANT_BITS = 40
_CONSTANT_BUDGET = 4096
_MARGIN_BITS = 512
_MOST_EXTRA_DIGITS = 60
_DOUBLE_BITS = 52


@dataclass(frozen=True)
class Chosen:
    """A design with its first-order constant: the best of `draws` designs on which C1–C4 hold."""

    design: TokenDesign
    jacobian: Jacobian
    grid: Grid
    draws: int
    rejected: int
    """draws on which a condition is not seen to hold"""

    @property
    def constant(self) -> arb:
        """The first-order constant (a)."""
        return self.jacobian.constant


@dataclass(frozen=True, slots=True)
class DigitsRow:
    """For `wanted` correct decimal digits of every parameter, `needed` decimal digits of every answer are enough.

    That is, C(10^−needed)·10^−needed ≤ 10^−wanted is certified; None when no certificate was found.
    """

    wanted: int
    needed: int | None


@dataclass(frozen=True)
class Stability:
    """The report's data."""

    model: Model
    chosen: Chosen
    epsilon: fmpq
    seed: int
    stages: Sequence[StageNorm]
    dominant: Dominant
    margins: Margins
    a_priori: APriori | None
    run: CertifiedRun
    plain: CertifiedRun
    star: CertifiedRun | None
    plain_star: CertifiedRun | None
    doubles: CertifiedRun
    digits: Sequence[DigitsRow]
    attack: Attack | None
    truth_inside: Outcome
    claims: tuple[Claim, ...]

    @property
    def outcome(self) -> Outcome:
        """The conjunction of all claims."""
        return Outcome.every(claim.outcome for claim in self.claims)


def weight_bound(model: Model) -> fmpq:
    """Return max |W_ij| of the canonical heads, rounded up to a multiple of 1/1000, at least that."""
    with ctx.workprec(64):
        top = largest([abs(x) for W in true_parameters(model).W for row in W for x in row])
        return fmpq(int((top * 1000).upper().ceil().unique_fmpz() or 1) or 1, 1000)


def precise_first_order(model: Model, design: TokenDesign) -> tuple[Jacobian, Grid]:
    """Return the first-order Jacobian, its constant accurate to 40 bits; precision is doubled until that is so.

    Raises `SeparationLost` when C2 or C3 is not seen to hold at 4096 bits.
    """
    failure: SeparationLost | None = None
    for bits in precisions(_CONSTANT_BUDGET):
        with ctx.workprec(bits):
            try:
                jacobian, grid = first_order(model, design)
                if jacobian.constant.rel_accuracy_bits() >= _CONSTANT_BITS:
                    return jacobian, grid
            except SeparationLost as lost:
                failure = lost
    raise failure or SeparationLost("sensitivity", "all profiles", "the constant is not accurate within the budget")


def choose(
    model: Model, *, kind: str | None = None, seed: int = 0, draws: int = 1, scale: fmpq | None = None
) -> Chosen:
    """Return the design with the least first-order constant among the first `draws` on which C1–C4 hold.

    `kind` is one of `exactmha.approximate.choose.KINDS`; by default orthogonal directions, or integers where the field
    needs them. `scale` is the length of the b_j, by default H divided by the largest |W_ij|.

    A learner that does not know the model can choose by the certified constants instead, at `draws` times the
    queries. Raises `ConditionFailed` when no draw satisfies the conditions.
    """
    heads = len(model.canonical().heads)
    if not heads:
        raise InputError("a model without heads has no parameters that an error could move", field="INSTANCE")
    kind = kind or kind_for(model.field.name)
    if model.field.name != "exponential" and kind != "integer":
        raise InputError(f"the {model.field.name} field needs integer tokens", field="--design", value=kind)
    scale = scale or scale_for(heads, weight_bound(model))
    best: Chosen | None = None
    found = rejected = 0
    for design in designs(kind, model.dim, seed, scale):
        try:
            jacobian, grid = precise_first_order(model, design)
            _check_matches(model, design)
        except SeparationLost:
            rejected += 1
            continue
        found += 1
        if best is None or jacobian.constant < best.constant:
            best = Chosen(design, jacobian, grid, found, rejected)
        if found == draws:
            break
    if best is None:
        raise ConditionFailed(("C2", "C3", "C4"), profile="every draw", witness=f"{rejected} designs rejected")
    return Chosen(best.design, best.jacobian, best.grid, found, rejected)


def _check_matches(model: Model, design: TokenDesign) -> None:
    """Raise `SeparationLost` unless C2 and C3 hold in sum profiles too, and C4."""
    with ctx.workprec(_MARGIN_BITS):
        found = margins(design, ordered_truth(model, design))
        for name, margin in (
            ("isolated poles", found.pole_gap),
            ("residues", found.residue),
            ("match", found.match_gap),
        ):
            if margin.value is not None and not margin.value > 0:
                raise SeparationLost(name, margin.where, "a margin is not seen to be positive")


def analyse(
    model: Model,
    chosen: Chosen,
    *,
    epsilon: fmpq = DEFAULT_EPSILON,
    seed: int = 0,
    attacks: int = 1000,
    limits: Limits = DEFAULT_LIMITS,
) -> Stability:
    """Ask the exact oracle once, and certify everything about errors of at most ε in its answers."""
    if epsilon <= 0:
        raise InputError("must be positive", field="--epsilon", value=str(epsilon))
    design, heads = chosen.design, len(model.canonical().heads)
    source = exact_source(Attention(model, limits), design, heads)
    run, plain = certify(source, epsilon), certify(source, epsilon, Method.PLAIN)
    star, plain_star = largest_certified(source, Method.MEAN_VALUE), largest_certified(source, Method.PLAIN)
    attacked = run if run.enclosure is not None else star
    hit = None
    if attacked is not None and attacked.enclosure is not None:
        hit = attack(
            source,
            attacked.enclosure,
            attacked.epsilon,
            chosen.constant,
            runs=attacks,
            seed=seed,
            precision=attacked.precision,
        )
    with ctx.workprec(_MARGIN_BITS):
        truth = ordered_truth(model, design)
        found_margins, promised = margins(design, truth), a_priori(design, truth)
        norms, worst = stage_norms(chosen.jacobian, chosen.grid), dominant(chosen.jacobian)
    inside = contains_truth(model, design, [x for x in (run, plain, star, plain_star) if x is not None])
    return Stability(
        model=model,
        chosen=chosen,
        epsilon=epsilon,
        seed=seed,
        stages=norms,
        dominant=worst,
        margins=found_margins,
        a_priori=promised,
        run=run,
        plain=plain,
        star=star,
        plain_star=plain_star,
        doubles=certify(source, double_error(source)),
        digits=[digits_needed(source, wanted, chosen.constant, star) for wanted in DIGITS],
        attack=hit,
        truth_inside=inside,
        claims=_claims(run, inside, hit, expected_queries(heads, model.dim), heads, chosen.constant),
    )


def double_error(source: SampleSource) -> fmpq:
    """Return 2^−52·max|answer|, rounded up to a power of two: the error of answers rounded to doubles, at best."""
    with ctx.workprec(64):
        samples = source()
        top = largest([abs(f) for f in samples.grid_vector()]).abs_upper()
        exponent = ceil(float(top.log() / arb(2).log())) if top > 0 else 0
    return fmpq(2) ** (exponent - _DOUBLE_BITS)


def contains_truth(model: Model, design: TokenDesign, runs: Iterable[CertifiedRun]) -> Outcome:
    """Decide whether the exact parameters lie in the boxes of every certified run; undecided when none is."""
    outcomes = []
    for run in runs:
        if run.enclosure is None:
            continue
        with ctx.workprec(2 * run.precision + _MARGIN_BITS):
            truth = ordered_truth(model, design).entries()
            outcomes += [_inside(box, x) for box, x in zip(run.enclosure.parameters.entries(), truth, strict=True)]
    return Outcome.every(outcomes) if outcomes else Outcome.UNDECIDED


def _inside(box: arb, x: arb) -> Outcome:
    if box.contains(x):
        return Outcome.HOLDS
    return Outcome.UNDECIDED if box.overlaps(x) else Outcome.FAILS


def digits_needed(source: SampleSource, wanted: int, constant: arb, star: CertifiedRun | None) -> DigitsRow:
    """Return the least number D of decimals with a certificate C(10^−D)·10^−D ≤ 10^−wanted.

    No smaller D will do to first order: the search starts at wanted + log10 (a).
    """
    if star is None:
        return DigitsRow(wanted, None)
    start = max(ceil(wanted + decimal_exponent(constant)), ceil(-decimal_exponent(arb(star.epsilon))), 0)
    for digits in range(start, start + _MOST_EXTRA_DIGITS):
        run = certify(source, fmpq(1, 10**digits))
        if run.enclosure is not None and run.enclosure.constant <= arb(10) ** (digits - wanted):
            return DigitsRow(wanted, digits)
    return DigitsRow(wanted, None)


def ratio(run: CertifiedRun | None, constant: arb) -> float | None:
    """Return C(ε)/(a) for display."""
    if run is None or run.enclosure is None:
        return None
    return float(run.enclosure.constant / constant)


def _claims(
    run: CertifiedRun, inside: Outcome, hit: Attack | None, queries: int, heads: int, constant: arb
) -> tuple[Claim, ...]:
    epsilon = rational_text(run.epsilon)
    bound = "" if run.enclosure is None else f" {scientific(run.enclosure.constant)}·ε"
    statement = (
        f"every model with at most {heads} canonical heads whose {queries} answers lie within ε = {epsilon} of these "
        f"has its parameters within C(ε)·ε{' =' if bound else ''}{bound} of the estimates"
    )
    evidence = "mean-value form; proofs/stability" if run.enclosure is not None else run.reason
    claims = [
        Claim("certified", statement, run.outcome, Evidence.CERTIFIED, evidence),
        Claim(
            "truth-inside",
            "the exact parameters of the instance lie in every certified box",
            inside,
            Evidence.CERTIFIED,
            "comparison of balls",
        ),
    ]
    return (*claims, *_attack_claims(hit, constant))


def _attack_claims(hit: Attack | None, constant: arb) -> tuple[Claim, ...]:
    never = "perturbed answers never lead out of the certified boxes"
    sharp = f"the worst direction moves a parameter by at least half of (a)·ε, (a) = {scientific(constant)}"
    if hit is None:
        why = "no ε is certified"
        return (
            Claim("attack", never, Outcome.UNDECIDED, Evidence.SAMPLED, why),
            Claim("sharpness", sharp, Outcome.UNDECIDED, Evidence.SAMPLED, why),
        )
    epsilon = rational_text(hit.epsilon)
    return (
        Claim(
            "attack",
            never,
            Outcome.of(hit.inside == hit.runs),
            Evidence.SAMPLED,
            f"{hit.inside} of {hit.runs} runs inside at ε = {epsilon}, {hit.from_scratch} of them from scratch",
        ),
        Claim(
            "sharpness",
            sharp,
            Outcome.of(hit.sharpness >= arb(SHARP_ENOUGH)),
            Evidence.SAMPLED,
            f"sharpness {float(hit.sharpness):.3f} along the rows' signs, {float(hit.worst_random):.3f} at random",
        ),
    )
