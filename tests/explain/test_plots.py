"""Pictures as files, and what notebooks show."""

from pathlib import Path

import pytest
from outside import require_module

from exactmha.cli.main import run as command
from exactmha.conditions import Grid
from exactmha.errors import InputError
from exactmha.explain.equation import Equation, FalseEquation, Forms
from exactmha.explain.formula import number
from exactmha.explain.notebook import Shown, open_run, show, step
from exactmha.explain.run import gather
from exactmha.random_instance import random_model

require_module("matplotlib")


def test_the_figure_shows_poles_samples_and_the_ledger() -> None:
    from exactmha.explain.plots import run_figure
    from exactmha.figures import plotting

    run = open_run("two-heads-2d")
    figure = run_figure(run)
    left, right = figure.axes
    (samples,) = [line for line in left.lines if line.get_marker() == "o"]
    assert [float(y) for y in samples.get_ydata()] == pytest.approx([3, 905 / 133, 3097 / 407, 439 / 55, 11369 / 1387])
    verticals = [line.get_xdata()[0] for line in left.lines if len(line.get_xdata()) == 2]
    assert verticals == pytest.approx([-3 / 4, -1 / 18])
    *stages, formula = [patch.get_height() for patch in right.patches]
    assert sum(stages) == formula == 29
    assert left.get_xlabel() == "number of copies k"
    assert right.get_ylabel() == "queries"
    plotting().close(figure)


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_plot_option(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"p.{suffix}"
    assert command(["explain", "--plot", str(path)]) == 0
    assert path.stat().st_size > 5000


def test_bad_plots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["explain", "--plot", str(tmp_path / "p.txt")]) == 2
    assert "is no image file" in capsys.readouterr().err
    huge = ["--heads", "2", "--dim", "2", "--grid", "1000000"]
    assert command(["explain", *huge, "--plot", str(tmp_path / "p.png")]) == 2
    assert "too large or too small" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_shown_equations_are_verified_in_both_forms() -> None:
    true, false = (Equation(Forms(), (number(1), number(n))) for n in (1, 2))
    assert repr(Shown([true, true])) == "1 = 1\n1 = 1"
    assert Shown([true])._repr_latex_() == r"$$\begin{align*} 1& = 1 \end{align*}$$"
    for write in (repr, Shown._repr_latex_):
        with pytest.raises(FalseEquation):
            write(Shown([true, false]))


def test_show_gives_hidden_equations_too_and_names_what_there_is() -> None:
    run = gather(random_model(3, 3, "rational", seed=0), Grid(7, 9))
    assert len(show(run, "The later rows", "Poles multiply").equations) == 3 * 2 * 3
    with pytest.raises(InputError, match="titles: The black box"):
        step(run, "Nothing")
    with pytest.raises(InputError, match="headings: Poles multiply"):
        show(run, "The later rows", "Nothing")
