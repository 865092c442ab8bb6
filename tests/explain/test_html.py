"""The HTML page: self-contained, well-formed, accessible; its pictures say what the run says."""

import json
import re
from dataclasses import replace
from html import unescape
from itertools import pairwise

import pytest
from explain.pages import Page

from exactmha.conditions import Grid
from exactmha.explain.drawing import Curve, grid_picture, ledger_picture, matching_picture, profile_picture
from exactmha.explain.html import PICTURES, as_html
from exactmha.explain.run import Run, gather
from exactmha.explain.tell import tell
from exactmha.random_instance import example, random_model


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
    assert not re.search(r"https?://|//[a-z]|src=|@import|url\(", text)
    assert "default-src 'none'" in text


def test_headings_go_down_one_level_at_a_time(text: str) -> None:
    levels = [int(tag[1]) for tag, _ in Page(text).tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_pictures_have_names_and_formulas_can_be_reached(text: str) -> None:
    page = Page(text)
    assert len(page.all("svg")) == 4
    assert all(a["role"] == "img" and a["aria-label"] for a in page.all("svg"))
    boxes = [a for a in page.all("div") if a.get("class") == "eq"]
    assert len(boxes) == len(page.all("math")) > 50
    assert all(a["tabindex"] == "0" for a in boxes)


def test_every_step_has_a_question_hidden_at_first(text: str) -> None:
    page = Page(text)
    assert len(page.all("details")) == len(page.all("section")) == 12
    assert not any("open" in a for a in page.all("details"))


def test_titles_of_steps_with_pictures_exist(plane: Run) -> None:
    assert set(PICTURES) <= {step.title for step in tell(plane).steps}


def test_the_curve_goes_through_the_samples_and_its_poles_are_negative(plane: Run) -> None:
    curve = Curve(plane)
    assert curve.poles == pytest.approx([-1 / 18, -3 / 4])  # r = 18 and 4/3, see test_story
    assert curve.samples == pytest.approx([curve.total(k) for k in range(5)])
    data = re.search(r'data-curve="([^"]*)"', profile_picture(plane))
    assert data
    assert json.loads(unescape(data[1]))["poles"] == curve.poles


def test_pictures_count_what_they_show(plane: Run) -> None:
    assert profile_picture(plane).count("<circle") == 5
    assert grid_picture(plane).count("<circle") == 4
    assert grid_picture(plane).count('class="edge"') == 3
    assert matching_picture(plane).count('class="true"') == 2
    assert matching_picture(plane).count('class="false"') == 2
    widths = [float(w) for w in re.findall(r'class="stage-\d" [^>]*width="([0-9.]+)"', ledger_picture(plane))]
    formula = re.search(r'class="formula" [^>]*width="([0-9.]+)"', ledger_picture(plane))
    assert formula
    assert sum(widths) == pytest.approx(float(formula[1]), abs=0.5)


def test_numbers_too_large_for_a_picture() -> None:
    run = gather(random_model(2, 2, "exponential", seed=0), Grid(10**6, 10**6))
    assert "too large or too small to be drawn" in profile_picture(run)
    Page(as_html(tell(run), run))


def test_prose_is_escaped_and_names_are_set_with_indices(plane: Run) -> None:
    page = as_html(replace(tell(plane), introduction="a < b & b_1 <script> U^T"), plane)
    assert "<p>a &lt; b &amp; <i>b</i><sub>1</sub> &lt;script&gt; U<sup>T</sup></p>" in page
