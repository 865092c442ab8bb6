"""The pictures of an HTML story, as SVG. They are drawn in floating point and decide nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html import escape
from math import ceil, floor, isfinite, log10

from exactmha.explain.run import Run
from exactmha.fields.values import ExactValue

WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 14, 42
_POINTS = 500
FARTHEST = 25.0
"""Poles farther out than this are named below the picture, not drawn."""
_DASHES = ("8 3", "2 3", "9 3 2 3", "4 2")


def decimal(value: ExactValue) -> float:
    """Return a float near an exact value; infinite when it is too large for one."""
    return float(value.enclosure(17).mid())


class Curve:
    """The first profile of a run in floats: base value, samples, poles p_h = −1/r_h, residues."""

    def __init__(self, run: Run) -> None:
        first, field = run.sampled("b_1", "u_1"), run.model.field
        self.base = decimal(run.exact_answer(first, 0))
        self.samples = [decimal(run.exact_answer(first, k)) for k in range(len(first.answers) + 1)]
        weights = [decimal(field.monomial(e)) for e in first.profile.exponents]
        self.poles = [-1 / r if r else float("-inf") for r in weights]
        self.residues = [decimal(field.embed(c)) for c in first.profile.residues]

    @property
    def is_drawable(self) -> bool:
        """True when all numbers are finite floats and no pole falls on 0."""
        return all(map(isfinite, (*self.samples, *self.poles, *self.residues))) and all(self.poles)

    def summand(self, h: int, k: float) -> float:
        """Return c_h·k r_h/(1 + k r_h) = c_h·k/(k − p_h)."""
        return self.residues[h] * k / (k - self.poles[h])

    def total(self, k: float) -> float:
        """Return f_k."""
        return self.base + sum(self.summand(h, k) for h in range(len(self.poles)))

    def y_range(self) -> tuple[float, float]:
        """Return a range that shows the samples and the summands at them, with as much room again on both sides."""
        last = len(self.samples) - 1
        values = [*self.samples, 0.0, *(self.summand(h, last) for h in range(len(self.poles)))]
        low, high = min(values), max(values)
        margin = 0.75 * (high - low or 1.0)
        return low - margin, high + margin


class _Frame:
    """Maps numbers to pixels."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        self.x, self.y = x, y

    def px(self, k: float) -> float:
        return LEFT + (k - self.x[0]) / (self.x[1] - self.x[0]) * (WIDTH - LEFT - RIGHT)

    def py(self, f: float) -> float:
        return HEIGHT - BOTTOM - (f - self.y[0]) / (self.y[1] - self.y[0]) * (HEIGHT - TOP - BOTTOM)

    def path(self, function: Callable[[float], float], breaks: Sequence[float]) -> str:
        """Return the path of a function, interrupted at poles and outside the frame."""
        steps = [self.x[0] + i * (self.x[1] - self.x[0]) / _POINTS for i in range(_POINTS + 1)]
        words, last = [], None
        for k in steps:
            crossed = last is not None and any(last <= p <= k for p in breaks)
            last = k
            f = None if any(abs(k - p) < 1e-9 for p in breaks) else function(k)
            if f is None or not self.y[0] <= f <= self.y[1]:
                words.append("")
                continue
            words.append(f"{'M' if crossed or not words or not words[-1] else 'L'}{self.px(k):.1f} {self.py(f):.1f}")
        return " ".join(word for word in words if word)


def profile_picture(run: Run) -> str:
    """Return f_k against k with its poles, its samples and its summands, and the controls that a script fills.

    The summands are told apart by colour and by dashes.
    """
    curve = Curve(run)
    if not curve.is_drawable:
        return "<p>The numbers of this run are too large or too small to be drawn.</p>"
    near = [p for p in curve.poles if p >= -FARTHEST]
    frame = _Frame((1.15 * min([*near, -1.0]), len(curve.samples) - 0.4), curve.y_range())
    shown = [*_axes(frame), *_pole_lines(frame, near)]
    for h in range(len(curve.poles)):
        path = frame.path(lambda k, h=h: curve.summand(h, k), near)  # type: ignore[misc]  # h is bound, not passed
        shown.append(
            f'<path class="summand head-{h + 1}" data-part="{h + 1}" stroke-dasharray="{_DASHES[h]}" d="{path}"/>'
        )
    shown.append(f'<path class="total" data-part="0" d="{frame.path(curve.total, near)}"/>')
    shown += [
        f'<circle class="sample" r="4.5" cx="{frame.px(k):.1f}" cy="{frame.py(f):.1f}"><title>f_{k} ≈ {f:.6g}</title>'
        "</circle>"
        for k, f in enumerate(curve.samples)
    ]
    shown.append(f'<line class="cursor" x1="0" x2="0" y1="{TOP}" y2="{HEIGHT - BOTTOM}" hidden="hidden"/>')
    poles = ", ".join(_signed(float(f"{p:.4g}")) for p in curve.poles)
    label = f"The answers f_k against k: {len(curve.samples)} samples at k ≥ 0 and poles at {poles}, all negative."
    data = {
        "base": curve.base,
        "poles": curve.poles,
        "residues": curve.residues,
        "x": frame.x,
        "left": LEFT,
        "width": WIDTH - LEFT - RIGHT,
    }
    svg = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">{"".join(shown)}</svg>'
    text = f"Solid: f_k. Dashed: the part of each head. Dots: the answers. Vertical lines: the poles ({poles})."
    numbers = escape(json.dumps(data, allow_nan=False))
    return (
        f'<figure class="profile" data-curve="{numbers}">{svg}<div class="controls" hidden></div>'
        f"<figcaption>{escape(text)}</figcaption></figure>"
    )


def _axes(frame: _Frame) -> list[str]:
    bottom = HEIGHT - BOTTOM
    parts = [
        f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/>',
        f'<line class="axis" x1="{LEFT}" x2="{LEFT}" y1="{TOP}" y2="{bottom}"/>',
        f'<line class="zero" x1="{frame.px(0):.1f}" x2="{frame.px(0):.1f}" y1="{TOP}" y2="{bottom}"/>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">number of copies k</text>',
        f'<text x="14" y="{(TOP + bottom) / 2}" transform="rotate(-90 14 {(TOP + bottom) / 2})" '
        'text-anchor="middle">answer</text>',
    ]
    step = max(1, round((frame.x[1] - frame.x[0]) / 10))
    for k in range(int(frame.x[0]), int(frame.x[1]) + 1):
        if k % step == 0:
            parts.append(f'<text x="{frame.px(k):.1f}" y="{bottom + 16}" text-anchor="middle">{_signed(k)}</text>')
    size = 10.0 ** floor(log10((frame.y[1] - frame.y[0]) / 4))
    tick = next(size * m for m in (1, 2, 5, 10) if (frame.y[1] - frame.y[0]) / (size * m) <= 6)
    for i in range(ceil(frame.y[0] / tick), floor(frame.y[1] / tick) + 1):
        y = frame.py(i * tick)
        parts.append(f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{_signed(i * tick)}</text>')
    return parts


def _pole_lines(frame: _Frame, poles: Sequence[float]) -> list[str]:
    return [
        f'<line class="pole" x1="{frame.px(p):.1f}" x2="{frame.px(p):.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}">'
        f"<title>pole at {p:.6g}</title></line>"
        for p in poles
    ]


def _signed(number: float) -> str:
    return f"{number:g}".replace("-", "−")


def ledger_picture(run: Run) -> str:
    """Return the queries of each stage as one stacked bar, beside the bar of the formula."""
    rows = [row for row in run.verification.ledger if row.used]
    total, width = run.recovery.queries, WIDTH - 2 * LEFT
    parts, at = [], float(LEFT)
    for i, row in enumerate(rows):
        size = width * row.used / total
        parts.append(
            f'<rect class="stage-{i}" x="{at:.1f}" y="20" width="{size:.1f}" height="44">'
            f"<title>{escape(row.stage)}: {row.used}</title></rect>"
            f'<text x="{at + size / 2:.1f}" y="47" text-anchor="middle">{row.used}</text>'
        )
        at += size
    formula = f"4Hd² − 2H + 1 = {run.verification.expected_queries}"
    parts.append(
        f'<rect class="formula" x="{LEFT}" y="74" width="{width * run.verification.expected_queries / total:.1f}" '
        f'height="30"/><text x="{WIDTH / 2}" y="94" text-anchor="middle">{formula}</text>'
    )
    label = "; ".join(f"{row.stage}: {row.used}" for row in rows)
    svg = f'<svg viewBox="0 0 {WIDTH} 116" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'
    return f"<figure>{svg}<figcaption>Queries by stage, left to right: {escape(label)}.</figcaption></figure>"


def grid_picture(run: Run) -> str:
    """Return the grid of d² profiles (b_j, u_i), joined by the matchings, which form a spanning tree."""
    dim, side = run.dim, 70
    x = [90 + side * i for i in range(dim)]
    y = [40 + side * j for j in range(dim)]
    lines = [(x[0], y[0], x[i], y[0], f"(b_1, u_1+u_{i + 1})") for i in range(1, dim)]
    lines += [(x[i], y[0], x[i], y[j], f"(b_1+b_{j + 1}, u_{i + 1})") for j in range(1, dim) for i in range(dim)]
    parts = []
    for x1, y1, x2, y2, name in lines:
        # long edges pass beside the profiles between their ends
        bend = 0 if max(abs(x2 - x1), abs(y2 - y1)) == side else 24
        middle = f"{(x1 + x2) / 2 + bend * (x1 == x2)} {(y1 + y2) / 2 - bend * (y1 == y2)}"
        parts.append(f'<path class="edge" d="M{x1} {y1} Q{middle} {x2} {y2}"><title>{name}</title></path>')
    for j in range(dim):
        parts.append(f'<text x="20" y="{y[j] + 4}">b_{j + 1}</text>')
        parts += [
            f'<circle class="node" r="11" cx="{x[i]}" cy="{y[j]}"><title>(b_{j + 1}, u_{i + 1})</title></circle>'
            for i in range(dim)
        ]
    parts += [f'<text x="{x[i]}" y="16" text-anchor="middle">u_{i + 1}</text>' for i in range(dim)]
    label = f"{dim**2} profiles in a square, joined by {dim**2 - 1} matchings that form a tree."
    box = f"0 0 {max(side * dim + 120, 320)} {side * dim + 20}"
    svg = f'<svg class="small" viewBox="{box}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
    text = f"The {dim**2} profiles (b_j, u_i); {dim**2 - 1} sum profiles match heads along the edges of a tree."
    return f"<figure>{svg}<figcaption>{text}</figcaption></figure>"


def matching_picture(run: Run) -> str:
    """Return which head of (b_1, u_1) is which head of (b_1, u_2), with the pairs that were excluded."""
    heads, rows = len(run.heads), 46
    other = run.sampled("b_1", "u_2").profile
    # the second profile as it was found: in increasing order of its exponents
    order = sorted(run.heads, key=lambda h: other.exponents[h])
    place = {h: i for i, h in enumerate(order)}
    parts = []
    for h in run.heads:
        for g in run.heads:
            kind = "true" if h == g else "false"
            said = "same head" if h == g else "excluded: the product is no pole of the sum profile"
            parts.append(
                f'<line class="{kind}" x1="150" y1="{40 + rows * h}" x2="430" y2="{40 + rows * place[g]}">'
                f"<title>{said}</title></line>"
            )
    for h in run.heads:
        parts.append(f'<circle class="node" r="11" cx="150" cy="{40 + rows * h}"/>')
        parts.append(f'<text x="130" y="{44 + rows * h}" text-anchor="end">head {h + 1}</text>')
        parts.append(f'<circle class="node" r="11" cx="430" cy="{40 + rows * h}"/>')
        parts.append(f'<text x="450" y="{44 + rows * h}">pole {h + 1} of (b_1, u_2)</text>')
    label = "; ".join(f"head {h + 1} is pole {place[h] + 1}" for h in run.heads)
    svg = (
        f'<svg viewBox="0 0 {WIDTH} {30 + rows * heads}" role="img" aria-label="{label}">'
        '<text x="150" y="16" text-anchor="middle">(b_1, u_1)</text>'
        f'<text x="430" y="16" text-anchor="middle">(b_1, u_2), in the order found</text>{"".join(parts)}</svg>'
    )
    text = f"Thick: the matching ({label}). Thin, dotted: pairs that C4 excludes."
    return f"<figure>{svg}<figcaption>{text}</figcaption></figure>"
