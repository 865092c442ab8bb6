"""Stories of real runs. README derives the numbers of two-heads-1d by hand: r = 1/2, 1/3 and c = −1, −2."""

from dataclasses import replace
from pathlib import Path

import pytest
from flint import fmpq

from exactmha.conditions import Grid
from exactmha.counterexamples.catalogue import CATALOGUE
from exactmha.errors import InputError
from exactmha.explain.equation import FalseEquation
from exactmha.explain.run import Run, gather
from exactmha.explain.tell import tell
from exactmha.explain.text import as_text
from exactmha.instance import from_dict
from exactmha.random_instance import EXAMPLES, example, random_model
from exactmha.recover.learn import Sampled

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
        "r_1 = 1/2 ≠ 1/3",
        "L_1,1,1 = log(1/2) = −log(2)",
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
    assert "= 29\n" in text


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
    assert "v = [1 + 2] = [3]" in text
    assert "v = [1 − 1] = [0]" in text
    assert "of 4 heads in the instance, 1 are canonical" in text


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
    with pytest.raises(InputError, match="1 to 4 canonical heads"):
        gather(random_model(0, 2, "rational", seed=0))
    with pytest.raises(InputError, match="dimension of at most 6"):
        gather(random_model(1, 7, "exponential", seed=0))
    with pytest.raises(InputError, match="no such step"):
        as_text(tell(run_of("two-heads-1d")), 11)


def test_examples_need_no_second_draw() -> None:
    for name in EXAMPLES:
        assert not run_of(name).recovery.redraws


def test_redraws_are_told() -> None:
    runs = (gather(random_model(3, 2, "rational", seed=0), Grid(3, 3), seed) for seed in range(9))
    run = next(run for run in runs if run.recovery.redraws)
    assert "was drawn again" in as_text(tell(run))
