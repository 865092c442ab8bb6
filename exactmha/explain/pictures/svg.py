"""A picture inside an HTML page: matplotlib's SVG in the colours of the page, with scenes for a slider.

Without a script, or in print, the picture is whole.
"""

from __future__ import annotations

import io
import json
import re
from html import escape
from typing import Any

from exactmha.errors import InputError
from exactmha.explain.pictures.catalogue import figure
from exactmha.explain.pictures.picture import INK, PAPER, SOFT, Picture, Scene, Scenes, part
from exactmha.explain.prose import words
from exactmha.explain.run import Run
from exactmha.figures import plotting

_POINTS = 72
"""Units of matplotlib's SVG in an inch."""
_THEME = {INK: "var(--ink)", PAPER: "var(--paper)", SOFT: "var(--soft)"}


def as_figure(picture: Picture, run: Run) -> str:
    """Return a <figure> with the picture, its caption and its scenes, or a sentence where it cannot be drawn."""
    try:
        drawn = figure(run, picture.name)
    except InputError as error:
        return f"<p>No picture: {words(str(error))}.</p>"
    scenes = picture.scenes(run)
    scale = _add_cursor(drawn, scenes)
    svg = _inline(drawn, picture, run)
    data = escape(json.dumps(_data(scenes, scale), allow_nan=False, ensure_ascii=False))
    return (
        f'<figure id="picture-{picture.name}" data-scenes="{data}">{svg}<div class="controls" hidden></div>'
        f"<figcaption>{words(picture.caption(run))}</figcaption></figure>"
    )


def _add_cursor(drawn: Any, scenes: Scenes) -> float:
    """Draw a cursor at 0 where scenes have one, and return the units of the SVG to one unit of the axis."""
    if all(scene.cursor is None for scene in scenes.scenes):
        return 0.0
    (axes,) = drawn.axes
    axes.axvline(0, color=INK, linewidth=1.6, gid=part("cursor"))
    drawn.canvas.draw()  # the layout is settled now
    zero, one = (axes.transData.transform((x, 0))[0] for x in (0, 1))
    return float((one - zero) * _POINTS / drawn.dpi)


def _data(scenes: Scenes, scale: float) -> dict[str, object]:
    return {
        "label": scenes.label,
        "start": scenes.start,
        "toggles": scenes.toggles,
        "scenes": [_scene(scene, scale) for scene in scenes.scenes],
    }


def _scene(scene: Scene, scale: float) -> dict[str, object]:
    shift = None if scene.cursor is None else round(scene.cursor * scale, 2)
    return {"says": scene.says, "parts": scene.parts, "shift": shift}


def _inline(drawn: Any, picture: Picture, run: Run) -> str:
    """Return the figure as an <svg> element, and close it."""
    pyplot, text = plotting(), io.StringIO()
    with pyplot.rc_context({"svg.fonttype": "none", "svg.hashsalt": picture.name, "font.family": "sans-serif"}):
        drawn.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    pyplot.close(drawn)
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", text.getvalue(), flags=re.DOTALL)
    opening = re.search(r'<svg[^>]*viewBox="([^"]*)"[^>]*>', body)
    if opening is None:
        raise AssertionError("matplotlib writes an svg element with a viewBox")
    body = body[opening.end() : body.rindex("</svg>")]
    body = re.sub(r'id="part:([^"]*)"', r'data-part="\1"', body)
    # ids of several pictures stand on one page
    body = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{picture.name}-", body)
    for colour, variable in _THEME.items():
        body = body.replace(colour, variable)
    width = f"{float(opening[1].split()[2]):g}pt"
    label = escape(picture.label(run))
    # on a narrow screen it is moved sideways rather than made illegible
    style = f"max-width: {width}; min-width: min(30rem, {width})"
    svg = f'<svg viewBox="{opening[1]}" style="{style}" role="img" aria-label="{label}">{body}</svg>'
    return f'<div class="wide" tabindex="0" role="group" aria-label="picture">{svg}</div>'
