"""The page in a real browser (Debian's chromium, headless): formulas, controls, narrow screens, no errors.

A probe is a script added to a copy of the page; it writes what it measures into the page, which chromium then prints.
"""

import json
import re
import subprocess
from html import escape, unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from outside import require_module, require_program

from exactmha.cli.main import run

require_module("matplotlib")


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


_SLIDE = """
const figure = document.getElementById("picture-NAME"), said = [];
const slider = figure.querySelector("input[type=range]"), output = figure.querySelector("output");
const cursor = figure.querySelector("[data-part=cursor]");
for (let n = Number(slider.min); n <= Number(slider.max); n += 1) {
  slider.value = n;
  slider.dispatchEvent(new Event("input"));
  const faint = [...figure.querySelectorAll("[data-part]")].filter((p) => getComputedStyle(p).opacity < 0.5);
  const x = cursor ? cursor.getBoundingClientRect().x : 0;
  const parts = [...new Set(faint.map((p) => p.dataset.part))];
  said.push([output.textContent, slider.getAttribute("aria-valuetext"), parts, x]);
}
return said;
"""
_AT_ONCE = "<style>* { transition: none !important; }</style>"


def slide(page: str, name: str, folder: Path) -> list[Any]:
    """Move the slider of a picture over its whole range; return what is said, what stands back, where the cursor is."""
    found, complaints = browse(page + _AT_ONCE, _SLIDE.replace("NAME", name), folder)
    assert complaints == ""
    assert all(said == spoken for said, spoken, _, _ in found)
    return [(said, set(faint), x) for said, _, faint, x in found]


def test_the_slider_follows_the_curve_over_its_whole_range(page: str, tmp_path: Path) -> None:
    found = slide(page, "profile", tmp_path)
    read = [re.fullmatch(r"(?:f ≈ (\S+)|a pole) at k = (\S+)", text.replace("−", "-")) for text, _, _ in found]
    values = {float(m[2]): m[1] for m in read if m}
    assert len(values) == len(found) > 100
    for k, f in values.items():  # r = 18, c = 1 and r = 4/3, c = 5; s·b = 3
        if k == -0.75:
            assert f is None
        else:
            assert float(f) == pytest.approx(3 + 18 * k / (1 + 18 * k) + 5 * k / (k + 0.75), rel=1e-4), k
    places = [x for _, _, x in found]
    moved = [after - before for before, after in pairwise(places)]
    assert min(moved) > 0
    assert max(moved) == pytest.approx(min(moved), rel=0.05)  # the axis is linear


def test_the_cursor_stands_on_the_sample_that_it_reads(page: str, tmp_path: Path) -> None:
    probe = """
    const figure = document.getElementById("picture-profile"), slider = figure.querySelector("input[type=range]");
    const centre = (element) => { const box = element.getBoundingClientRect(); return box.x + box.width / 2; };
    const dots = [...figure.querySelectorAll("[data-part=answers] use")].map(centre), at = [];
    for (let n = Number(slider.min); n <= Number(slider.max); n += 1) {
      slider.value = n;
      slider.dispatchEvent(new Event("input"));
      if (/ at k = [0-4]$/.test(figure.querySelector("output").textContent))
        at.push(centre(figure.querySelector("[data-part=cursor]")));
    }
    return [dots, at];
    """
    (dots, at), _ = browse(page, probe, tmp_path)
    assert len(dots) == len(at) == 5
    assert at == pytest.approx(dots, abs=1.0)


def test_scenes_let_parts_stand_out(page: str, tmp_path: Path) -> None:
    pairs = {"pair-1-1", "pair-1-2", "pair-2-1", "pair-2-2"}
    matching = slide(page, "matching", tmp_path)
    assert [faint for _, faint, _ in matching] == [
        set(), pairs - {"pair-1-2"}, pairs - {"pair-1-1"}, pairs - {"pair-2-2"}, pairs - {"pair-2-1"},
        {"pair-1-2", "pair-2-1"},
    ]  # fmt: skip
    grid = slide(page, "grid", tmp_path)
    assert [len(faint) for _, faint, _ in grid] == [0, 6, 4, 2, 0]  # the tree grows: a profile and its edge at a time
    for name, count in (("exponents", 3), ("ledger", 7), ("budget", 9)):
        found = slide(page, name, tmp_path)
        assert len(found) == count
        assert [bool(faint) for _, faint, _ in found] == [False] + [True] * (count - 1)


def test_curves_can_be_hidden(page: str, tmp_path: Path) -> None:
    probe = """
    const boxes = [...document.querySelectorAll("#picture-profile input[type=checkbox]")];
    const groups = [...document.querySelectorAll("#picture-profile [data-part]")];
    const shown = () => new Set(groups.filter((p) => p.style.display !== "none").map((p) => p.dataset.part)).size;
    const counts = [shown()];
    for (const box of boxes) { box.click(); counts.push(shown()); }
    return counts;
    """
    assert browse(page, probe, tmp_path)[0] == [5, 4, 3, 2, 1]  # the cursor stays


def test_steps_advance_one_at_a_time(page: str, tmp_path: Path) -> None:
    probe = """
    const seen = [], steps = [...document.querySelectorAll("main > section")];
    const note = () => seen.push(steps.filter((s) => s.checkVisibility()).map((s) => s.id).join());
    const turn = () => dispatchEvent(new Event("hashchange"));  // chromium sends it only after the probe
    note();
    document.querySelector("#stepwise button").click();
    note();
    for (let n = 1; n < steps.length; n += 1) {
      if (n % 2) document.querySelector(".current a[rel=next]").click();
      else dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
      turn();
      note();
    }
    dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));  // there is no step after the last
    turn();
    note();
    document.querySelector(".current a[rel=prev]").click();
    turn();
    note();
    return [seen, document.activeElement.textContent, document.querySelector("#stepwise button").ariaPressed];
    """
    (seen, focused, pressed), complaints = browse(page, probe, tmp_path)
    names = [f"step-{n}" for n in range(1, 13)]
    assert seen == [",".join(names), *names, "step-12", "step-11"]
    assert focused == "Step 11: Counting every query"
    assert pressed == "true"
    assert complaints == ""


def test_questions_open_with_the_keyboard_s_click(page: str, tmp_path: Path) -> None:
    probe = """
    const details = document.querySelector("details"), answer = details.querySelector("p");
    const before = answer.checkVisibility();
    details.querySelector("summary").click();
    return [before, answer.checkVisibility(), details.querySelector("summary").tabIndex];
    """
    assert browse(page, probe, tmp_path)[0] == [False, True, 0]


def framed(page: str, width: int, probe: str, folder: Path) -> Any:
    """Return what a probe measures in a frame of this width, in which `inner` is the page."""
    host = f'<!DOCTYPE html><body><iframe style="width:{width}px;height:800px" srcdoc="{escape(page)}"></iframe>'
    later = f"""
    const inner = document.querySelector("iframe").contentDocument;
    document.body.dataset.probe = JSON.stringify((() => {{{probe}}})());
    """
    host += f"<script>window.addEventListener('load', () => {{{later}}});</script>"
    return browse(host, "return 0;", folder)[0]


@pytest.mark.parametrize("width", [320, 360, 1200])
def test_nothing_sticks_out_sideways(page: str, tmp_path: Path, width: int) -> None:
    probe = "const root = inner.documentElement; return [root.scrollWidth, root.clientWidth];"
    scroll, client = framed(page, width, probe, tmp_path)
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


A4 = 718
"""Pixels between the margins of 1 cm that browsers leave on A4 paper: (21 − 2)/2.54·96."""
STORIES = [
    ("--heads", "3", "--dim", "3", "--field", "exponential"),
    ("--heads", "2", "--dim", "6", "--field", "radical"),
    ("--heads", "4", "--dim", "2", "--field", "rational"),
]


def printed(page: str) -> str:
    """Return a page that looks on screens as it does on paper."""
    assert page.count("@media print {") == 1
    return page.replace("@media print {", "@media all {")


@pytest.mark.parametrize("arguments", STORIES, ids=" ".join)
def test_on_paper_no_equation_is_cut(arguments: tuple[str, ...], tmp_path: Path) -> None:
    assert run(["explain", *arguments, "--html", str(tmp_path / "story.html")]) == 0
    page = (tmp_path / "story.html").read_text(encoding="utf-8")
    probe = """
    const boxes = [...inner.querySelectorAll(".eq")];
    return [boxes.length, boxes.filter((b) => b.scrollWidth > b.clientWidth).map((b) => b.textContent)];
    """
    count, cut = framed(printed(page), A4, probe, tmp_path)
    assert count > 50
    assert cut == []
    narrow = framed(page, 320, probe, tmp_path)[1]
    assert narrow != []  # the probe sees what is cut


def test_on_paper_every_answer_is_there_and_no_link(page: str, tmp_path: Path) -> None:
    probe = """
    const visible = (which) => [...document.querySelectorAll(which)].filter((e) => e.checkVisibility()
      && e.getBoundingClientRect().height > 0).length;
    return [visible("details > p"), visible(".turn"), visible("nav ol")];
    """
    assert browse(page, probe, tmp_path)[0] == [0, 12, 1]
    assert browse(printed(page), probe, tmp_path)[0] == [12, 0, 0]


def test_the_edge_of_what_can_be_scrolled_is_shaded(page: str, tmp_path: Path) -> None:
    # the covers move with the formula and the shadows do not: what is cut looks cut
    probe = """
    return [".eq", "pre"].map((which) => {
      const box = document.querySelector(which) || document.body.appendChild(document.createElement("pre"));
      const style = getComputedStyle(box);
      return [style.backgroundAttachment, style.backgroundImage.match(/linear-gradient/g).length];
    });
    """
    assert browse(page, probe, tmp_path)[0] == [["local, local, scroll, scroll", 4]] * 2
