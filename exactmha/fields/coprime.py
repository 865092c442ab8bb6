"""Multiplicatively independent bases of positive rationals, without having to factor (`proofs/zero-test-rational`)."""

from __future__ import annotations

from collections.abc import Iterable

from flint import fmpq, fmpz

from exactmha.errors import LimitError
from exactmha.limits import DEFAULT_LIMITS

_SMALL_PRIMES = [p for p in range(2, 1000) if fmpz(p).is_prime()]
_FACTOR_BITS = 64
"""Integers up to this many bits are split into primes; larger cofactors stay whole, which is harmless."""


def valuation(n: fmpz, base: fmpz) -> tuple[int, fmpz]:
    """Return (e, m) with n = base^e · m and base ∤ m, for n ≠ 0 and base ≥ 2, in O(log e) divisions."""
    quotient, remainder = divmod(n, base)
    if remainder != 0:
        return 0, n
    half, rest = valuation(quotient, base * base)
    last, remainder = divmod(rest, base)
    return (2 * half + 2, last) if remainder == 0 else (2 * half + 1, rest)


def _refine(numbers: Iterable[fmpz], most: int) -> list[fmpz]:
    """Return pairwise coprime integers > 1 of which every input is a product of powers."""
    base: list[fmpz] = []
    pending = [n for n in numbers if n > 1]
    while pending:
        n = pending.pop()
        for i, b in enumerate(base):
            g = n.gcd(b)
            if g > 1:
                del base[i]
                pending += [part for part in (g, n // g, b // g) if part > 1]
                break
        else:
            base.append(n)
        if len(base) > most:
            raise LimitError(f"more than {most} independent numbers under logarithms", hint="see --limit log_bases")
    return base


def _pieces(n: fmpz) -> Iterable[fmpz]:
    """Split n ≥ 1 into small primes and a cofactor, the cofactor into primes if it has at most 64 bits."""
    for prime in _SMALL_PRIMES:
        exponent, n = valuation(n, fmpz(prime))
        if exponent:
            yield fmpz(prime)
    if n.bit_length() <= _FACTOR_BITS:
        yield from (prime for prime, _ in n.factor()) if n > 1 else ()
        return
    yield n


def perfect_root(n: fmpz) -> fmpz:
    """Return the integer b ≥ 2, not a perfect power, with n = b^e, for n ≥ 2."""
    while n.is_perfect_power():
        n = next(n.root(e) for e in range(2, n.bit_length() + 1) if n.root(e) ** e == n)
    return n


def coprime_base(rationals: Iterable[fmpq], most: int = DEFAULT_LIMITS.log_bases) -> tuple[int, ...]:
    """Return increasing pairwise coprime integers > 1, none a perfect power, generating all the given q > 0.

    Raises `LimitError` when more than `most` of them are needed.

    >>> coprime_base([fmpq(12), fmpq(3, 8)])
    (2, 3)
    """
    pieces = {piece for q in set(rationals) for part in (q.numerator, q.denominator) for piece in _pieces(part)}
    return tuple(sorted(int(perfect_root(b)) for b in _refine(sorted(pieces), most)))


def coordinates(q: fmpq, base: Iterable[int]) -> tuple[int, ...]:
    """Return the integers e with q = Π base_j^{e_j}; `base` must generate q."""
    num, den = q.numerator, q.denominator
    result = []
    for b in base:
        up, num = valuation(num, fmpz(b))
        down, den = valuation(den, fmpz(b))
        result.append(up - down)
    if num != 1 or den != 1:
        raise ValueError("the base does not generate this rational")
    return tuple(result)
