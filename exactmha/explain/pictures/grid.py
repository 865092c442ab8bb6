"""The grid of d² profiles (b_j, u_i), and the d² − 1 matchings that join them to a spanning tree.

`proofs/query-count` counts them.
"""

from __future__ import annotations

from typing import Any

from exactmha.explain.pictures.picture import HEADS, INK, PAPER, Picture, Scene, Scenes, part
from exactmha.explain.run import Run

Edge = tuple[int, int, int, int]
"""From profile (b_j, u_i) to another: j, i, j', i', from 0."""


def order(dim: int) -> list[tuple[tuple[int, int], Edge | None]]:
    """Return the profiles (j, i) stage by stage, each with the edge that joins it to the tree; the first needs none."""
    first_row = [((0, i), (0, 0, 0, i) if i else None) for i in range(dim)]
    return first_row + [((j, i), (0, i, j, i)) for j in range(1, dim) for i in range(dim)]


def _node(j: int, i: int) -> str:
    return f"profile-{j + 1}-{i + 1}"


def _edge(j: int, i: int) -> str:
    return f"sum-{j + 1}-{i + 1}"


def _draw(axes: Any, run: Run) -> None:
    dim = run.dim
    for (j, i), edge in order(dim):
        if edge is not None:
            # long edges pass beside the profiles between their ends
            bend = 0.0 if abs(edge[2] - edge[0]) + abs(edge[3] - edge[1]) == 1 else -0.22
            axes.annotate(
                "",
                (edge[3], -edge[2]),
                (edge[1], -edge[0]),
                arrowprops={
                    "arrowstyle": "-",
                    "color": HEADS[0 if edge[2] == 0 else 1],
                    "linewidth": 2,
                    "linestyle": "-" if edge[2] == 0 else "--",
                    "connectionstyle": f"arc3,rad={bend}",
                    "gid": part(_edge(j, i)),
                },
            )
        axes.plot([i], [-j], "o", color=INK, markerfacecolor=PAPER, markersize=13, gid=part(_node(j, i)), zorder=3)
    axes.set_xticks(range(dim), [f"$u_{i + 1}$" for i in range(dim)])
    axes.set_yticks([-j for j in range(dim)], [f"$b_{j + 1}$" for j in range(dim)])
    axes.tick_params(length=0)
    axes.xaxis.tick_top()
    axes.set(xlim=(-0.6, dim - 0.4), ylim=(0.6 - dim, 0.6))
    axes.set_title("The tree of matchings")
    axes.spines[:].set_visible(False)


def _label(run: Run) -> str:
    count = run.dim**2
    return f"{count} profiles in a square, joined by {count - 1} matchings that form a tree."


def _caption(run: Run) -> str:
    return (
        f"The {run.dim**2} profiles (b_j, u_i). Solid: sum profiles (b_1, u_1+u_i) join the first row. "
        "Dashed: sum profiles (b_1+b_j, u_i) join every later profile to the first row. No circle closes: a tree."
    )


def _scenes(run: Run) -> Scenes:
    each, asked, shown = 2 * len(run.heads), 1, []
    scenes = [Scene("the whole grid")]
    for (j, i), edge in order(run.dim):
        shown.append(_node(j, i))
        asked += each
        what = f"profile (b_{j + 1}, u_{i + 1})"
        if edge is not None:
            shown.append(_edge(j, i))
            asked += each
            what += " and its sum profile " + (f"(b_1, u_1+u_{i + 1})" if j == 0 else f"(b_1+b_{j + 1}, u_{i + 1})")
        scenes.append(Scene(f"{what}: {asked} of {run.recovery.queries} queries", tuple(shown)))
    return Scenes("profile", tuple(scenes))


GRID_OF_PROFILES = Picture(
    "grid",
    "The later rows",
    lambda run: (2.2 + 0.8 * run.dim, 1.4 + 0.8 * run.dim),
    _draw,
    _label,
    _caption,
    _scenes,
)
