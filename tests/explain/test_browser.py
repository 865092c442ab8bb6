"""The page in a real browser (Debian's chromium, headless): formulas, controls, narrow screens, no errors.

A probe is a script added to a copy of the page; it writes what it measures into the page, which chromium then prints.
"""

import json
import re
import subprocess
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest
from outside import require_program

from exactmha.cli.main import run


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "story.html"
    assert run(["explain", "--example", "two-heads-2d", "--html", str(path)]) == 0
    return path.read_text(encoding="utf-8")


def browse(page: str, probe: str, folder: Path, *options: str) -> tuple[Any, str]:
    """Return what the probe measured, and what the browser complained about."""
    chromium = require_program("chromium", "chromium-browser", "google-chrome")
    path = folder / "page.html"
    # a string, so that a closing script tag in it cannot end the probe
    path.write_text(f"{page}<script>document.body.dataset.probe = JSON.stringify((() => {{{probe}}})())</script>")
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    command += ["--enable-logging=stderr", "--disable-background-networking", *options, "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    found = re.search(r'data-probe="([^"]*)"', done.stdout)
    assert found, done.stderr
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(unescape(found[1])), "\n".join(complaints)


def test_formulas_are_laid_out_and_nothing_is_reported(page: str, tmp_path: Path) -> None:
    probe = """
    const fraction = document.querySelector("mfrac").getBoundingClientRect();
    return [document.querySelectorAll("math").length, fraction.height > 20];
    """
    (count, is_high), complaints = browse(page, probe, tmp_path)
    assert count > 50
    assert is_high  # numerator above denominator: the browser knows MathML
    assert complaints == ""


def test_complaints_would_be_heard(page: str, tmp_path: Path) -> None:
    _, complaints = browse(page, 'console.error("heard"); return 1;', tmp_path)
    assert "heard" in complaints


def test_the_slider_follows_the_curve_over_its_whole_range(page: str, tmp_path: Path) -> None:
    probe = """
    const slider = document.querySelector("input[type=range]"), said = [];
    for (let k = Number(slider.min); k <= Number(slider.max); k += Number(slider.step)) {
      slider.value = k;
      slider.dispatchEvent(new Event("input"));
      said.push(document.querySelector("output").textContent);
    }
    return said;
    """
    said, _ = browse(page, probe, tmp_path)
    read = [re.fullmatch(r"(?:f ≈ (\S+)|a pole) at k = (\S+)", text) for text in said]
    values = {float(m[2]): m[1] for m in read if m}
    assert len(values) == len(said) > 100
    for k, f in values.items():  # r = 18, c = 1 and r = 4/3, c = 5; s·b = 3
        if k == -0.75:
            assert f is None
        else:
            assert float(f) == pytest.approx(3 + 18 * k / (1 + 18 * k) + 5 * k / (k + 0.75), rel=1e-4), k


def test_curves_can_be_hidden(page: str, tmp_path: Path) -> None:
    probe = """
    const boxes = [...document.querySelectorAll("input[type=checkbox]")];
    const shown = () => [...document.querySelectorAll("path[data-part]")].filter((p) => p.style.display !== "none");
    const counts = [shown().length];
    for (const box of boxes) { box.click(); counts.push(shown().length); }
    return counts;
    """
    assert browse(page, probe, tmp_path)[0] == [3, 2, 1, 0]


def test_questions_open_with_the_keyboard_s_click(page: str, tmp_path: Path) -> None:
    probe = """
    const details = document.querySelector("details"), answer = details.querySelector("p");
    const before = answer.checkVisibility();
    details.querySelector("summary").click();
    return [before, answer.checkVisibility(), details.querySelector("summary").tabIndex];
    """
    assert browse(page, probe, tmp_path)[0] == [False, True, 0]


@pytest.mark.parametrize("width", [320, 360, 1200])
def test_nothing_sticks_out_sideways(page: str, tmp_path: Path, width: int) -> None:
    host = f'<!DOCTYPE html><body><iframe style="width:{width}px;height:800px" srcdoc="{escape(page)}"></iframe>'
    later = """
    const inner = document.querySelector("iframe").contentDocument;
    const root = inner.documentElement;
    document.body.dataset.probe = JSON.stringify([root.scrollWidth, root.clientWidth]);
    """
    host += f"<script>window.addEventListener('load', () => {{{later}}});</script>"
    (scroll, client), _ = browse(host, "return 0;", tmp_path)
    assert 0 < client <= width
    assert scroll <= client


@pytest.mark.parametrize("dark", [False, True])
def test_text_is_readable_in_light_and_dark(page: str, tmp_path: Path, dark: bool) -> None:
    probe = """
    const style = getComputedStyle(document.body);
    return [style.color, style.backgroundColor].map((c) => c.match(/[0-9.]+/g).slice(0, 3).map(Number));
    """
    options = ["--blink-settings=preferredColorScheme=0"] if dark else ["--blink-settings=preferredColorScheme=1"]
    (ink, paper), _ = browse(page, probe, tmp_path, *options)
    assert (sum(paper) < sum(ink)) == dark
    light, shade = sorted((luminance(ink), luminance(paper)), reverse=True)
    assert (light + 0.05) / (shade + 0.05) > 7  # the contrast that WCAG calls AAA


def luminance(colour: list[float]) -> float:
    """Relative luminance, by the definition of WCAG."""
    linear = [c / 255 / 12.92 if c / 255 <= 0.03928 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
