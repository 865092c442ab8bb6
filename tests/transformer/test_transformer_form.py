"""Canonical forms, realisations and equality: by hand, by brute force, and against exact evaluation."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from flint import fmpq, fmpq_mat

from exactmha.outcome import Outcome
from exactmha.transformer.equivalence import equivalent
from exactmha.transformer.evaluate import TransformerAnswer
from exactmha.transformer.form import CanonicalForm, Line, canonical_form, normalised
from exactmha.transformer.instance import from_dict, over_one_field
from exactmha.transformer.model import Transformer
from exactmha.transformer.random_transformer import random_transformer
from exactmha.transformer.realise import as_transformer, realise

FIELDS = ["exponential", "rational", "radical"]


def q(*numbers: int) -> tuple[fmpq, ...]:
    return tuple(map(fmpq, numbers))


def one_head(w: list[list[str]], a: list[str], O: list[list[str]] | None = None) -> Transformer:  # noqa: E741
    return from_dict(
        {
            "format": "exactmha/instance/1",
            "field": "rational",
            "dim": 2,
            "heads": [{"W": [["log(2)", "0"], ["0", "log(3)"]], "O": O or [["1", "0"], ["0", "1"]]}],
            "ffn": {"w": w, "a": a},
        }
    )


def lines(model: Transformer) -> list[tuple[str, list[list[str]]]]:
    return [(str(line.kappa), [[str(x) for x in block] for block in line.nu]) for line in model.canonical().lines]


def test_by_hand() -> None:
    """3·ReLU(−2x + 4y) = 3(−x + 2y) + 3|x − 2y|, in the normal form of (1, −2)."""
    model = one_head([["-2", "4"]], ["3"])
    assert lines(model) == [("3", [["1", "-2"]])]
    assert model.canonical().linear == (q(-3, 6),)


@pytest.mark.parametrize(
    ("w", "a", "expected", "linear"),
    [
        ([["1", "0"], ["1", "0"]], ["1", "2"], [("3/2", [["1", "0"]])], ("3/2", "0")),  # duplicates
        ([["1", "0"], ["-1", "0"]], ["1", "-1"], [], ("1", "0")),  # ReLU(z) − ReLU(−z) = z
        ([["1", "0"], ["-1", "0"]], ["1", "1"], [("1", [["1", "0"]])], ("0", "0")),  # opposite: |z|
        ([["2", "0"], ["-1", "0"]], ["1", "-2"], [], ("2", "0")),  # positive scaling cancels
        ([["0", "0"], ["0", "3"]], ["7", "1/3"], [("1/2", [["0", "1"]])], ("0", "1/2")),  # a neuron that sees nothing
        ([["1", "0"], ["1", "0"]], ["1", "-1"], [], None),  # cancelling: the head is unused too
    ],
)
def test_merged_and_cancelled_neurons(
    w: list[list[str]], a: list[str], expected: list[object], linear: tuple[str, ...] | None
) -> None:
    model = one_head(w, a)
    assert lines(model) == expected
    assert [tuple(map(str, block)) for block in model.canonical().linear] == ([] if linear is None else [linear])


def test_heads_with_equal_W_are_one_and_unused_heads_are_dropped() -> None:
    model = random_transformer(2, 2, 2, 3, "exponential", 0)
    doubled = replace(
        model,
        W=(*model.W, model.W[0], ((q(9, 9), q(9, 8)),)),
        O=(*model.O, (q(0, 0), q(0, 0)), (q(0, 0), q(0, 0))),
    )
    assert doubled.canonical() == model.canonical()
    split = replace(
        model,
        W=(*model.W, model.W[0]),
        O=(tuple(tuple(x - 1 for x in row) for row in model.O[0]), model.O[1], ((q(1, 1)), (q(1, 1)))),
    )
    assert split.canonical() == model.canonical()


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("seed", range(3))
def test_what_does_not_change_the_function_does_not_change_the_form(field: str, seed: int) -> None:
    model = random_transformer(3, 2, 2, 4, field, seed)
    order, heads = (2, 0, 3, 1), (1, 2, 0)
    factors = [fmpq(2), fmpq(1, 3), fmpq(5), fmpq(7, 2)]
    other = Transformer(
        model.field,
        model.dim,
        tuple(model.W[h] for h in heads),
        tuple(model.O[h] for h in heads),
        tuple(tuple(x * factors[j] for x in model.w[j]) for j in order),
        tuple(model.a[j] / factors[j] for j in order),
    )
    assert other.canonical() == model.canonical()
    assert equivalent(model, other).outcome is Outcome.HOLDS


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("seed", range(4))
def test_the_realisation_is_the_same_function(field: str, seed: int) -> None:
    model = random_transformer(2, 2, 2, 5, field, seed)
    noisy = replace(model, w=(*model.w, model.w[0], q(1, 1), q(-1, -1)), a=(*model.a, fmpq(2), fmpq(3), fmpq(-1)))
    made = as_transformer(noisy.canonical(), noisy.field, noisy.dim)
    assert made.canonical() == noisy.canonical()
    answers = TransformerAnswer(noisy), TransformerAnswer(made)
    for tokens in ([(1, 2)], [(1, -1), (2, 1)], [(0, 1), (1, 0), (-1, 1)]):
        assert answers[0](tokens) == answers[1](tokens)


def least_by_brute_force(form: CanonicalForm) -> int:
    """The fewest neurons, from the statement: try all signs and all doubled lines, by ranks."""
    flat = [[x for block in line.nu for x in block] for line in form.lines]
    target = [x for block in form.linear for x in block]
    best = len(flat) + 2
    for signs in product((1, -1), repeat=len(flat)):
        rest = [
            t - sum(s * line.kappa * row[i] for s, line, row in zip(signs, form.lines, flat, strict=True))
            for i, t in enumerate(target)
        ]
        if not any(rest):
            return len(flat) if flat or any(target) else 0
        if any(fmpq_mat([rest, row]).rank() == 1 for row in flat):
            best = min(best, len(flat) + 1)
    return best


@pytest.mark.parametrize(
    ("linear", "rows", "count"),
    [
        ((0, 0), [(2, (1, 0))], 2),
        ((2, 0), [(2, (1, 0))], 1),
        ((-2, 0), [(2, (1, 0))], 1),
        ((2, 3), [(2, (1, 0)), (3, (0, 1))], 2),
        ((2, 1), [(2, (1, 0)), (3, (0, 1))], 3),
        ((1, 1), [(2, (1, 0)), (3, (0, 1))], 4),
        ((3, 5), [(1, (1, 0)), (1, (0, 1)), (4, (1, 1))], 3),  # dependent: 4(1, 1) − (1, 0) + (0, 1)
        ((9, 5), [(1, (1, 0)), (1, (0, 1)), (4, (1, 1))], 4),  # 4(1, 1) + (0, 1) + 5(1, 0)
        ((4, 1), [(1, (1, 0)), (1, (0, 1)), (4, (1, 1))], 5),
        ((1, 0), [], 2),
        ((0, 1), [(1, (1, 0))], 3),
    ],
)
def test_fewest_neurons(linear: tuple[int, ...], rows: list[tuple[int, tuple[int, ...]]], count: int) -> None:
    form = canonical_form([((q(0, 0), q(0, 0)),)], [q(*linear)], [(fmpq(k), (q(*nu),)) for k, nu in rows])
    made = realise(form)
    assert made.is_least
    assert made.is_least_for_form
    assert len(made.neurons) == least_by_brute_force(form) == count
    field = random_transformer(1, 2, 1, 1, "rational", 0).field
    two = replace_units(form, len(random_transformer(1, 2, 1, 1, "rational", 0).W[0]))
    assert as_transformer(two, field, 2).canonical() == two


def replace_units(form: CanonicalForm, units: int) -> CanonicalForm:
    return replace(form, W=tuple(W * units for W in form.W))


def test_many_dependent_lines_are_not_called_least() -> None:
    pieces = [(fmpq(1), (q(1, i),)) for i in range(13)]
    made = realise(canonical_form([((q(0, 0), q(0, 0)),)], [q(1, 1)], pieces))
    assert not made.is_least
    assert not made.is_least_for_form
    assert len(made.neurons) == 15


@pytest.mark.parametrize("cancelling", [False, True])
def test_never_more_neurons_than_there_were(cancelling: bool) -> None:
    """13 dependent lines, most of the signs negative: signs are not searched, those of the neurons are taken."""
    w = [[str((-1) ** (i % 3 > 0)), str(i)] for i in range(13)]
    a = [str(1 + i % 4) for i in range(13)]
    if cancelling:  # 5·ReLU(2z) + 5·ReLU(−2z) on the line of neuron 1, and ReLU(z) − ReLU(−z) = z
        w += [[str(2 * int(x)) for x in w[1]], [str(-2 * int(x)) for x in w[1]], ["7", "5"], ["-7", "-5"]]
        a += ["5", "5", "1", "-1"]
    model = one_head(w, a)
    form = model.canonical()
    made = realise(form, model.slopes(form))
    assert len(form.lines) == 13
    assert len(made.neurons) == (15 if cancelling else 13)  # 15 = L + 2, from 17
    assert made.is_least == (not cancelling)
    assert as_transformer(form, model.field, 2, model.slopes(form)).canonical() == form


def test_lines_with_n_0_may_cancel_so_the_form_need_not_be_the_least() -> None:
    """|y·(A_1 − A_2)| + |y·(A_2 − A_3)| − |y·(A_1 − A_3)| = 0 needs no neuron, and three lines in its form."""
    W = [((q(0, 0), q(h, 0)),) for h in (3, 2, 1)]
    y, z, minus = q(0, 1), q(0, 0), q(0, -1)
    pieces = [(fmpq(1), (y, minus, z)), (fmpq(1), (z, y, minus)), (fmpq(-1), (y, z, minus))]
    made = realise(canonical_form(W, [z, z, z], pieces))
    assert made.is_least_for_form
    assert not made.is_least
    assert "for this form" in made.words


def test_normalised() -> None:
    factor, nu = normalised((q(0, -4), (fmpq(2, 3), fmpq(0))))
    assert (factor, nu) == (fmpq(-2, 3), (q(0, 6), q(-1, 0)))
    assert normalised((q(0, 0),)) == (0, (q(0, 0),))
    assert Line(fmpq(1), nu).token_normal == q(-1, 6)


# --- equality --------------------------------------------------------------------------------------


def test_different_functions_are_told_apart() -> None:
    model = one_head([["1", "0"], ["1", "3"]], ["1", "1"])
    for other, reason in (
        (one_head([["1", "0"], ["1", "3"]], ["1", "2"]), "different heads"),
        (one_head([["1", "0"], ["1", "3"], ["2", "1"], ["-2", "-1"]], ["1", "1", "1", "1"]), "visible"),
    ):
        verdict = equivalent(model, other)
        assert verdict.outcome is Outcome.FAILS
        assert reason in verdict.reason


def test_across_fields() -> None:
    """W = 0 exists in every field; W = 1 and W = log 2 in no common one."""

    def model(field: str, entry: str) -> Transformer:
        return from_dict(
            {
                "format": "exactmha/instance/1",
                "field": field,
                "dim": 1,
                "heads": [{"W": [[entry]], "O": [["1"]]}],
                "ffn": {"w": [["1"]], "a": ["1"]},
            }
        )

    assert equivalent(model("rational", "0"), model("exponential", "0")).outcome is Outcome.HOLDS
    assert equivalent(model("rational", "log(4)"), model("radical", "2*log(2)")).outcome is Outcome.HOLDS
    assert equivalent(model("rational", "log(2)"), model("exponential", "1")).outcome is Outcome.FAILS
    assert over_one_field(model("rational", "log(2)"), model("exponential", "1")) is None


@pytest.mark.parametrize(
    ("weights", "readouts", "a"),
    [
        (["0", None], ["1", "0"], "1"),  # head 2 is not read
        ([None], ["1"], "0"),  # no neuron has an effect
        (["0", None, None], ["1", "1", "-1"], "1"),  # heads 2 and 3 have one W and cancel
    ],
)
def test_only_used_W_need_a_common_field(weights: list[str | None], readouts: list[str], a: str) -> None:
    """W = 1 and W = log 2 lie in no common field, but here they are used by nothing."""

    def model(field: str, other: str) -> Transformer:
        heads = [{"W": [[x or other]], "O": [[y]]} for x, y in zip(weights, readouts, strict=True)]
        network = {"w": [["1"]], "a": [a]}
        return from_dict({"format": "exactmha/instance/1", "field": field, "dim": 1, "heads": heads, "ffn": network})

    first, second = model("exponential", "1"), model("rational", "log(2)")
    assert equivalent(first, second).outcome is equivalent(second, first).outcome is Outcome.HOLDS
    assert equivalent(first, replace(second, a=(fmpq(3),))).outcome is Outcome.FAILS


def test_an_even_difference_without_bends_on_tokens_is_found_by_search() -> None:
    """|y·(A_1 − A_2)| has n = 0: the forms alone do not prove a difference, a sequence does."""
    heads = [{"W": [["log(2)"]], "O": [["1"], ["-1"]]}, {"W": [["-log(2)"]], "O": [["-1"], ["1"]]}]
    content = {"format": "exactmha/instance/1", "field": "rational", "dim": 1, "heads": heads}
    one = from_dict({**content, "ffn": {"w": [["1", "0"], ["0", "1"]], "a": ["1", "1"]}})
    two = from_dict({**content, "ffn": {"w": [["1", "0"], ["0", "1"]], "a": ["2", "2"]}})
    verdict = equivalent(one, two)
    assert verdict.outcome is Outcome.FAILS
    assert "they differ on the sequence" in verdict.reason
