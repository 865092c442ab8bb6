"""The fast way to a value of form (P) is the slow way's value, and so is the oracle's answer to copies."""

from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from exactmha.fields import ExponentialField
from exactmha.recover.profile import form

FIELD = ExponentialField(1, 6)
EXPONENTS = st.integers(-3, 3) | st.integers(-(10**60), 10**60)
RESIDUES = st.fractions(max_denominator=30).filter(bool).map(lambda q: (fmpq(q.numerator, q.denominator),))


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.integers(1, 12), st.integers(-3, 3), st.lists(st.tuples(EXPONENTS, RESIDUES), max_size=5))
def test_fast_profile_values_equal_the_generic_ones(
    most: int, shift: int, heads: list[tuple[int, tuple[fmpq]]]
) -> None:
    base = FIELD.embed((fmpq(shift, 2),))
    exponents = [(n,) for n, _ in heads]
    residues = [c for _, c in heads]
    for k, fast in enumerate(FIELD.profile_values(most, base, exponents, residues), 1):
        slow = base + form(FIELD, k, exponents, residues)
        assert (fast - slow).terms == {}
        assert all(c != 0 for c in fast.terms.values())
    assert k == most


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.integers(1, 40), st.integers(1, 5), EXPONENTS, RESIDUES, RESIDUES)
def test_two_token_answers_equal_the_general_evaluation(
    count: int, last_count: int, n: int, y: tuple[fmpq], y_last: tuple[fmpq]
) -> None:
    two = FIELD.attention([count, last_count], [([(n,), (0,)], [y, y_last])])
    three = FIELD.attention([count, last_count - 1, 1], [([(n,), (0,), (0,)], [y, y_last, y_last])])
    assert (two - three).terms == {}
