"""Everything about the approximate regime of one instance: constants, certified runs, digits, attack, claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil

from flint import arb, ctx, fmpq

from exactmha.approximate.adversary import Attack, attack
from exactmha.approximate.balls import bound_text, decimal_exponent, display_float, largest, precisions, scientific
from exactmha.approximate.choose import designs, kind_for, scale_for
from exactmha.approximate.design import TokenDesign
from exactmha.approximate.jacobian import Dominant, Grid, Jacobian, StageNorm, dominant, stage_norms
from exactmha.approximate.lost import SeparationLost
from exactmha.approximate.margins import APriori, Margins, a_priori, margins
from exactmha.approximate.match import MOST_PREDICTED
from exactmha.approximate.run import CertifiedRun, Method, better, certify, largest_certified
from exactmha.approximate.samples import SampleSource, exact_source, magnitude
from exactmha.approximate.truth import first_order, head_order, ordered_truth, true_parameters
from exactmha.attention import Attention, Model
from exactmha.errors import InputError
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.outcome import Claim, Evidence, Outcome
from exactmha.recover.design import expected_queries

DEFAULT_EPSILON = fmpq(1, 10**30)
DIGITS = (3, 6, 12, 24)
SHARP_ENOUGH = fmpq(1, 2)
_ACCURATE_BITS = 40
_BUDGET = 4096
"""Bits at which the model's own numbers are enclosed at most; what is not decided then stays undecided."""
_MARGIN_BITS = 512
_MOST_EXTRA_DIGITS = 60
_DOUBLE_BITS = 52
_MOST_DOUBLE = 1024
_LEAST_DOUBLE = fmpq(1, 2**1074)
_BOUND_BITS = 10
_ROUNDING = arb("1.01")
"""How far a measured move may exceed the certified one before it counts as an error of the arithmetic."""


@dataclass(frozen=True)
class Chosen:
    """A design with its first-order constant: the best of `draws` designs on which C1–C4 hold."""

    design: TokenDesign
    jacobian: Jacobian
    grid: Grid
    margins: Margins
    draws: int
    rejected: int
    """draws on which a condition is not seen to hold"""

    @property
    def constant(self) -> arb:
        """The first-order constant (a)."""
        return self.jacobian.constant


@dataclass(frozen=True, slots=True)
class DigitsRow:
    """Answers within 10^−D, D = `needed`, are certified to give parameters within 10^−wanted (absolute errors).

    That is, C(10^−D)·10^−D ≤ 10^−wanted, D ≥ 0; with D − 1 it is not certified. None when no certificate was found.
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
    order: Sequence[int]
    """the number (from 0) of every head of a run in the canonical form; runs list heads by λ in (b_1, u_1)"""
    a_priori: APriori | None
    """None for more than 6 heads, and where the margins are too small for the precision budget"""
    run: CertifiedRun
    plain: CertifiedRun
    star: CertifiedRun | None
    plain_star: CertifiedRun | None
    doubles: CertifiedRun | None
    """the better run at the error of answers rounded to doubles; None where they are too large for doubles"""
    digits: Sequence[DigitsRow]
    attack: Attack | None
    truth_inside: Outcome
    claims: tuple[Claim, ...]

    @property
    def best(self) -> CertifiedRun:
        """The better of the two runs at ε."""
        return better(self.run, self.plain)

    @property
    def outcome(self) -> Outcome:
        """The conjunction of all claims."""
        return Outcome.every(claim.outcome for claim in self.claims)


def weight_bound(model: Model) -> fmpq:
    """Return max |W_ij| of the canonical heads, rounded up to 10 binary digits; 1 where all are 0."""
    top = arb(0)
    for bits in precisions():
        with ctx.workprec(bits):
            top = largest([abs(x) for W in true_parameters(model).W for row in W for x in row])
        if top.rel_accuracy_bits() > 2 * _BOUND_BITS:
            break
    mantissa, exponent = map(int, top.abs_upper().man_exp())
    if not mantissa:
        return fmpq(1)
    shift = mantissa.bit_length() - _BOUND_BITS
    return fmpq(-(-mantissa >> shift) if shift > 0 else mantissa) * fmpq(2) ** (exponent + max(shift, 0))


def precise_first_order(model: Model, design: TokenDesign) -> tuple[Jacobian, Grid]:
    """Return the first-order Jacobian, its constant accurate to 40 bits; precision is doubled until that is so.

    Raises `SeparationLost` when C2 or C3 is not seen to hold at 4096 bits.
    """
    failure: SeparationLost | None = None
    for bits in precisions(_BUDGET):
        with ctx.workprec(bits):
            try:
                jacobian, grid = first_order(model, design)
                if jacobian.constant.rel_accuracy_bits() >= _ACCURATE_BITS:
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
    queries. Raises `SeparationLost` when the conditions are not seen to hold in any draw.
    """
    heads = len(model.canonical().heads)
    if not heads:
        raise InputError("a model without heads has no parameters that an error could move", field="INSTANCE")
    kind = kind or kind_for(model.field.name)
    if model.field.name != "exponential" and kind != "integer":
        raise InputError(f"the {model.field.name} field needs integer tokens", field="--design", value=kind)
    if kind == "integer" and scale is not None:
        raise InputError("is not used by integer tokens", field="--scale", value=str(scale), hint="leave it out")
    scale = scale or scale_for(heads, weight_bound(model))
    best: Chosen | None = None
    found = rejected = 0
    for design in designs(kind, model.dim, seed, scale):
        try:
            jacobian, grid = precise_first_order(model, design)
            found_margins = precise_margins(model, design)
        except SeparationLost:
            rejected += 1
            continue
        found += 1
        if best is None or jacobian.constant < best.constant:
            best = Chosen(design, jacobian, grid, found_margins, found, rejected)
        if found == draws:
            break
    if best is None:
        raise SeparationLost("C2, C3, C4", f"each of {rejected} designs", f"not seen to hold at {_BUDGET} bits")
    return replace(best, draws=found, rejected=rejected)


def precise_margins(model: Model, design: TokenDesign) -> Margins:
    """Return the margins, accurate; precision is doubled until that is so.

    Raises `SeparationLost` unless all are seen to be positive: C2 and C3 hold in sum profiles too, and C4.
    """
    lost = SeparationLost("margins", "all profiles", "no precision allowed")
    for bits in precisions(_BUDGET, _MARGIN_BITS):
        with ctx.workprec(bits):
            found = margins(design, ordered_truth(model, design))
        steps = (("isolated poles", found.pole_gap), ("residues", found.residue), ("match", found.match_gap))
        wrong = [(name, m) for name, m in steps if m.value is not None and not _is_accurate(m.value)]
        if not wrong:
            return found
        lost = SeparationLost(wrong[0][0], wrong[0][1].where, f"a margin is not seen to be positive at {bits} bits")
    raise lost


def _is_accurate(ball: arb) -> bool:
    return bool(ball > 0) and ball.rel_accuracy_bits() >= _ACCURATE_BITS


def promised(model: Model, design: TokenDesign) -> APriori | None:
    """Return what Theorem 2 promises, its radius proved positive; None for many heads, or beyond the budget."""
    if len(model.canonical().heads) > MOST_PREDICTED:
        return None
    for bits in precisions(_BUDGET, _MARGIN_BITS):
        with ctx.workprec(bits):
            try:
                found = a_priori(design, ordered_truth(model, design))
            except SeparationLost:
                continue
        if found is not None and _is_accurate(found.radius):
            return found
    return None


def analyse(
    model: Model,
    chosen: Chosen,
    *,
    epsilon: fmpq = DEFAULT_EPSILON,
    seed: int = 0,
    attacks: int = 1000,
    limits: Limits = DEFAULT_LIMITS,
    progress: Callable[[], None] | None = None,
) -> Stability:
    """Ask the exact oracle once, and certify everything about errors of at most ε in its answers.

    Everywhere the better of both methods counts; `progress` is called after every perturbation.
    """
    if epsilon <= 0:
        raise InputError("must be positive", field="--epsilon", value=str(epsilon))
    design, heads = chosen.design, len(model.canonical().heads)
    source = exact_source(Attention(model, limits), design, heads)
    run, plain = certify(source, epsilon, Method.MEAN_VALUE), certify(source, epsilon, Method.PLAIN)
    star, plain_star = largest_certified(source, Method.MEAN_VALUE), largest_certified(source, Method.PLAIN)
    best, best_star = better(run, plain), _larger(star, plain_star)
    attacked = best if best.enclosure is not None else best_star
    hit, why = None, "no ε is certified"
    if attacked is not None:
        try:
            hit = attack(source, attacked, chosen.jacobian, runs=attacks, seed=seed, progress=progress)
        except SeparationLost as lost:
            why = f"no perturbed run could be made: {lost}"
    rounding = double_error(source)
    doubles = None if rounding is None else certify(source, rounding)
    with ctx.workprec(_BUDGET):
        order = head_order(model, design)
    with ctx.workprec(_MARGIN_BITS):
        norms, worst = stage_norms(chosen.jacobian, chosen.grid, order), dominant(chosen.jacobian, order)
    inside = contains_truth(model, design, [x for x in (run, plain, star, plain_star, doubles) if x is not None])
    return Stability(
        model=model,
        chosen=chosen,
        epsilon=epsilon,
        seed=seed,
        stages=norms,
        dominant=worst,
        order=order,
        a_priori=promised(model, design),
        run=run,
        plain=plain,
        star=star,
        plain_star=plain_star,
        doubles=doubles,
        digits=[digits_needed(source, wanted, chosen.constant, best_star) for wanted in DIGITS],
        attack=hit,
        truth_inside=inside,
        claims=(
            *_certificate_claims(best, inside, expected_queries(heads, model.dim), heads),
            *_attack_claims(hit, why, attacked, chosen.constant),
        ),
    )


def _larger(star: CertifiedRun | None, plain: CertifiedRun | None) -> CertifiedRun | None:
    """Return the certified run with the larger ε*."""
    if star is None or plain is None:
        return star or plain
    return plain if plain.epsilon > star.epsilon else star


def double_error(source: SampleSource) -> fmpq | None:
    """Return the error of answers rounded to doubles: at most 2^−52·2^e, all |answers| ≤ 2^e; None beyond 2^1024."""
    exponent = magnitude(source)
    if exponent > _MOST_DOUBLE:
        return None
    return max(fmpq(2) ** (exponent - _DOUBLE_BITS), _LEAST_DOUBLE)


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
    """Return a number D ≥ 0 of decimals with a certificate C(10^−D)·10^−D ≤ 10^−wanted, and none for D − 1.

    To first order D is wanted + log10 (a); from there (and from `star`, if that is smaller) the search goes up until a
    certificate is found, at most 60 decimals, then down while there still is one.
    """
    if star is None:
        return DigitsRow(wanted, None)

    def enough(digits: int) -> bool:
        run = certify(source, fmpq(1, 10**digits))
        return run.enclosure is not None and bool(run.enclosure.constant <= arb(10) ** (digits - wanted))

    start = max(ceil(wanted + decimal_exponent(constant)), ceil(-decimal_exponent(arb(star.epsilon))), 0)
    found = next((digits for digits in range(start, start + _MOST_EXTRA_DIGITS) if enough(digits)), None)
    while found and enough(found - 1):
        found -= 1
    return DigitsRow(wanted, found)


def ratio(run: CertifiedRun | None, constant: arb) -> arb | None:
    """Return C(ε)/(a), for display."""
    if run is None or run.enclosure is None:
        return None
    return run.enclosure.constant / constant


def _certificate_claims(run: CertifiedRun, inside: Outcome, queries: int, heads: int) -> tuple[Claim, ...]:
    within = " C(ε)·ε"
    if run.enclosure is not None:
        with ctx.workprec(64):
            within = f" {scientific(run.enclosure.parameters.radius)}, that is C(ε)·ε,"
    statement = (
        f"a model with at most {heads} canonical heads whose {queries} answers lie within "
        f"ε = {bound_text(run.epsilon)} of these has exactly {heads} heads and, up to their order, "
        f"parameters within{within} of the estimates"
    )
    evidence = f"{run.method.value}; proofs/stability" if run.enclosure is not None else run.reason
    return (
        Claim("certified", statement, run.outcome, Evidence.CERTIFIED, evidence),
        Claim(
            "truth-inside",
            "the exact parameters of the instance lie in every certified box",
            inside,
            Evidence.CERTIFIED,
            "comparison of balls",
        ),
    )


def _attack_claims(hit: Attack | None, why: str, attacked: CertifiedRun | None, constant: arb) -> tuple[Claim, ...]:
    never = "perturbed answers never lead out of the certified boxes"
    sharp = f"the worst direction moves a parameter by at least half of (a)·ε, (a) = {scientific(constant)}"
    if hit is None or not hit.runs:
        return (
            Claim("attack", never, Outcome.UNDECIDED, Evidence.SAMPLED, why),
            Claim("sharpness", sharp, Outcome.UNDECIDED, Evidence.SAMPLED, why),
        )
    tried = f"{hit.inside} of {hit.runs} runs inside at ε = {bound_text(hit.epsilon)}"
    tried += f", {hit.from_scratch} of them from scratch"
    if hit.skipped:
        tried += f"; {hit.skipped} more could not be made ({hit.why})"
    return (
        Claim("attack", never, Outcome.of(hit.inside == hit.runs), Evidence.SAMPLED, tried),
        _sharpness_claim(sharp, hit, ratio(attacked, constant)),
    )


def _sharpness_claim(statement: str, hit: Attack, most: arb | None) -> Claim:
    """Undecided where a move is larger than the certificate allows: then it is an error of the arithmetic."""
    random = "none tried at random" if hit.worst_random == 0 else f"{shown(hit.worst_random)} at random"
    evidence = f"sharpness {shown(hit.sharpness)} along the rows' signs, {random}"
    if most is None or not hit.sharpness <= most * _ROUNDING:
        evidence += "; above C(ε)/(a), so the arithmetic was not accurate"
        return Claim("sharpness", statement, Outcome.UNDECIDED, Evidence.SAMPLED, evidence)
    outcome = Outcome.of(hit.sharpness >= arb(SHARP_ENOUGH))
    return Claim("sharpness", statement, outcome, Evidence.SAMPLED, evidence)


def shown(ball: arb) -> str:
    """Return a number ≥ 0 with three decimals, or with an exponent where that is shorter."""
    number = display_float(ball)
    return f"{number:.3f}" if number is not None and number < 1000 else scientific(ball)
