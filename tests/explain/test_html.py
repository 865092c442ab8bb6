"""The HTML page: self-contained, well-formed, accessible; its pictures say what the run says."""

import json
import re
import sys
from dataclasses import replace
from html import unescape
from itertools import pairwise
from typing import Any

import pytest
from explain.pages import Page
from outside import require_module

from exactmha.conditions import Grid
from exactmha.explain.equation import FalseEquation
from exactmha.explain.html import as_html
from exactmha.explain.run import Run, gather
from exactmha.explain.tell import tell
from exactmha.random_instance import example, random_model

require_module("matplotlib")

from exactmha.explain.pictures.catalogue import PICTURES, pictures  # noqa: E402  # needs matplotlib
from exactmha.explain.pictures.profile import Curve  # noqa: E402


@pytest.fixture(scope="module")
def plane() -> Run:
    found = example("two-heads-2d")
    return gather(found.model, found.grid)


@pytest.fixture(scope="module")
def text(plane: Run) -> str:
    return as_html(tell(plane), plane)


def test_the_page_is_nested_and_every_link_leads_somewhere(text: str) -> None:
    page = Page(text)
    assert page.open == []
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    targets = [str(a["href"]) for a in page.all("a")]
    assert targets
    assert all(target.removeprefix("#") in ids for target in targets)
    for section in page.all("section"):
        assert section["aria-labelledby"] in ids


def test_the_page_asks_no_network(text: str) -> None:
    assert not re.search(r"https?://|//[a-z]|src=|@import|url\((?!#)", text)
    assert "default-src 'none'" in text


def test_headings_go_down_one_level_at_a_time(text: str) -> None:
    levels = [int(tag[1]) for tag, _ in Page(text).tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_pictures_have_names_and_formulas_can_be_reached(text: str) -> None:
    page = Page(text)
    assert len(page.all("svg")) == 6
    assert all(a["role"] == "img" and a["aria-label"] for a in page.all("svg"))
    boxes = [a for a in page.all("div") if a.get("class") == "eq"]
    assert len(boxes) == len(page.all("math")) > 50
    assert all(a["tabindex"] == "0" for a in boxes)


def test_every_step_has_a_question_hidden_at_first(text: str) -> None:
    page = Page(text)
    assert len(page.all("details")) == len(page.all("section")) == 12
    assert not any("open" in a for a in page.all("details"))


def test_every_picture_has_its_step(plane: Run) -> None:
    assert {picture.step for picture in PICTURES} <= {step.title for step in tell(plane).steps}


def test_the_curve_goes_through_the_samples_and_its_poles_are_negative(plane: Run) -> None:
    curve = Curve(plane)
    assert curve.poles == pytest.approx([-1 / 18, -3 / 4])  # r = 18 and 4/3, see test_story
    assert curve.samples == pytest.approx([curve.total(k) for k in range(5)])


def scenes(text: str) -> dict[str, dict[str, Any]]:
    """Return what the sliders run through, by the name of the picture."""
    found = re.findall(r'<figure id="picture-([a-z]+)" data-scenes="([^"]*)"', text)
    return {name: json.loads(unescape(data)) for name, data in found}


def test_scenes_name_parts_that_the_picture_has(text: str) -> None:
    figures = dict(re.findall(r'<figure id="picture-([a-z]+)"(.*?)</figure>', text, flags=re.DOTALL))
    assert list(scenes(text)) == [picture.name for picture in PICTURES]
    for name, data in scenes(text).items():
        drawn = set(re.findall(r'data-part="([^"]*)"', figures[name])) - {"cursor"}
        wanted = {part for scene in data["scenes"] for part in scene["parts"] or ()}
        assert drawn == wanted | {part for part, _ in data["toggles"]}
        assert ('data-part="cursor"' in figures[name]) == (name == "profile")


def test_what_the_matching_says_is_exact(text: str) -> None:
    said = [scene["says"] for scene in scenes(text)["matching"]["scenes"]]
    assert said[0] == "all pairs"
    assert said[1] == "head 1 with ratio 1: 18·(1/6) ≠ 3/2; 18·(1/6) ≠ 2/9: not one head"
    assert said[2] == "head 1 with ratio 2: 18·(1/12) = 3/2, a ratio of the sum profile: one head"
    assert len(said) == 1 + 4 + 1


def test_a_false_product_cannot_be_said(plane: Run) -> None:
    from exactmha.explain.pictures.matching import Matched

    matched = Matched(plane)
    matched.total = matched.first
    with pytest.raises(FalseEquation):
        matched.says(0, 0)


def test_colours_of_pictures_are_those_of_the_theme(text: str) -> None:
    from exactmha.explain.pictures.picture import HEADS

    drawn = "".join(re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL))
    assert "var(--ink)" in drawn
    # whatever has a colour of its own is one of the palette, which is legible on light and dark paper
    assert set(re.findall(r"#[0-9a-f]{6}", drawn)) <= set(HEADS)


def test_numbers_too_large_for_a_picture() -> None:
    run = gather(random_model(2, 2, "exponential", seed=0), Grid(10**6, 10**6))
    page = as_html(tell(run), run)
    assert page.count("No picture: the numbers of this run are too large or too small to be drawn.") == 1
    assert len(Page(page).all("svg")) == len(pictures(run)) - 1


def test_without_matplotlib_the_page_says_so(plane: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = as_html(tell(plane), plane)
    assert page.count("No picture: a picture needs matplotlib") == len(PICTURES)
    assert Page(page).all("svg") == []


def test_prose_is_escaped_and_names_are_set_with_indices(plane: Run) -> None:
    page = as_html(replace(tell(plane), introduction="a < b & b_1 <script> U^T"), plane)
    assert "<p>a &lt; b &amp; <i>b</i><sub>1</sub> &lt;script&gt; <i>U</i><sup>T</sup></p>" in page
