"""Token designs: what they promise, and that the default amplifies less."""

from __future__ import annotations

from fractions import Fraction
from statistics import median

import pytest
from flint import fmpq

import exactmha
from exactmha.approximate.balls import bound_text, decimal_exponent, rational_text, scientific
from exactmha.approximate.choose import KINDS, designs, draw, kind_for, scale_for
from exactmha.approximate.comparison import compare_designs, compare_kinds
from exactmha.approximate.design import STAGES, TokenDesign
from exactmha.approximate.stability import choose
from exactmha.errors import InputError
from exactmha.recover.design import expected_length, expected_queries
from exactmha.sequences import Token


def dot(x: Token, y: Token) -> fmpq:
    return sum((fmpq(a) * fmpq(b) for a, b in zip(x, y, strict=True)), fmpq(0))


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
def test_orthogonal_directions_are_nearly_orthogonal_and_exact_doubles(dim: int) -> None:
    design = draw("orthogonal", dim, 0, 0, fmpq(1, 2))
    for tokens, length in ((design.b, fmpq(1, 4)), (design.u, fmpq(1))):
        for i, x in enumerate(tokens):
            for j, y in enumerate(tokens):
                assert abs(dot(x, y) - (length if i == j else 0)) < fmpq(1, 500)
            assert all(Fraction(float(Fraction(str(fmpq(a))))) == Fraction(str(fmpq(a))) for a in x)


@pytest.mark.parametrize("kind", KINDS)
def test_designs_depend_on_seed_and_attempt_alone(kind: str) -> None:
    def tokens(seed: int, attempt: int) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
        design = draw(kind, 3, seed, attempt)
        return design.b, design.u

    usable = [attempt for attempt, _ in zip(range(9), designs(kind, 3, 1), strict=False)]
    assert usable
    first = next(designs(kind, 3, 1))
    assert (first.b, first.u) == (next(designs(kind, 3, 1)).b, next(designs(kind, 3, 1)).u)
    assert len({design.b for design, _ in zip(designs(kind, 3, 2), range(5), strict=False)}) == 5


def test_a_design_asks_the_queries_of_the_theorem() -> None:
    for heads, dim in ((1, 1), (2, 3), (3, 2)):
        design = draw("orthogonal", dim, 0, 0)
        queries = [design.base_query(), *(q for p in design.profiles for q in p.queries(heads))]
        assert len(queries) == expected_queries(heads, dim)
        assert max(map(len, queries)) == expected_length(heads)
        assert {p.stage for p in design.profiles} <= set(STAGES)


def test_a_sum_profile_follows_its_grid_profile() -> None:
    design = draw("orthogonal", 3, 0, 0)
    for index, planned in enumerate(design.profiles):
        if planned.is_sum or (planned.row, planned.column) == (0, 0):
            continue
        both = design.profiles[design.sum_of(index)]
        assert (both.row, both.column) == (planned.row, planned.column)
        total = design.b[0] if planned.row else design.u[0]
        part = planned.b if planned.row else planned.u
        assert (both.b if planned.row else both.u) == tuple(x + y for x, y in zip(total, part, strict=True))
    with pytest.raises(ValueError, match="no sum profile"):
        design.sum_of(0)


def test_orthogonal_directions_amplify_less_than_random_grids() -> None:
    gains = []
    for seed in range(10):
        model = exactmha.random_model(3, 2, "exponential", seed)
        constants = [decimal_exponent(choose(model, kind=kind, seed=seed).constant) for kind in ("orthogonal", "grid")]
        gains.append(constants[1] - constants[0])
    assert median(gains) > 1  # a decimal digit at least


def test_the_best_of_several_draws_is_no_worse() -> None:
    gains = []
    for seed in range(4):
        model = exactmha.random_model(2, 2, "exponential", seed)
        one, six = choose(model), choose(model, draws=6)
        gains.append(decimal_exponent(one.constant) - decimal_exponent(six.constant))
    assert all(gain >= 0 for gain in gains)
    assert max(gains) > 0.3


def test_comparison_has_a_row_for_every_kind_and_scale() -> None:
    model = exactmha.random_model(2, 2, "exponential", seed=0)
    rows = compare_designs(model, draws=2, factors=(fmpq(1),))
    assert [row.kind for row in rows] == list(KINDS)
    assert all(row.best is None or row.median is None or row.best <= row.median for row in rows)
    integers = compare_designs(exactmha.random_model(2, 2, "rational", seed=0), draws=2)
    assert [row.kind for row in integers] == ["integer"]


def test_fields_with_integer_tokens_get_integers() -> None:
    assert [kind_for(name) for name in ("exponential", "rational", "radical")] == ["orthogonal", "integer", "integer"]
    model = exactmha.random_model(2, 2, "rational", seed=0)
    chosen = choose(model)
    assert all(isinstance(x, int) for token in (*chosen.design.b, *chosen.design.u) for x in token)
    with pytest.raises(InputError, match="integer tokens"):
        choose(model, kind="orthogonal")


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(InputError, match="unknown design"):
        list(designs("spiral", 2, 0))


@pytest.mark.parametrize(
    ("heads", "bound", "expected"), [(1, fmpq(1), fmpq(1)), (3, fmpq(6), fmpq(1, 2)), (2, fmpq(3), fmpq(42, 64))]
)
def test_scale_is_heads_over_weights_rounded_down(heads: int, bound: fmpq, expected: fmpq) -> None:
    assert scale_for(heads, bound) == expected


def test_tokens_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(InputError, match="d tokens"):
        TokenDesign(((1, 0), (0, 1)), ((1, 0),))


@pytest.mark.parametrize(
    ("number", "expected"),
    [(fmpq(1, 10**30), "1e-30"), (fmpq(2, 3), "6.67e-01"), (fmpq(9999, 10), "1e+03"), (fmpq(123456), "1.24e+05"),
     (fmpq(0), "0"), (fmpq(5), "5e+00"), (fmpq(1001, 1000), "1.01e+00")],
)  # fmt: skip
def test_numbers_are_shown_rounded_up(number: fmpq, expected: str) -> None:
    assert rational_text(number) == expected


def test_what_bounds_hold_for_is_never_shown_too_large() -> None:
    shown = {
        fmpq(1, 2**32): "2^-32",
        fmpq(4): "2^2",
        fmpq(1): "1e+00",
        fmpq(1, 10**30): "1e-30",
        fmpq(2, 3): "6.66e-01",
    }
    assert {number: bound_text(number) for number in shown} == shown
    assert rational_text(fmpq(9999, 10), down=True) == "9.99e+02"


@pytest.mark.parametrize("kind", KINDS[1:])
def test_the_default_kind_amplifies_least(kind: str) -> None:
    rows = compare_kinds(range(2, 4), 2, instances=6)
    for row in rows:
        default, other = row.medians["orthogonal"], row.medians[kind]
        assert default is not None
        assert other is None or default < other


def test_integer_tokens_have_no_length() -> None:
    with pytest.raises(InputError, match="--scale: is not used"):
        choose(exactmha.random_model(1, 1, "rational", seed=0), scale=fmpq(1, 2))


def test_balls_are_shown_by_their_upper_end() -> None:
    from flint import arb

    assert scientific(arb(1, arb("0.5"))) in {"1.5e+00", "1.50e+00", "1.51e+00"}
    assert scientific(arb("inf")) == "inf"
