from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import gcd, prod

import pytest
from flint import fmpq, fmpz
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import nextprime, perfect_power

from exactmha.errors import LimitError
from exactmha.fields.coprime import coordinates, coprime_base, perfect_root, valuation

P, Q = (int(nextprime(2**40 + k)) for k in (0, 10**6))
"""Two primes whose product, of 81 bits, is not factored."""

modest = settings(derandomize=True, deadline=None, max_examples=80)
numbers = st.lists(st.sampled_from([1, 2, 3, 5, 6, 12, 36, 997, 1009, P, Q, P * Q, P * P * Q]), max_size=4).map(prod)
rationals = st.builds(Fraction, numbers, numbers)


def exact(q: Fraction | int) -> fmpq:
    return fmpq(Fraction(q).numerator, Fraction(q).denominator)


class TestCoprimeBase:
    @modest
    @given(st.lists(rationals, max_size=5))
    def test_members_are_increasing_coprime_and_no_powers(self, qs: list[Fraction]) -> None:
        base = coprime_base(exact(q) for q in qs)
        assert list(base) == sorted(set(base))
        assert all(b > 1 for b in base)
        assert all(gcd(a, b) == 1 for a, b in combinations(base, 2))
        assert not any(perfect_power(b) for b in base)

    @modest
    @given(st.lists(rationals, max_size=5))
    def test_every_input_is_a_product_of_powers(self, qs: list[Fraction]) -> None:
        base = coprime_base(exact(q) for q in qs)
        for q in qs:
            assert (
                prod(
                    (Fraction(b) ** e for b, e in zip(base, coordinates(exact(q), base), strict=True)),
                    start=Fraction(1),
                )
                == q
            )

    @modest
    @given(st.lists(rationals, max_size=5))
    def test_every_member_divides_an_input(self, qs: list[Fraction]) -> None:
        for b in coprime_base(exact(q) for q in qs):
            assert any(q.numerator % b == 0 or q.denominator % b == 0 for q in qs)

    @modest
    @given(st.permutations([Fraction(12), Fraction(3, 8), Fraction(P * Q), Fraction(P, 7), Fraction(1)]))
    def test_order_does_not_matter(self, qs: list[Fraction]) -> None:
        assert coprime_base(exact(q) for q in qs) == (2, 3, 7, P, Q)

    @pytest.mark.parametrize(
        ("qs", "expected"),
        [
            ([], ()),
            ([1], ()),
            ([Fraction(1, 2)], (2,)),
            ([4, 8], (2,)),
            ([6], (2, 3)),
            ([P * Q], (P * Q,)),
            ([(P * Q) ** 6], (P * Q,)),
            ([P * Q, P], (P, Q)),
            ([P * P * Q, P * Q * Q], (P, Q)),
            ([Fraction(P**3 * Q**3, P * Q)], (P * Q,)),
            ([10**5000], (2, 5)),
        ],
    )
    def test_hand_computed(self, qs: list[Fraction | int], expected: tuple[int, ...]) -> None:
        assert coprime_base(exact(q) for q in qs) == expected

    def test_too_many_members_are_refused(self) -> None:
        assert len(coprime_base([fmpq(2 * 3 * 5 * 7)], most=4)) == 4
        with pytest.raises(LimitError, match="log_bases"):
            coprime_base([fmpq(2 * 3 * 5 * 7 * 11)], most=4)


class TestCoordinates:
    @modest
    @given(st.lists(st.integers(-300, 300), min_size=4, max_size=4))
    def test_inverts_the_product_of_powers(self, exponents: list[int]) -> None:
        base = (2, 15, 1009, P * Q)
        q = prod((Fraction(b) ** e for b, e in zip(base, exponents, strict=True)), start=Fraction(1))
        assert coordinates(exact(q), base) == tuple(exponents)

    @pytest.mark.parametrize("q", [3, Fraction(1, 3), 6, Fraction(2, 5)])
    def test_outside_the_span_is_an_error(self, q: Fraction | int) -> None:
        with pytest.raises(ValueError, match="does not generate"):
            coordinates(exact(q), (2,))


@modest
@given(st.integers(2, 40), st.integers(0, 90), st.integers(1, 10**6))
def test_valuation_is_the_largest_power(base: int, exponent: int, rest: int) -> None:
    n = base**exponent * rest
    e, m = valuation(fmpz(n), fmpz(base))
    assert base**e * m == n
    assert m % base != 0
    assert e >= exponent


@modest
@given(st.sampled_from([2, 6, 12, 45, P, P * P * Q]), st.integers(1, 40))
def test_perfect_root_inverts_powers(root: int, exponent: int) -> None:
    assert perfect_root(fmpz(root**exponent)) == root
