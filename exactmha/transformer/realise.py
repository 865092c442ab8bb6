"""From a canonical form back to an ordinary Transformer, with as few neurons as the form allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from flint import fmpq, fmpq_mat

from exactmha.fields.model_field import ExactField
from exactmha.transformer.form import Blocks, CanonicalForm
from exactmha.transformer.model import Transformer

MOST_SIGNS = 12
"""Lines for which all 2^L choices of signs are tried where the ν are linearly dependent."""

Neuron = tuple[fmpq, Blocks]
"""(a, μ) is a·ReLU(⟨μ, A⟩)."""


@dataclass(frozen=True, slots=True)
class Realisation:
    """Neurons whose sum is the canonical form, and what is proved about their number."""

    neurons: tuple[Neuron, ...]
    is_least_for_form: bool
    """no fewer neurons have this canonical form"""
    is_least: bool
    """no fewer neurons are the same function: as above, and every line has n ≠ 0, so that the function has no other
    form with so few lines"""

    @property
    def words(self) -> str:
        """Say it in words."""
        if self.is_least:
            return "the fewest possible"
        if self.is_least_for_form:
            return "the fewest for this form; lines with n = 0 may cancel, and then fewer do"
        return "perhaps not the fewest possible"


def realise(form: CanonicalForm, slopes: Sequence[fmpq] | None = None) -> Realisation:
    """Return L, L + 1 or L + 2 neurons, L the number of lines, whichever is the least that this form needs.

    One neuron on each line gives Λ = Σ ±κ_l ν_l; a second one on line m adds any multiple of ν_m; two on a new line add
    any vector; nothing else is possible (`proofs/transformer-canonical`). Where the ν are dependent and more than 12,
    not all signs are tried, and L + 2 may be more than are needed. `slopes`, one number s_l for each line, are another
    start for this case: κ_l|⟨ν_l, A⟩| + s_l⟨ν_l, A⟩ takes one neuron if s_l = ±κ_l, and two otherwise.
    """
    neurons, is_searched = _fewest(form)
    if slopes is not None and not is_searched:
        neurons = min(neurons, _from_slopes(form, slopes), key=len)
    is_least_for_form = is_searched or len(neurons) == len(form.lines)
    return Realisation(neurons, is_least_for_form, is_least_for_form and all(any(x.token_normal) for x in form.lines))


def _fewest(form: CanonicalForm) -> tuple[tuple[Neuron, ...], bool]:
    """Return neurons, and whether all possibilities were searched for the fewest."""
    target = fmpq_mat(1, _size(form), _flat(form.linear)) if form.W else fmpq_mat(0, 0)
    if not form.lines:
        return _pair_for(form.linear), True
    kappas = [line.kappa for line in form.lines]
    rows = fmpq_mat([_flat(line.nu) for line in form.lines])
    if rows.rank() == len(kappas):
        return _from_coordinates(form, _coordinates(rows, target)), True
    if len(kappas) > MOST_SIGNS:
        return _from_slopes(form, kappas), False
    return _by_signs(form), True


def _from_slopes(form: CanonicalForm, slopes: Sequence[fmpq]) -> tuple[Neuron, ...]:
    """κ|g| + s g = (κ + s)·ReLU(g) + (κ − s)·ReLU(−g) on every line, and two neurons more for what is left of Λ."""
    neurons: list[Neuron] = []
    for line, slope in zip(form.lines, slopes, strict=True):
        both = (line.kappa + slope, line.nu), (line.kappa - slope, _scaled(line.nu, -1))
        neurons += [(a, nu) for a, nu in both if a != 0]
    return (*neurons, *_pair_for(_without(form, slopes)))


def _coordinates(rows: fmpq_mat, target: fmpq_mat) -> list[fmpq] | None:
    """Return x with x·rows = target, for independent rows, or None."""
    gram = rows * rows.transpose()
    x = target * rows.transpose() * gram.inv()
    return list(x.entries()) if x * rows == target else None


def _from_coordinates(form: CanonicalForm, x: list[fmpq] | None) -> tuple[Neuron, ...]:
    """Independent ν: Λ = Σ x_l ν_l decides the signs, and which line needs a second neuron."""
    kappas = [line.kappa for line in form.lines]
    off = [] if x is None else [i for i, (xi, k) in enumerate(zip(x, kappas, strict=True)) if abs(xi) != abs(k)]
    if x is None or len(off) > 1:
        return _from_slopes(form, kappas)
    signs = tuple(1 if xi == k else -1 for xi, k in zip(x, kappas, strict=True))
    if not off:
        return _singles(form, signs)
    return _with_double(form, signs, off[0], x[off[0]])


def _by_signs(form: CanonicalForm) -> tuple[Neuron, ...]:
    """Dependent ν: try all signs for L neurons, then for L + 1, else take a pair more."""
    best: tuple[Neuron, ...] | None = None
    for signs in product((1, -1), repeat=len(form.lines)):
        rest = _rest(form, signs)
        if not any(map(any, rest)):
            return _singles(form, signs)
        if best is None:
            best = _double_for(form, signs, rest)
    return best or _from_slopes(form, [line.kappa for line in form.lines])


def _double_for(form: CanonicalForm, signs: Sequence[int], rest: Blocks) -> tuple[Neuron, ...] | None:
    """Return the neurons where what is left of Λ is a multiple of some ν_m."""
    flat = _flat(rest)
    for m, line in enumerate(form.lines):
        nu = _flat(line.nu)
        pivot = next(i for i, x in enumerate(nu) if x)
        factor = flat[pivot] / nu[pivot]
        if all(x == factor * y for x, y in zip(flat, nu, strict=True)):
            return _with_double(form, signs, m, signs[m] * line.kappa + factor)
    return None


def _rest(form: CanonicalForm, signs: Sequence[int]) -> Blocks:
    """Return Λ − Σ signs_l κ_l ν_l."""
    return _without(form, [s * line.kappa for s, line in zip(signs, form.lines, strict=True)])


def _without(form: CanonicalForm, slopes: Sequence[fmpq]) -> Blocks:
    """Return Λ − Σ slopes_l ν_l."""
    return tuple(
        tuple(
            x - sum((s * line.nu[h][i] for s, line in zip(slopes, form.lines, strict=True)), fmpq(0))
            for i, x in enumerate(block)
        )
        for h, block in enumerate(form.linear)
    )


def _singles(form: CanonicalForm, signs: Sequence[int]) -> tuple[Neuron, ...]:
    """2κ·ReLU(s⟨ν, A⟩) = κ|⟨ν, A⟩| + s κ⟨ν, A⟩ for every line."""
    return tuple((2 * line.kappa, _scaled(line.nu, s)) for s, line in zip(signs, form.lines, strict=True))


def _with_double(form: CanonicalForm, signs: Sequence[int], m: int, slope: fmpq) -> tuple[Neuron, ...]:
    """As `_singles`, but line m has both ReLU(⟨ν, A⟩) and ReLU(−⟨ν, A⟩): κ|⟨ν, A⟩| + slope·⟨ν, A⟩."""
    kappa, nu = form.lines[m].kappa, form.lines[m].nu
    singles = _singles(form, signs)
    return (*singles[:m], *singles[m + 1 :], (kappa + slope, nu), (kappa - slope, _scaled(nu, -1)))


def _pair_for(vector: Blocks) -> tuple[Neuron, ...]:
    """ReLU(z) − ReLU(−z) = z; nothing for z = 0."""
    return ((fmpq(1), vector), (fmpq(-1), _scaled(vector, -1))) if any(map(any, vector)) else ()


def _scaled(blocks: Blocks, factor: int) -> Blocks:
    return tuple(tuple(factor * x for x in block) for block in blocks)


def _flat(blocks: Blocks) -> list[fmpq]:
    return [x for block in blocks for x in block]


def _size(form: CanonicalForm) -> int:
    return sum(len(block) for block in form.linear)


def as_transformer(
    form: CanonicalForm, field: ExactField, dim: int, slopes: Sequence[fmpq] | None = None
) -> Transformer:
    """Return the Transformer with p = m: w is the identity and row j of O_h is μ_{j,h}; `slopes` as in `realise`."""
    neurons = realise(form, slopes).neurons
    count = range(len(neurons))
    return Transformer(
        field,
        dim,
        form.W,
        tuple(tuple(neurons[j][1][h] for j in count) for h in range(len(form.W))),
        tuple(tuple(fmpq(int(i == j)) for i in count) for j in count),
        tuple(a for a, _ in neurons),
    )
