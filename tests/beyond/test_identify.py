"""Local identifiability of any query set.

Expected values come from elsewhere: derivatives by SymPy from the definition of attention, f's linearity in v, the
hand computation in `proofs/local-identifiability` for the queries (−5,1), (−2,1), tanh identities for opposite pairs.

Hand computation used below. Two heads (w, v), (−w, c·v), d = 1, length 2, last token b, displacement u:
f = (1 + c)·v·(b + u/2) + ½·v·u·(tanh(wbu/2) − c·tanh(w'bu/2)) at w' = w; moving W_1 by x and W_2 by y changes it, to
first order, by a multiple of x + c·y, so (x, y) ∝ (c, −1) is blind, for every list of such queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
import sympy
from flint import fmpq, nmod_mat

from exactmha.attention import Attention, Model
from exactmha.beyond.blind import _is_null, null_vector
from exactmha.beyond.identify import Identification, identify
from exactmha.beyond.jacobian import Jacobian, normal_form
from exactmha.beyond.suggest import best, lengths, rows, suggest
from exactmha.errors import InputError, LimitError
from exactmha.fields.interface import add_scalars
from exactmha.heads import Head, matrix
from exactmha.instance import from_dict
from exactmha.limits import Limits
from exactmha.oracle import Oracle
from exactmha.outcome import Outcome
from exactmha.random_instance import random_model
from exactmha.recover.learn import learn
from exactmha.sequences import TokenSequence
from exactmha.symbolic import to_sympy

FIELDS = ["exponential", "rational", "radical"]
UNIT = {"exponential": "", "rational": "*log(2)", "radical": "/2*log(3)"}
EXAMPLE = [[(-5,), (1,)], [(-2,), (1,)]]
PAIRS = [[(a,), (b,)] for a in range(-3, 4) for b in range(-3, 4)]
Sequences = Sequence[Sequence[tuple[Any, ...]]]


def instance(field: str, dim: int, *heads: tuple[list[list[str]], list[str]]) -> Model:
    listed = [{"W": W, "v": v} for W, v in heads]
    return from_dict({"format": "exactmha/instance/1", "field": field, "dim": dim, "heads": listed})


def line(field: str, *heads: tuple[int, str]) -> Model:
    """A model with d = 1 and W in the field's units."""
    return instance(field, 1, *(([[f"{w}{UNIT[field]}"]], [v]) for w, v in heads))


def asked_by_the_learner(model: Model) -> list[Any]:
    oracle = Oracle(Attention(model), model.field, model.dim, keep_transcript=True)
    learn(oracle, heads=len(model.heads))
    return [sequence for sequence, _ in oracle.transcript or []]


def moved(model: Model, found: Identification, t: Fraction) -> Model:
    """The model θ + t·δ for a rational direction, in coordinates of the field's only unit."""
    heads, step = [], fmpq(t.numerator, t.denominator)
    for head, (dW, dv) in zip(model.canonical().heads, found.moves(model.dim), strict=True):
        (W,) = head.W
        new_w = [[x + step * fmpq_of(y) for x, y in zip(r, s, strict=True)] for r, s in zip(W, dW, strict=True)]
        zeros = (fmpq(0),) * (model.field.degree - 1)
        v = tuple(add_scalars(a, (step * fmpq_of(b), *zeros)) for a, b in zip(head.v, dv, strict=True))
        heads.append(Head((matrix(new_w),), v))
    return Model(model.field, model.dim, tuple(heads))


def fmpq_of(text: str) -> fmpq:
    fraction = Fraction(text)
    return fmpq(fraction.numerator, fraction.denominator)


def assert_same_answers(left: Model, right: Model, sequences: Sequences) -> None:
    ask, ask_again = Attention(left), Attention(right)
    for sequence in sequences:
        assert ask(sequence).equals(ask_again(sequence)) is Outcome.HOLDS


# --- derivatives -----------------------------------------------------------------------------------------------------


def sympy_row(model: Model, sequence: Sequence[Sequence[int]]) -> list[Any]:
    """The derivatives of f(X), differentiated by SymPy from the definition."""
    parameters, values, f = [], {}, sympy.Integer(0)
    xs = [sympy.Matrix(token) for token in sequence]
    for h, head in enumerate(model.heads):
        W = sympy.Matrix(model.dim, model.dim, lambda i, j, h=h: sympy.Symbol(f"W{h}_{i}_{j}"))
        v = sympy.Matrix(model.dim, 1, lambda i, _, h=h: sympy.Symbol(f"v{h}_{i}"))
        weights = [sympy.exp((xs[-1].T * W * x)[0]) for x in xs]
        f += sum((w * (v.T * x)[0] for w, x in zip(weights, xs, strict=True)), sympy.Integer(0)) / sum(weights)
        parameters += [*W, *v]
        exact_w, exact_v = to_sympy(head, model.field)
        values |= dict(zip([*W, *v], [*exact_w, *exact_v], strict=True))
    return [sympy.N(sympy.diff(f, x).subs(values), 40) for x in parameters]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (2, 2)])
def test_exact_rows_are_the_derivatives_of_the_definition(field: str, heads: int, dim: int) -> None:
    model = random_model(heads, dim, field, 4)
    sequence = [[(1, -2), (0, 3), (1, -2), (2, 1)][i][:dim] for i in range(4)]
    jacobian = Jacobian(model, [sequence])
    expected = sympy_row(model, sequence)
    # rows come with the positive factor Π D_h²; ∂f/∂v is a mean of tokens, so one entry fixes the factor
    row = [
        sympy.Float(x.enclosure(40).mid().str(45, radius=False), 40)
        for x in jacobian.exact_row(0, range(len(expected)))
    ]
    pivot = next(i for i, x in enumerate(expected) if abs(x) > 1e-9)
    factor = row[pivot] / expected[pivot]
    assert factor > 0
    for found, wanted in zip(row, expected, strict=True):
        assert abs(found - factor * wanted) < 1e-25 * max(1, abs(factor))
    assert len([x for x in expected if abs(x) > 1e-9]) > 1


@pytest.mark.parametrize("field", FIELDS)
def test_images_of_the_v_columns_are_exact_differences(field: str) -> None:
    # f is linear in v: its derivative along v_{h,a} is f(v + e_a) − f(v), exactly
    model = random_model(2, 2, field, 0)
    sequences = [[(1, 2)], [(1, -1), (0, 2), (3, 1)], TokenSequence.copies(3, (2, 1), (-1, 1))]
    jacobian, place = Jacobian(model, sequences), model.field.place(0, 1)
    images = jacobian.image_rows(place)
    for h, head in enumerate(model.heads):
        for a, column in enumerate(jacobian.v_columns(h)):
            one = (fmpq(1), *(fmpq(0),) * (model.field.degree - 1))
            v = tuple(add_scalars(x, one) if i == a else x for i, x in enumerate(head.v))
            other = Model(model.field, 2, tuple(Head(head.W, v) if g == h else k for g, k in enumerate(model.heads)))
            for q, sequence in enumerate(sequences):
                difference = Attention(other)(sequence) - Attention(model)(sequence)
                assert difference.image(place) == images[q][column]


@pytest.mark.parametrize("field", FIELDS)
def test_images_are_those_of_the_exact_rows(field: str) -> None:
    # two routes: weights mapped to F_p first, or exact numerators with a common factor per row mapped at the end
    model = random_model(2, 2, field, 1)
    jacobian, place = Jacobian(model, [[(1, 2), (0, 1), (2, 1)], [(2, 2), (1, 1)]]), model.field.place(0, 1)
    for q, image in enumerate(jacobian.image_rows(place)):
        exact = [int(x.image(place)) for x in jacobian.exact_row(q, range(12))]
        assert any(exact)
        assert nmod_mat(2, 12, image + exact, place.prime).rank() == 1


def test_tokens_with_denominators_take_a_root_of_t() -> None:
    model = line("exponential", (1, "1"), (3, "2"))
    tokens = [[(fmpq(1, 2),), (fmpq(1, 3),)], [(2,), (fmpq(2, 5),)], [(1,), (0,), (fmpq(1, 2),)], [(1,)]]
    expected = sympy.Matrix([sympy_row(model, [[sympy.Rational(str(x)) for x in t] for t in s]) for s in tokens])  # type: ignore[list-item, misc]
    assert abs(expected.det()) > 1e-9
    found = identify(model, tokens)
    assert (found.outcome, found.rank) == (Outcome.HOLDS, 4)


# --- verdicts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", FIELDS)
def test_a_blind_direction_is_no_disproof(field: str) -> None:
    found = identify(line(field, (0, "1")), EXAMPLE)
    assert (found.outcome, found.full_rank) == (Outcome.UNDECIDED, Outcome.FAILS)
    assert (found.rank, found.parameters, found.queries, found.effective) == (1, 2, 2, 2)
    assert found.moves(1) == [([["2"]], ["9"])]  # (9, −2)·(2, 9) = 0 and (9/4, −1/2)·(2, 9) = 0
    assert found.family is None


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_the_queries_of_the_learner_identify(field: str, heads: int, dim: int) -> None:
    model = random_model(heads, dim, field, 1)
    found = identify(model, asked_by_the_learner(model))
    assert (found.outcome, found.full_rank) == (Outcome.HOLDS, Outcome.HOLDS)
    assert found.rank == found.parameters == heads * (dim**2 + dim)
    assert found.direction is None


@pytest.mark.parametrize("field", FIELDS)
def test_an_opposite_pair_is_a_family_for_two_tokens(field: str) -> None:
    model = line(field, (1, "1"), (-1, "1"))
    found = identify(model, PAIRS)
    assert (found.outcome, found.rank) == (Outcome.FAILS, 3)
    assert found.family is not None
    assert found.family.kind == "opposite pair"
    (((x,),), (dv,)), (((y,),), (dv2,)) = found.moves(1)
    assert (dv, dv2) == ("0", "0")
    assert Fraction(x) == -Fraction(y) != 0
    assert_same_answers(model, moved(model, found, Fraction(2)), PAIRS)
    assert identify(model, [*PAIRS, [(1,), (1,), (2,)]]).outcome is Outcome.HOLDS  # length 3 sees it


@pytest.mark.parametrize("field", FIELDS)
def test_an_opposite_pair_with_unequal_readouts_is_blind_only_to_first_order(field: str) -> None:
    found = identify(line(field, (-1, "1"), (1, "3")), PAIRS)  # c = 3: see the top of this file
    assert (found.outcome, found.full_rank) == (Outcome.UNDECIDED, Outcome.FAILS)
    (((x,),), _), (((y,),), _) = found.moves(1)
    assert Fraction(x) == -3 * Fraction(y) != 0


@pytest.mark.parametrize("field", FIELDS)
def test_tokens_in_a_subspace_give_a_family_of_logits(field: str) -> None:
    model = random_model(1, 2, field, 2)
    sequences = [[(a, a), (b, b), (c, c)] for a in range(-2, 3) for b in range(-2, 3) for c in range(-2, 3)]
    found = identify(model, sequences)
    assert found.outcome is Outcome.FAILS
    assert found.family is not None
    assert found.family.kind == "logits"
    ((dW, dv),) = found.moves(2)
    assert dv == ["0", "0"]
    assert sum(Fraction(x) for row in dW for x in row) == 0  # (1, 1)·Δ·(1, 1) = 0
    assert any(x != "0" for row in dW for x in row)
    if model.field.rank == 1:
        assert_same_answers(model, moved(model, found, Fraction(3)), sequences)


def test_queries_in_which_a_head_is_invisible_say_nothing_about_its_logits() -> None:
    # v = (1, 0): displacements along the second axis are not seen, whatever W is
    model = instance("exponential", 2, ([["1", "2"], ["0", "-1"]], ["1", "0"]))
    sequences = [[(a, b + c), (a, b)] for a in range(1, 4) for b in range(-2, 3) for c in range(1, 4)]
    found = identify(model, sequences)
    assert found.family is not None
    assert found.family.kind == "logits"
    assert_same_answers(model, moved(model, found, Fraction(5)), sequences)
    # and one query that sees it restricts Δ to b^T Δ u = 0
    more = identify(model, [*sequences, [(1, 1), (0, 1)]])
    assert more.family is not None
    ((dW, _),) = more.moves(2)
    assert Fraction(dW[1][0]) == 0  # b = (0, 1), u = (1, 0)
    assert_same_answers(model, moved(model, more, Fraction(5)), [*sequences, [(1, 1), (0, 1)]])


def test_a_readout_family_over_the_field() -> None:
    # W = (0, log 2, log 3), one query (2, 1): b = u = 1, so the derivative in v_h is 1 + r/(1 + r) with r = 1, 2, 3
    model = instance("rational", 1, ([["0"]], ["1"]), ([["log(2)"]], ["1"]), ([["log(3)"]], ["1"]))
    jacobian = Jacobian(model, [[(2,), (1,)]])
    weight = {"0": 1, "log(2)": 2, "log(3)": 3}
    r = [weight[model.field.log_text([m[0][0] for m in head.W])] for head in model.heads]
    delta = null_vector(jacobian, [column for h in range(3) for column in jacobian.v_columns(h)])
    assert delta is not None
    moved_v = [Fraction(str(delta[jacobian.v_columns(h)[0]])) for h in range(3)]
    assert any(moved_v)
    assert all(str(delta[column]) == "0" for h in range(3) for column in jacobian.w_columns(h))
    assert sum(x * (1 + Fraction(k, 1 + k)) for x, k in zip(moved_v, r, strict=True)) == 0


@pytest.mark.parametrize("field", ["exponential", "radical"])
def test_a_readout_family_with_irrational_entries(field: str) -> None:
    # W = 0 and one unit, queries ±(2, 1): b·u = 1, the derivative in v_h is ±(1 + r_h/(1 + r_h)), r = 1 and e (or √3)
    model = line(field, (0, "1"), (1, "1"))
    jacobian = Jacobian(model, [[(2,), (1,)], [(-2,), (-1,)]])
    columns = [column for h in range(2) for column in jacobian.v_columns(h)]
    delta = null_vector(jacobian, columns)
    assert delta is not None
    r = {"exponential": sympy.E, "radical": sympy.sqrt(3)}[field]
    means = [sympy.Rational(3, 2), 1 + r / (1 + r)]
    digits = [sympy.Float(delta[column].enclosure(60).mid().str(60, radius=False), 60) for column in columns]
    assert all(abs(x) > 1e-9 for x in digits)
    assert abs(sympy.N(sum(x * m for x, m in zip(digits, means, strict=True)), 60)) < 1e-50


def test_readout_is_a_verdict() -> None:
    # W = 0, log 2, log 3; queries (1) and ±(−1, 1): b·u = −2, r = 1, 1/4, 1/9. The derivatives in v_h are 1 and
    # ±(1 − 2r/(1 + r)): two equations for three δv
    model = instance("rational", 1, ([["0"]], ["1"]), ([["log(2)"]], ["1"]), ([["log(3)"]], ["1"]))
    sequences = [[(1,)], [(-1,), (1,)], [(1,), (-1,)]]
    found = identify(model, sequences)
    assert found.outcome is Outcome.FAILS
    assert found.family is not None
    assert found.family.kind == "readout"
    (*_, dv) = zip(*found.moves(1), strict=True)
    moved_v = [Fraction(x) for (x,) in dv]
    weight = {"0": Fraction(1), "log(2)": Fraction(1, 4), "log(3)": Fraction(1, 9)}
    r = [weight[model.field.log_text([m[0][0] for m in head.W])] for head in model.canonical().heads]
    assert any(moved_v)
    assert sum(moved_v) == 0
    assert sum(x * (1 - 2 * y / (1 + y)) for x, y in zip(moved_v, r, strict=True)) == 0


@pytest.mark.parametrize("field", FIELDS)
def test_fewer_different_queries_than_parameters_never_identify(field: str) -> None:
    model = random_model(2, 2, field, 3)
    enough = suggest(model, 3, seed=5).sequences
    assert identify(model, enough).outcome is Outcome.HOLDS
    # the same query in other words: repeated, its tokens permuted, every token twice
    sequence = next(s for s in enough if len(s) == 3)
    again = [sequence, [sequence[1], sequence[0], sequence[2]], [*sequence, *sequence]]
    found = identify(model, [*(s for s in enough if s != sequence), *again[1:]])
    assert found.outcome is Outcome.HOLDS
    others = [s for s in enough if s != sequence]
    found = identify(model, [*others[1:], *again])
    assert (found.queries, found.effective, found.rank) == (13, 11, 11)
    assert found.outcome is Outcome.FAILS
    assert found.family is None
    assert "invariance of domain" in found.reason


def test_single_tokens_count_by_their_rank() -> None:
    model = random_model(1, 2, "exponential", 0)
    found = identify(model, [[(a, b)] for a in range(-2, 3) for b in range(-2, 3)])
    assert (found.queries, found.effective, found.rank, found.outcome) == (25, 2, 2, Outcome.FAILS)


@pytest.mark.parametrize("field", FIELDS)
def test_no_queries_and_no_heads(field: str) -> None:
    nothing = identify(line(field, (1, "1")), [])
    assert (nothing.outcome, nothing.rank, nothing.effective) == (Outcome.FAILS, 0, 0)
    empty = instance(field, 2)
    assert identify(empty, []).outcome is Outcome.HOLDS
    found = identify(empty, [[(1, 2)]])
    assert (found.outcome, found.parameters, found.rank) == (Outcome.HOLDS, 0, 0)


def test_canonical_heads_are_what_counts() -> None:
    # (W, 1), (W, 1) is one head (W, 2): two parameters; (W, 1), (W, −1) is none
    found = identify(line("exponential", (1, "1"), (1, "1")), [[(1,)], [(2,), (1,)]])
    assert (found.outcome, found.parameters) == (Outcome.HOLDS, 2)
    assert identify(line("exponential", (1, "1"), (1, "-1")), []).parameters == 0


def test_beyond_the_budget_nothing_is_claimed() -> None:
    found = identify(line("rational", (0, "1")), EXAMPLE, Limits(jacobian_size=1))
    assert (found.outcome, found.full_rank, found.direction) == (Outcome.UNDECIDED, Outcome.UNDECIDED, None)
    assert found.rank == 1


def test_bad_sequences_are_named() -> None:
    model = line("rational", (1, "1"))
    for bad, problem in [
        ([], "at least one token"),
        ([(1, 2)], "1 coordinates"),
        ([(fmpq(1, 2),), (fmpq(1, 3),)], "leaves"),
    ]:
        with pytest.raises(InputError, match=problem) as caught:
            identify(model, [[(1,)], bad])
        assert caught.value.field == "[1]"
    with pytest.raises(LimitError, match="more than 3 entries"):
        identify(model, [[(1,)], [(2,)]], Limits(jacobian_cells=3))


def test_normal_form() -> None:
    one = normal_form([(1, 0), (2, 5), (1, 0), (2, 5)], 2)
    assert one == normal_form([(1, 0), (2, 5)], 2)
    assert one.is_balanced
    assert one != normal_form([(2, 5), (1, 0)], 2)
    assert one != normal_form([(1, 0), (1, 0), (2, 5)], 2)
    assert not normal_form([(1, 0), (1, 0), (2, 5)], 2).is_balanced
    assert normal_form(TokenSequence.copies(4, (1, 1), (1, 1)), 2).is_single


# --- suggestions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", FIELDS)
def test_suggestions_have_as_many_queries_as_parameters(field: str) -> None:
    model = random_model(2, 2, field, 0)
    found = [suggest(model, 3, seed=1, attempt=i) for i in range(3)]
    for one in found:
        assert one.is_full
        assert one.rank == 12 <= one.tried
        assert max(map(len, one.sequences)) <= 3
        assert identify(model, one.sequences).outcome is Outcome.HOLDS
    assert len({one.sequences for one in found}) == 3
    assert best(found).tokens == min(one.tokens for one in found)
    assert suggest(model, 3, seed=1) == found[0]


def test_single_tokens_reach_rank_d() -> None:
    # f(x) = s·x
    assert [suggest(random_model(H, d, "exponential", 0), 1, 0).rank for H, d in [(1, 1), (2, 3), (3, 2)]] == [1, 3, 2]


def test_the_tried_sequences_are_counted() -> None:
    one = suggest(random_model(1, 1, "exponential", 0), 1, 0)
    assert not one.is_full
    assert one.tried == 4 * 16  # one batch that raises the rank, three in vain


def test_table_rows() -> None:
    (row,) = rows([2], [2])
    assert lengths(2) == (1, 2, 3, 5)
    assert (row.parameters, row.learner) == (12, 29)  # H(d² + d) and 4Hd² − 2H + 1
    assert row.reached == ((1, 2), (2, 12), (3, 12), (5, 12))


def test_wrong_guesses_are_not_proved() -> None:
    jacobian = Jacobian(line("exponential", (0, "1")), EXAMPLE)
    one, two, nine = (jacobian.field.embed((fmpq(x),)) for x in (1, 2, 9))
    zero = one - one
    assert _is_null(jacobian, [0, 1], [two, nine]) is Outcome.HOLDS
    assert _is_null(jacobian, [0, 1], [one, nine]) is Outcome.FAILS
    assert _is_null(jacobian, [0, 1], [zero, zero]) is Outcome.FAILS  # the zero vector is no direction


def test_blind_directions_with_fractional_tokens() -> None:
    halves = [[(fmpq(a, 2),), (fmpq(b, 3),)] for a in range(-3, 4) for b in range(-3, 4)]
    found = identify(line("exponential", (-1, "1"), (1, "3")), halves)  # c = 3: see the top of this file
    assert (found.outcome, found.full_rank) == (Outcome.UNDECIDED, Outcome.FAILS)
    (((x,),), _), (((y,),), _) = found.moves(1)
    assert Fraction(x) == -3 * Fraction(y) != 0
