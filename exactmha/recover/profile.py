"""A profile (s·b, r, c): what copies of one token reveal (`proofs/profile-identity`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flint import fmpq

from exactmha.fields.interface import Exponent, Field, ProfileField, Scalar, Value, rational


@dataclass(frozen=True, slots=True)
class Profile:
    """A *proved* profile: f_k = s·b + Σ_h c_h·k r_h/(1 + k r_h) holds exactly for k = 0..2n.

    `exponents[h]` is the exact logarithm of r_h, `residues[h]` is c_h; exponents are distinct and
    residues non-zero, so by the interpolation lemma this is the only such function with at most n heads.
    """

    name: str
    exponents: tuple[Exponent, ...]
    residues: tuple[Scalar, ...]

    def permuted(self, order: Sequence[int]) -> Profile:
        """Return the same profile with its heads listed in the given order."""
        return Profile(self.name, tuple(self.exponents[i] for i in order), tuple(self.residues[i] for i in order))


def profile_values(
    field: Field, most: int, base: Value, exponents: Sequence[Exponent], residues: Sequence[Scalar]
) -> Iterator[Value]:
    """Yield base + Σ_h c_h·k r_h/(1 + k r_h) in K, k = 1..most: by the field's own function, if it has a faster one."""
    if isinstance(field, ProfileField):
        return field.profile_values(most, base, exponents, residues)
    return (base + form(field, k, exponents, residues) for k in range(1, most + 1))


def form(field: Field, count: int | fmpq, exponents: Sequence[Exponent], residues: Sequence[Scalar]) -> Value:
    """Return Σ_h c_h·k r_h/(1 + k r_h) in K for a rational k = `count`, by the operations of a `Value` alone."""
    one, k = rational(field, 1), rational(field, count)
    total = rational(field, 0)
    for exponent, residue in zip(exponents, residues, strict=True):
        total += field.embed(residue) * (one - one / (one + k * field.monomial(exponent)))
    return total
