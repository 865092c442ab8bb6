"""Too few samples of one profile: two profiles that agree at k = 0..n−1, where n is the number of their heads together.

With distinct r_i > 0, i = 1..n, the function D(x) = γ·Π_{k<n}(x − k) / Π_i (1 + x r_i) vanishes exactly at
x = 0..n−1, and its partial fractions are D(x) = Σ_i c_i·x r_i/(1 + x r_i) with

    c_i = −γ·Π_{k<n}(−1/r_i − k) / Π_{l≠i}(1 − r_l/r_i) ≠ 0.

So the terms with i in one part and, with opposite sign, the others are two functions of form (P) that agree there
(`proofs/counterexamples`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from exactmha.attention import Attention
from exactmha.counterexamples.build import Construction
from exactmha.counterexamples.learner import refused
from exactmha.counterexamples.setting import Setting, copies
from exactmha.fields import ExactField, RadicalField, RadicalValue, RationalValue
from exactmha.fields.interface import Exponent, Scalar, Value, negated, rational
from exactmha.heads import Head
from exactmha.outcome import Claim, Evidence, Outcome, counted
from exactmha.sequences import TokenSequence

FIELDS = ("rational", "radical")
WHY_FIELDS = (
    "there v is rational and r = t^n, and already the samples k = 1, 2 of two different profiles "
    "with rational c differ, "
    "because 1 and the functions 1/(1 + 2 t^n), n ≠ 0, are independent over Q"
)
WHY_LEAST = "for d = 1 the extra relation u·f_0 = b·Σ c_h makes one sample less enough"


def one_sample_short(setting: Setting) -> Construction:
    """Two profiles with H heads each that agree at the 2H samples k = 0..2H−1 and differ at k = 2H.

    A statement about one profile, d ≥ 2; the design of the learner has other queries that tell the models apart.
    """
    heads = setting.heads
    first, second = _two_profiles(setting, heads, heads)
    return Construction(
        (setting.model(first), setting.model(second)),
        f"2H = {2 * heads} samples k = 0..{2 * heads - 1} of one profile do not determine it; k = "
        f"{2 * heads} tells the two apart",
        "the difference is γ·Π_{k<2H}(x − k)/Π_i(1 + x r_i), whose partial fractions are split into two "
        "halves of H heads",
        agree=_samples(setting, range(2 * heads)),
        differ=_samples(setting, [2 * heads]),
    )


def wrong_head_count(setting: Setting) -> Construction:
    """A profile with H heads and one with H − 1 that agree at k = 0..2H−2, all that a learner told H − 1 asks of it."""
    heads = setting.heads
    first, second = _two_profiles(setting, heads, heads - 1)
    told = heads - 1
    return Construction(
        (setting.model(first), setting.model(second)),
        f"a learner told H' = {told} asks k = 0..{2 * told} of a profile, and sees a perfect profile "
        f"with {counted(told, 'head')} where there are {heads}",
        "the difference is γ·Π_{k<2H−1}(x − k)/Π_i(1 + x r_i), whose partial fractions are split into H "
        "and H − 1 heads; "
        "only other profiles (the matching), or a longer query, can tell",
        agree=_samples(setting, range(2 * told + 1)),
        differ=_samples(setting, [2 * heads - 1]),
        more=(
            _head_counts(first, second),
            refused(setting, Attention(setting.model(first)), f"the model with {counted(heads, 'head')}", told),
        ),
    )


def _head_counts(first: Sequence[Head], second: Sequence[Head]) -> Claim:
    """State the numbers of heads."""
    counts = f"{len(first)} and {len(second)} heads"
    outcome = Outcome.of(len(first) == len(second) + 1)
    return Claim("head-counts", "the second model has one head less", outcome, Evidence.COMPUTED, counts)


def _samples(setting: Setting, counts: Sequence[int]) -> list[TokenSequence]:
    b, u = _unit(setting, 0), _unit(setting, 1)
    return copies(b, u, counts)


def _unit(setting: Setting, position: int) -> tuple[int, ...]:
    return tuple(int(i == position) for i in range(setting.dim))


def _two_profiles(setting: Setting, left: int, right: int) -> tuple[list[Head], list[Head]]:
    """Return `left` and `right` heads whose profiles (e_1, e_2) agree at k = 0..left+right−1; s·e_1 = 0 in both."""
    exponents = _small_monomials(setting, left + right)
    residues = vanishing_residues(setting, exponents)
    heads = [_head(setting, e, c) for e, c in zip(exponents, residues, strict=True)]
    return heads[:left], [Head(head.W, negated(head.v)) for head in heads[left:]]


def _small_monomials(setting: Setting, count: int) -> list[Exponent]:
    """Return the exponents of the simplest monomials: 1, 2, 3, 4, 6, … over Q, and 1, √2, 1/√2, 2, … over Q(√2)."""
    if isinstance(setting.field, RadicalField):
        return [((i + 1) // 2 * (-1) ** (i + 1),) for i in range(count)]
    found = sorted((2**i * 3**j, (i, j)) for i in range(2 * count) for j in range(count))
    return [exponent for _, exponent in found[:count]]


def vanishing_residues(setting: Setting, exponents: Sequence[Exponent]) -> list[Scalar]:
    """Return the c_i of Σ_i c_i·x r_i/(1 + x r_i) = γ·Π_{k<n}(x − k)/Π_i(1 + x r_i) with γ = Π_i r_i."""
    field = setting.field
    one = rational(field, 1)
    r = [field.monomial(e) for e in exponents]
    gamma = prod(r[1:], start=r[0])
    residues = []
    for i, r_i in enumerate(r):
        c = rational(field, -1) * gamma
        for k in range(len(r)):
            c *= rational(field, -k) - one / r_i
        for j, r_j in enumerate(r):
            if j != i:
                c /= one - r_j / r_i
        residues.append(_scalar(field, c))
    return residues


def _scalar(field: ExactField, value: Value) -> Scalar:
    if isinstance(value, RadicalValue) and isinstance(field, RadicalField):
        return field.scalar(value)
    if isinstance(value, RationalValue):
        return (value.q,)
    raise TypeError("no coordinates in this field")


def _head(setting: Setting, exponent: Exponent, c: Scalar) -> Head:
    """Return the head with W = log(r) e_1 e_2ᵀ and v = c e_2."""
    dim = setting.dim
    units = [[[n if (i, j) == (0, 1) else 0 for j in range(dim)] for i in range(dim)] for n in exponent]
    zero = setting.scalar(0)
    return Head(setting.with_logits(units, [0] * dim).W, tuple(c if i == 1 else zero for i in range(dim)))
