"""Stories of real runs. README derives the numbers of two-heads-1d by hand: r = 1/2, 1/3 and c = −1, −2."""

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from flint import fmpq

from exactmha.conditions import Grid, failure_bound
from exactmha.counterexamples.build import build
from exactmha.counterexamples.catalogue import CATALOGUE, assumption
from exactmha.counterexamples.setting import Setting
from exactmha.errors import InputError
from exactmha.explain.equation import FalseEquation
from exactmha.explain.guess import guessed
from exactmha.explain.notation import Plain
from exactmha.explain.run import Run, gather
from exactmha.explain.story import Step, Story
from exactmha.explain.tell import tell
from exactmha.explain.text import as_text
from exactmha.fields import FIELD_NAMES
from exactmha.instance import from_dict
from exactmha.outcome import Outcome
from exactmha.random_instance import EXAMPLES, example, random_model
from exactmha.recover.learn import Redraw, Sampled

PROOFS = Path(__file__).parents[2] / "proofs"


def run_of(name: str) -> Run:
    found = example(name)
    return gather(found.model, found.grid)


@pytest.fixture(scope="module")
def hand() -> Run:
    return run_of("two-heads-1d")


@pytest.fixture(scope="module")
def plane() -> Run:
    return run_of("two-heads-2d")


def test_the_story_of_the_example_by_hand(hand: Run) -> None:
    text = as_text(tell(hand))
    for line in (
        "f_1 = (1·(1/2)·0 + 1)/(1·(1/2) + 1) + (1·(1/3)·0 + 2)/(1·(1/3) + 1) = 13/6",
        "f_4 = 3 − 4·(1/2)/(1 + 4·(1/2)) − 2·4·(1/3)/(1 + 4·(1/3)) = 25/21",
        "r_1 = exp([1]^T·[log(2)]·[−1]) = 1/2",
        "v_2^T·b_1 = [2]^T·[1] = 2",
        "g_1 = (13/6 − 3)/1 = −5/6",
        "q_1 = r_1 + r_2 = 1/2 + 1/3 = 5/6",
        "q_2 = r_1·r_2 = 1/2·(1/3) = 1/6",
        "c_1·(1/3) + c_2·(1/4) = 13/6 − 3",
        "r_1 = 2305843009213693924 = 1/2",  # twice this is the prime plus 1
        "r_1 = 1/2 ≠ 1/3 = r_2",
        "det([−1]) = −1 ≠ 0",
        "L_1,1,1 = log(r_1(b_1, u_1)) = log(1/2) = −log(2)",
        "W_2 = [1]^(−1)·[−log(3)]·[−1]^(−1) = [log(3)]",
        "v_2 = ([−1]^T)^(−1)·[−2] = [2]",
        "queries = 1 + 4 + 0 + 0 + 0 + 0 = 4·2·1 − 2·2 + 1 = 5",
    ):
        assert line in text


def test_matching_in_the_plane(plane: Run) -> None:
    text = as_text(tell(plane))
    # W_1 = [log 2, 0; log 3, log 2], b_1 = (1,1), u_1 = (2,−1): logit 2·log 2 + 2·log 3 − log 2, so r = 18
    assert plane.recovery.b[0] == (1, 1)
    assert plane.recovery.u == ((2, -1), (-1, -1))
    assert "r_1(b_1, u_1 + u_2) = 18·(1/12) = 3/2" in text
    assert "18·(1/6) ≠ 3/2" in text
    assert "c_1(b_1, u_1) = c_1(b_2, u_1) = c_1(b_1 + b_2, u_1) = 1" in text
    assert "= 29\n" in text


def test_the_linear_equations_have_the_solution_that_is_shown(hand: Run) -> None:
    (lines,) = [g.equations for g in separating(hand).groups if g.heading.startswith("Linear equations for Q")]
    # q = (5/6, 1/6): −1/15 + 5/36 − 13/180 = 0; the coefficients follow from g = −5/6, −13/20, −8/15
    assert Plain().equation(lines[0]).endswith("= −1/15 + 1/6·q_1 − 13/30·q_2 = 0")
    assert fmpq(-1, 15) + fmpq(1, 6) * fmpq(5, 6) - fmpq(13, 30) * fmpq(1, 6) == 0


def test_the_guess_is_a_solution_modulo_its_prime(plane: Run) -> None:
    first = plane.sampled("b_1", "u_1")
    found = guessed(plane, first)
    assert found is not None
    p = found.place.prime
    assert found.ratios == (18, 4 * pow(3, -1, p) % p)
    assert found.residues == (1, 5)
    assert found.coefficients == (58 * pow(3, -1, p) % p, 24)
    profile = first.profile
    other = replace(first, profile=replace(profile, exponents=tuple(reversed(profile.exponents))))
    swapped = guessed(plane, other)
    assert swapped is not None
    assert swapped.ratios == found.ratios[::-1]
    unknown = replace(first, profile=replace(profile, exponents=((7, 7), profile.exponents[1])))
    assert guessed(plane, unknown) is None


def test_linear_equations_and_determinants_are_written_up_to_three_heads() -> None:
    for heads, written in ((1, True), (3, True), (4, False)):
        run = gather(random_model(heads, 1, "exponential", seed=0))
        headings = [g.heading for step in tell(run).steps for g in step.groups]
        assert any(heading.startswith("Linear equations for Q") for heading in headings) is written
        assert any("is not 0" in heading for heading in headings) is written
        assert ("too long to be shown" in as_text(tell(run))) is not written


def separating(run: Run) -> Step:
    (step,) = [step for step in tell(run).steps if step.title == "Separating the heads"]
    return step


@pytest.mark.parametrize("field", ["exponential", "rational", "radical"])
@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (1, 2), (2, 2), (3, 2), (2, 3), (4, 2)])
def test_every_field_and_shape(field: str, heads: int, dim: int) -> None:
    run = gather(random_model(heads, dim, field, seed=1))
    story = tell(run)
    assert len(story.steps) == (10 if dim == 1 else 12)
    assert f"All {story.verified()} equations" in as_text(story)
    # at least every sample of the first profile, every logarithm and every W and v
    assert story.verified() > 2 * heads + heads * dim**2 + 2 * heads


def test_merged_and_discarded_heads_are_told() -> None:
    head = {"W": [["1"]], "v": ["1"]}
    heads = [head, {"W": [["1"]], "v": ["2"]}, {"W": [["2"]], "v": ["1"]}, {"W": [["2"]], "v": ["-1"]}]
    model = from_dict({"format": "exactmha/instance/1", "dim": 1, "heads": heads})
    text = as_text(tell(gather(model)))
    for line in (
        "v_1 = v'_1 + v'_2 = [1 + 2] = [3]",
        "W'_2 = W'_1 = [1]",
        "v'_3 + v'_4 = [1 − 1] = [0]",
        "W'_4 = W'_3 = [2]",
        "of 4 heads in the instance, 1 is canonical",
        "heads 1 and 2 of the instance share one W and are merged into head 1 here",
        "heads 3 and 4 of the instance share one W, have v with sum 0, and are discarded",
        "The layer (in its canonical form, see step 2), hidden from the learner:",
    ):
        assert line in text


def test_a_head_with_v_0_is_discarded_by_name() -> None:
    heads = [{"W": [["1"]], "v": ["1"]}, {"W": [["2"]], "v": ["0"]}]
    model = from_dict({"format": "exactmha/instance/1", "dim": 1, "heads": heads})
    text = as_text(tell(gather(model)))
    assert "head 2 of the instance has v = 0 and is discarded" in text
    assert "v'_2 = [0]\n" in text


def test_heads_that_verify_numbers_otherwise_are_named(plane: Run) -> None:
    assert plane.recovery.heads[0] == plane.recovery.labelled_heads[1]
    numbering = "exactmha verify sorts them: head 1 is head 2 there, head 2 is head 1 there"
    assert numbering in as_text(tell(plane), width=200)
    alone = gather(random_model(1, 1, "rational", seed=0))
    assert "sorts them" not in as_text(tell(alone))


def changed(run: Run, name: str, **changes: object) -> Run:
    sampled = run.profiles[name]
    profile = replace(sampled.profile, **changes)
    return replace(run, profiles={**run.profiles, name: replace(sampled, profile=profile)})


@pytest.mark.parametrize("name", ["(b_1, u_1)", "(b_1, u_2)", "(b_1, u_1+u_2)", "(b_2, u_2)", "(b_1+b_2, u_1)"])
def test_a_wrong_number_anywhere_is_noticed(plane: Run, name: str) -> None:
    profile = plane.profiles[name].profile
    exponents, residues = profile.exponents, profile.residues
    wrong_exponents = ((exponents[0][0] + 1, *exponents[0][1:]), *exponents[1:])
    wrong_residues = ((residues[0][0] + 1,), *residues[1:])
    for run in (changed(plane, name, exponents=wrong_exponents), changed(plane, name, residues=wrong_residues)):
        with pytest.raises(FalseEquation):
            as_text(tell(run))


def test_a_wrong_answer_or_head_is_noticed(plane: Run) -> None:
    first = plane.profiles["(b_1, u_1)"]
    lied: Sampled = replace(first, answers=[first.answers[0], first.answers[0], *first.answers[2:]])
    head = plane.recovery.labelled_heads[0]
    other = replace(head, v=((head.v[0][0] + fmpq(1),), *head.v[1:]))
    recovery = replace(plane.recovery, labelled_heads=(other, *plane.recovery.labelled_heads[1:]))
    for run in (replace(plane, profiles={**plane.profiles, "(b_1, u_1)": lied}), replace(plane, recovery=recovery)):
        with pytest.raises(FalseEquation):
            as_text(tell(run))


def test_long_lists_are_cut_but_verified() -> None:
    run = gather(random_model(3, 3, "rational", seed=0))
    assert "more, verified alike" in as_text(tell(run))
    name = "(b_1+b_3, u_3)"  # the last matching, which is not displayed
    residues = run.profiles[name].profile.residues
    with pytest.raises(FalseEquation):
        as_text(tell(changed(run, name, residues=((residues[0][0] + 1,), *residues[1:]))))


def test_steps_cite_proofs_and_counterexamples_that_exist(plane: Run) -> None:
    names = {construction.name for construction in CATALOGUE}
    for step in tell(plane).steps:
        assert (PROOFS / f"{step.proof}.md").is_file()
        words = step.otherwise.split("exactmha counterexample ")[1:]
        assert {word.split(")")[0] for word in words} <= names


def test_runs_that_are_no_story() -> None:
    with pytest.raises(InputError, match="zero function; see exactmha canonical"):
        gather(random_model(0, 2, "rational", seed=0))
    with pytest.raises(InputError, match="1 to 4 canonical heads"):
        gather(random_model(5, 2, "exponential", seed=0))
    with pytest.raises(InputError, match="dimension of at most 6"):
        gather(random_model(1, 7, "exponential", seed=0))
    with pytest.raises(InputError, match="no such step"):
        as_text(tell(run_of("two-heads-1d")), 11)


def test_examples_need_no_second_draw() -> None:
    for name in EXAMPLES:
        assert not run_of(name).recovery.redraws


def test_redraws_are_told_where_their_condition_failed(plane: Run) -> None:
    seen, hidden = "1 of 2 heads are told apart", "C3: v_1·u = 0"
    cases = [
        ("Random tokens", "u_2", ("C1",), "token u_2", "u_2 depends on u_1", "u_2 depends on u_1"),
        ("Separating the heads", "u_1", ("C2", "C3"), "(b_1, u_1)", seen, hidden),
        ("Matching heads across the first row", "u_2", ("C4",), "(b_1, u_1+u_2)", "a product fits", "a product fits"),
        ("The later rows", "b_2", ("C2",), "(b_1+b_2, u_1)", seen, "C2: heads 1 and 2 share a pole"),
    ]
    diagnoses = tuple((Redraw(t, c, p, w, 4, (), ()), why) for _, t, c, p, w, why in cases)
    story = tell(replace(plane, verification=replace(plane.verification, diagnoses=diagnoses)))
    told = {step.title: [x for x in step.checked if "was drawn again" in x] for step in story.steps}
    behind = "; behind the curtain, numbered as in exactmha verify: "
    assert {title: lines for title, lines in told.items() if lines} == {
        "Random tokens": ["u_2 was drawn again: C1 failed: u_2 depends on u_1 (4 queries, counted apart)"],
        "Separating the heads": [
            f"u_1 was drawn again: C2 or C3 failed in (b_1, u_1): {seen} (4 queries, counted apart){behind}{hidden}"
        ],
        "Matching heads across the first row": [
            "u_2 was drawn again: C4 failed in (b_1, u_1+u_2): a product fits (4 queries, counted apart)"
        ],
        "The later rows": [
            f"b_2 was drawn again: C2 failed in (b_1+b_2, u_1): {seen} (4 queries, counted apart){behind}"
            "C2: heads 1 and 2 share a pole"
        ],
    }


def test_many_redraws_in_one_step_are_counted(plane: Run) -> None:
    diagnoses = tuple((Redraw("u_2", ("C4",), "(b_1, u_2)", f"fits {n}", 1, (), ()), f"fits {n}") for n in range(7))
    text = as_text(tell(replace(plane, verification=replace(plane.verification, diagnoses=diagnoses))), 7)
    assert text.count("was drawn again: C4 failed in (b_1, u_2): fits") == 4
    assert "… and 3 redraws more of this kind" in text


def test_every_redraw_of_a_run_is_told_or_counted() -> None:
    runs = [gather(random_model(3, 2, "rational", seed=0), Grid(3, 3), seed) for seed in range(9)]
    assert max(len(run.recovery.redraws) for run in runs) > 2
    for run in runs:
        lines = [line for step in tell(run).steps for line in step.checked]
        more = [int(line.split()[2]) for line in lines if line.startswith("… and ") and "redraw" in line]
        assert sum("was drawn again" in line for line in lines) + sum(more) == len(run.recovery.redraws)


def test_the_title_counts_queries_for_tokens_drawn_again(plane: Run) -> None:
    assert tell(plane).title.endswith("are learned from 29 queries")
    spent = replace(plane.recovery, redraws=(Redraw("u_2", ("C2", "C3"), "(b_1, u_2)", "1 of 2", 4, (), ()),))
    assert tell(replace(plane, recovery=spent)).title.endswith("from 29 queries, and 4 for tokens drawn again")


def test_a_vacuous_bound_is_called_so(plane: Run) -> None:
    third = as_text(tell(plane), 3, width=200)
    assert "the bound on the probability of bad tokens is above 1 for so few values, vacuous" in third
    assert "the bounds add up to 12.4, which says nothing (vacuous)" in third
    assert as_text(tell(plane), 12).count("vacuous") == 1
    grid = Grid(10**6, 10**6)
    assert 0 < failure_bound(2, 2, grid) < 1
    text = as_text(tell(gather(random_model(2, 2, "exponential", seed=0), grid)))
    assert "vacuous" not in text
    assert "tokens drawn like these violate C1 to C4 with probability at most 2^" in text


SIZES = [(H, d, field) for field in FIELD_NAMES for H in (1, 2, 3) for d in (1, 2, 3)]


@pytest.fixture(scope="module")
def stories() -> dict[tuple[int, int, str], Story]:
    return {size: tell(gather(random_model(*size, seed=1))) for size in SIZES}


def test_counterexamples_that_are_named_exist_at_this_size(stories: dict[tuple[int, int, str], Story]) -> None:
    missing = set()
    for size, story in stories.items():
        for step in story.steps:
            for rest in step.otherwise.split("exactmha counterexample ")[1:]:
                found = build(assumption(rest.split(")")[0]), Setting(*size, 0))
                assert found.outcome is Outcome.HOLDS
            if "Not for" in step.otherwise or "Not over" in step.otherwise:
                missing.add(size)
    assert (2, 2, "rational") not in missing  # there all exist
    assert {(1, 2, "rational"), (2, 1, "rational"), (2, 2, "exponential")} <= missing


def test_what_goes_wrong_belongs_to_the_step(plane: Run) -> None:
    named = [step.otherwise.split("exactmha counterexample ")[1:] for step in tell(plane).steps]
    assert [[rest.split(")")[0] for rest in names] for names in named] == [
        ["position-encoding"],
        ["unmerged"],
        ["dependent-tokens", "fixed-tokens"],
        ["one-sample-short"],
        ["colliding-poles", "invisible-head"],
        ["wrong-head-count"],
        ["no-matching"],
        ["tokens-in-a-subspace"],
        ["no-matching"],
        [],
        ["short-sequences"],
        ["bound-only"],
    ]


def test_no_equation_shows_one_side_twice_in_a_row(stories: dict[tuple[int, int, str], Story]) -> None:
    for story in stories.values():
        for step in story.steps:
            for group in step.groups:
                for equation in group.equations:
                    sides = Plain().equation(equation).replace(" ≠ ", " = ").split(" = ")
                    assert all(left != right for left, right in pairwise(sides)), group.heading


def test_poles_neither_multiply_nor_have_logarithms(stories: dict[tuple[int, int, str], Story]) -> None:
    for story in stories.values():
        for step in story.steps:
            words = " ".join([step.purpose, step.otherwise, step.question.text, step.question.answer, *step.checked])
            assert not any(
                bad in words for bad in ("of a pole", "products of the poles", "sort the poles", "r_h' is a pole")
            )


def test_the_theorem_comes_first_and_answers_last(hand: Run) -> None:
    lines = as_text(tell(hand)).splitlines()
    assert lines[2].startswith("The theorem: for all H and d and every layer of H attention heads")
    at = lines.index("Answers to the questions")
    assert [line[:12].strip() for line in lines[at + 1 :] if line[2] == "S"] == [f"Step {n}" for n in range(1, 11)]
    assert not any(line.startswith("  Answer") for line in lines[:at])
    assert as_text(tell(hand), 4).splitlines()[-2] == "Answer"


def test_tokens_are_named_before_they_are_used(plane: Run) -> None:
    text = as_text(tell(plane))
    assert text.index("b_1 = [1; 1]") < text.index("hidden from the learner:") < text.index("f_1 = ")
    assert text.index("with s = Σ_h v_h") < text.index("s^T·b")


@pytest.mark.parametrize("width", [80, 97, 110])
def test_lines_are_as_wide_as_asked(plane: Run, width: int) -> None:
    assert max(map(len, as_text(tell(plane), width=width).splitlines())) <= width


def test_every_step_with_numbers_has_the_label(plane: Run) -> None:
    story = tell(plane)
    for number, step in enumerate(story.steps, 1):
        shown = as_text(story, number).count("\n  Numbers  ")
        assert shown == bool(step.given or step.groups)


def test_values_that_are_hard_to_read_get_a_decimal() -> None:
    run = gather(random_model(2, 2, "exponential", seed=0))
    text = as_text(tell(run), 4)
    value = run.exact_answer(run.sampled("b_1", "u_1"), 1)
    # f_1 = −7/3 + 6/(1 + e)
    assert abs(float(value.enclosure(17).mid()) - (-7 / 3 + 6 / (1 + math.e))) < 1e-12
    assert "f_1 = −7/3 + 6·(1/(1 + exp(1))) ≈ −0.7197" in text
    assert "f_0 = 2/3\n" in text
