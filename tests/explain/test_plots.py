"""Pictures as files, and what notebooks show."""

import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from outside import require_module

from exactmha.cli.main import run as command
from exactmha.conditions import Grid
from exactmha.errors import InputError
from exactmha.explain.equation import Equation, FalseEquation, Forms
from exactmha.explain.formula import number
from exactmha.explain.notebook import Shown, open_run, show, step
from exactmha.explain.run import Run, gather
from exactmha.random_instance import random_model

require_module("matplotlib")

from exactmha.explain.pictures.catalogue import NAMES, PICTURES, figure, pictures  # noqa: E402  # needs matplotlib
from exactmha.figures import plotting  # noqa: E402


@pytest.fixture(scope="module")
def plane() -> Run:
    return open_run("two-heads-2d")


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    yield
    plotting().close("all")


def parts(artists: Any) -> list[str]:
    """Return the parts that artists belong to."""
    return [artist.get_gid().removeprefix("part:") for artist in artists if artist.get_gid()]


def test_the_profile_shows_poles_and_samples(plane: Run) -> None:
    (axes,) = figure(plane, "profile").axes
    (samples,) = [line for line in axes.lines if line.get_marker() == "o"]
    assert [float(y) for y in samples.get_ydata()] == pytest.approx([3, 905 / 133, 3097 / 407, 439 / 55, 11369 / 1387])
    verticals = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 2]
    assert verticals == pytest.approx([-1 / 18, -3 / 4, 0])  # the two poles, and the axis
    assert [text.get_text() for text in axes.texts] == ["$-1/r_1=−0.0556$", "$-1/r_2=−0.75$"]
    assert axes.get_title() == "One profile: a pole for every head"
    assert axes.get_xlabel() == "number of copies k"
    total = [line for line in axes.lines if line.get_gid() == "part:total"]
    for line in total:  # the summands add up to the curve
        k = float(line.get_xdata()[200])
        assert float(line.get_ydata()[200]) == pytest.approx(3 + 18 * k / (1 + 18 * k) + 5 * k / (k + 0.75))


def test_the_ledger_adds_up_to_the_formula(plane: Run) -> None:
    (axes,) = figure(plane, "ledger").axes
    *stages, formula = [patch.get_width() for patch in axes.patches]
    assert stages == [1, 4, 4, 4, 8, 8]
    assert sum(stages) == formula == 29
    assert axes.get_xlabel() == "queries"


def test_the_matching_joins_heads_whose_product_is_a_pole_of_the_sum(plane: Run) -> None:
    (axes,) = figure(plane, "matching").axes
    thick = [line for line in axes.lines if line.get_linewidth() == 3]
    # poles 18 and 4/3 of the first profile, 1/12 and 1/6 of the second: 18/12 and 4/18 are those of the sum
    assert parts(thick) == ["pair-1-1", "pair-2-2"]
    assert sorted(parts(axes.lines)) == ["pair-1-1", "pair-1-2", "pair-2-1", "pair-2-2"]
    said = {text.get_text().strip(): text.get_position()[1] for text in axes.texts}
    # largest first on both sides, so that the lines of the two heads cross
    assert said["head 1, r = 18"] > said["head 2, r = 4/3"]
    assert said["ratio 1, r = 1/6"] > said["ratio 2, r = 1/12"]


@pytest.mark.parametrize("dim", [2, 3, 5])
def test_the_edges_of_the_grid_are_a_spanning_tree(dim: int) -> None:
    from exactmha.explain.pictures.grid import order

    reached = set()
    for node, edge in order(dim):
        if reached:
            assert edge is not None
            assert edge[:2] in reached  # joined to what is there, with its first edge: no circle
            assert edge[2:] == node
        else:
            assert edge is None
        assert node not in reached
        reached.add(node)
    assert len(reached) == dim * dim


def test_poles_that_cannot_be_seen_are_named() -> None:
    run = gather(random_model(3, 2, "exponential", seed=5), Grid(7, 9), seed=5)
    picture = next(p for p in PICTURES if p.name == "profile")
    poles = [-math.exp(-2), -math.exp(-8), -math.exp(19 / 3)]  # r = exp(2), exp(8), exp(−19/3)
    from exactmha.explain.pictures.profile import Curve

    assert sorted(Curve(run).poles) == pytest.approx(sorted(poles))
    (axes,) = figure(run, "profile").axes
    assert axes.get_title() == "One profile: 1 of its 3 poles in view"
    assert "Too near 0 or too far out to be seen: −563, −0.0003355." in picture.caption(run)
    assert "the poles −1/r (−0.1353)" in picture.caption(run)


def test_queries_for_tokens_drawn_again_are_shown_apart() -> None:
    run = gather(random_model(3, 2, "exponential", seed=5), Grid(7, 9))
    picture = next(p for p in PICTURES if p.name == "ledger")
    (axes,) = figure(run, "ledger").axes
    *stages, again, formula = [patch.get_width() for patch in axes.patches]
    assert sum(stages) == formula == 4 * 3 * 4 - 2 * 3 + 1 == 43
    assert again == run.verification.oracle_queries - 43 > 0
    assert axes.get_title() == f"43 queries, and {int(again)} for tokens drawn again"
    assert picture.scenes(run).scenes[-1].parts == ("again",)


def test_the_grid_counts_all_queries_in_its_last_scene() -> None:
    run = gather(random_model(3, 3, "rational", seed=0), Grid(7, 9))
    picture = next(p for p in PICTURES if p.name == "grid")
    scenes = picture.scenes(run).scenes
    assert len(scenes) == 1 + 9
    assert scenes[1].says == "profile (b_1, u_1): 7 of 103 queries"
    assert scenes[-1].says.endswith("103 of 103 queries")


def test_exponents_are_logarithms_before_and_entries_of_W_after(plane: Run) -> None:
    (axes,) = figure(plane, "exponents").axes
    said = [text.get_text() for text in axes.texts]
    cells = [text for text in said if text and "$" not in text]
    assert len(cells) == 2 * 2 * 4
    assert cells[4:8] == ["log(2)", "0", "log(3)", "log(2)"]  # W_1 of the example, by rows
    assert cells[12:16] == ["0", "log(3)", "log(2)", "0"]
    assert cells[0] == "≈ 2.89"  # log 18
    hatched = [patch.get_hatch() is not None for patch in axes.patches]
    assert hatched[:4] == [False, True, True, False]  # 18, 1/12 for b_1; 8/9, 3 for b_2, see test_story


def test_the_budget_chart_shows_the_learners_of_the_catalogue(plane: Run) -> None:
    (axes,) = figure(plane, "budget").axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    counts = dict(zip(names, [patch.get_width() for patch in axes.patches], strict=True))
    assert counts["paper"] == 29
    assert counts["residues"] == 21
    assert counts["adapted"] == 14
    assert "single-head" not in names
    (floor,) = [line.get_xdata()[0] for line in axes.lines]
    assert floor == 12


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (1, 3), (4, 6)])
@pytest.mark.parametrize("field", ["rational", "radical", "exponential"])
def test_every_part_of_a_scene_is_drawn(size: tuple[int, int], field: str) -> None:
    run = gather(random_model(*size, field, seed=1), Grid(3, 5))
    assert {p.name for p in pictures(run)} == set(NAMES) - ({"matching", "grid"} if run.dim == 1 else set())
    for picture in pictures(run):
        (axes,) = figure(run, picture.name).axes
        drawn = set(parts(axes.get_children()))
        drawn |= {
            t.arrow_patch.get_gid().removeprefix("part:")
            for t in axes.texts
            if getattr(t, "arrow_patch", None) and t.arrow_patch.get_gid()
        }
        scenes = picture.scenes(run)
        wanted = {p for scene in scenes.scenes for p in scene.parts or ()} | {p for p, _ in scenes.toggles}
        assert wanted == drawn or (picture.name == "profile" and wanted <= drawn)
        assert 0 <= scenes.start < len(scenes.scenes)


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
@pytest.mark.parametrize("name", NAMES)
def test_plot_option(name: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"p.{suffix}"
    assert command(["explain", "--example", "two-heads-2d", "--picture", name, "--plot", str(path)]) == 0
    assert path.stat().st_size > 5000


def test_bad_plots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options, complaint in (
        (["--plot", str(tmp_path / "p.txt")], "is no image file"),
        (
            ["--heads", "2", "--dim", "2", "--grid", "1000000", "--plot", str(tmp_path / "p.png")],
            "too large or too small",
        ),
        (["--plot", str(tmp_path / "p.png"), "--picture", "grid"], "pictures: profile, exponents, ledger, budget"),
        (["--picture", "ledger"], "goes with --plot only"),
    ):
        assert command(["explain", *options]) == 2
        assert complaint in capsys.readouterr().err
    huge = ["--heads", "2", "--dim", "2", "--grid", "1000000", "--html", str(tmp_path / "s.html")]
    assert command(["explain", *huge, "--plot", str(tmp_path / "p.png")]) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_same_picture_is_the_same_bytes(suffix: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{i}.{suffix}" for i in (1, 2)]
    for path in paths:
        arguments = ["explain", "--picture", "budget", "--plot", str(path)]
        subprocess.run([sys.executable, "-m", "exactmha", *arguments], check=True, timeout=60)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_shown_equations_are_verified_in_both_forms() -> None:
    true, false = (Equation(Forms(), (number(1), number(n))) for n in (1, 2))
    assert repr(Shown([true, true])) == "1 = 1\n1 = 1"
    assert Shown([true])._repr_latex_() == r"$$\begin{align*} 1& = 1 \end{align*}$$"
    for write in (repr, Shown._repr_latex_):
        with pytest.raises(FalseEquation):
            write(Shown([true, false]))


def test_show_gives_hidden_equations_too_and_names_what_there_is() -> None:
    run = gather(random_model(3, 3, "rational", seed=0), Grid(7, 9))
    assert len(show(run, "The later rows", "Ratios multiply").equations) == 3 * 2 * 3
    with pytest.raises(InputError, match="titles: The black box"):
        step(run, "Nothing")
    with pytest.raises(InputError, match="headings: Ratios multiply"):
        show(run, "The later rows", "Nothing")
