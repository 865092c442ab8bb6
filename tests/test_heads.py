"""The canonical form against a literal evaluation with Fractions; W = log-coordinates in base (2,) or (2, 3)."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from exactmha.attention import Attention, Model
from exactmha.fields import RationalField
from exactmha.heads import Canonical, Head, canonical, matrix

modest = settings(derandomize=True, deadline=None, max_examples=60)


def head(w: int, *v: int | Fraction) -> Head:
    """A head of dimension len(v) with W = w·log 2 at the corner, 0 elsewhere."""
    rows = [[fmpq(w if i == j == 0 else 0) for j in range(len(v))] for i in range(len(v))]
    return Head((matrix(rows),), tuple((fmpq(Fraction(x).numerator, Fraction(x).denominator),) for x in v))


class TestMerging:
    def test_equal_weights_are_merged_and_readouts_added(self) -> None:
        found = canonical([head(1, 2), head(3, 5), head(1, Fraction(-1, 2))])
        assert found.heads == (head(1, Fraction(3, 2)), head(3, 5))
        assert found.groups == ((0, 2), (1,))
        assert found.discarded == ()
        assert found.is_changed

    def test_zero_sums_are_discarded(self) -> None:
        found = canonical([head(1, 2), head(0, 7), head(1, -2), head(2, 0)])
        assert found.heads == (head(0, 7),)
        assert found.groups == ((1,),)
        assert found.discarded == ((0, 2), (3,))
        assert found.is_changed

    def test_a_partial_zero_sum_is_kept(self) -> None:
        found = canonical([head(1, 1, 2), head(1, -1, 2)])
        assert found.heads == (head(1, 0, 4),)

    def test_a_zero_in_the_middle_of_a_chain_is_not_final(self) -> None:
        found = canonical([head(1, 1), head(1, -1), head(1, 4)])
        assert found.heads == (head(1, 4),)
        assert found.groups == ((0, 1, 2),)

    def test_a_chain_that_ends_with_no_head(self) -> None:
        found = canonical([head(w, c) for w, c in [(1, 1), (2, 3), (1, 1), (2, -3), (1, -2)]])
        assert found.heads == found.groups == ()
        assert found.discarded == ((0, 2, 4), (1, 3))

    def test_no_heads(self) -> None:
        assert canonical([]) == Canonical((), (), ())
        assert not canonical([]).is_changed

    def test_a_canonical_model_is_unchanged(self) -> None:
        found = canonical([head(2, 1), head(1, 1)])
        assert found.heads == (head(1, 1), head(2, 1))
        assert found.groups == ((1,), (0,))
        assert not found.is_changed

    def test_weights_that_differ_in_one_unit_stay_apart(self) -> None:
        a = Head((matrix([[fmpq(1)]]), matrix([[fmpq(0)]])), ((fmpq(1),),))
        b = Head((matrix([[fmpq(1)]]), matrix([[fmpq(1)]])), ((fmpq(-1),),))
        assert len(canonical([a, b]).heads) == 2

    def test_a_sum_in_a_field_of_degree_two_vanishes_only_in_all_coordinates(self) -> None:
        W = (matrix([[fmpq(1)]]),)
        a, b = Head(W, ((fmpq(1), fmpq(2)),)), Head(W, ((fmpq(-1), fmpq(1)),))
        assert canonical([a, b]).heads == (Head(W, ((fmpq(0), fmpq(3)),)),)
        assert canonical([a, Head(W, ((fmpq(-1), fmpq(-2)),))]).heads == ()


pairs = st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1), st.integers(-2, 2), st.integers(-2, 2)), max_size=8)


def model_of(numbers: list[tuple[int, int, int, int]]) -> Model:
    """Heads of dimension 2 with W = [[a, b], [0, 0]]·log 2 and v = (x, y)."""
    heads = [
        Head((matrix([[fmpq(a), fmpq(b)], [fmpq(0), fmpq(0)]]),), ((fmpq(x),), (fmpq(y),))) for a, b, x, y in numbers
    ]
    return Model(RationalField((2,)), 2, tuple(heads))


class TestProperties:
    @modest
    @given(pairs, st.randoms(use_true_random=False))
    def test_order_does_not_matter(self, numbers: list[tuple[int, int, int, int]], random: Random) -> None:
        shuffled = list(numbers)
        random.shuffle(shuffled)
        assert model_of(shuffled).canonical().heads == model_of(numbers).canonical().heads

    @modest
    @given(pairs)
    def test_sums_match_a_dictionary(self, numbers: list[tuple[int, int, int, int]]) -> None:
        sums: dict[tuple[int, int], list[int]] = {}
        for a, b, x, y in numbers:
            total = sums.setdefault((a, b), [0, 0])
            total[0], total[1] = total[0] + x, total[1] + y
        expected = model_of([(*w, *v) for w, v in sorted(sums.items()) if v != [0, 0]])
        assert model_of(numbers).canonical().heads == expected.heads

    @modest
    @given(pairs)
    def test_groups_and_discarded_partition_the_heads(self, numbers: list[tuple[int, int, int, int]]) -> None:
        found = model_of(numbers).canonical()
        members = [i for group in (*found.groups, *found.discarded) for i in group]
        assert sorted(members) == list(range(len(numbers)))
        for kept, group in zip(found.heads, found.groups, strict=True):
            assert {numbers[i][:2] for i in group} == {tuple(int(x.numerator) for x in kept.W[0][0])}

    @modest
    @given(pairs)
    def test_canonical_is_idempotent(self, numbers: list[tuple[int, int, int, int]]) -> None:
        heads = model_of(numbers).canonical().heads
        assert canonical(heads).heads == heads
        assert not canonical(heads).is_changed

    @modest
    @given(pairs, st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=1, max_size=4))
    def test_the_function_is_unchanged(
        self, numbers: list[tuple[int, int, int, int]], tokens: list[tuple[int, int]]
    ) -> None:
        last = tokens[-1]
        literal = Fraction(0)
        for a, b, x, y in numbers:
            weights = [Fraction(2) ** (last[0] * (a * p + b * q)) for p, q in tokens]
            literal += sum(w * (x * p + y * q) for w, (p, q) in zip(weights, tokens, strict=True)) / sum(weights)
        model = model_of(numbers)
        reduced = Model(model.field, 2, model.canonical().heads)
        expected = model.field.embed((fmpq(literal.numerator, literal.denominator),))
        assert Attention(model)(tokens) == expected
        assert Attention(reduced)(tokens) == expected
