"""Names and commands in prose; the expected strings are written by hand."""

import pytest

from exactmha.explain.notation import tex_words
from exactmha.explain.prose import words

CASES = [
    ("b_1..b_d", "<i>b</i><sub>1</sub>…<i>b</i><sub>d</sub>", "$b_{1}$\\ldots{}$b_{d}$"),
    (
        "b_j^T W_h u_i",
        "<i>b</i><sub>j</sub><sup>T</sup> <i>W</i><sub>h</sub> <i>u</i><sub>i</sub>",
        "$b_{j}^{T}$ $W_{h}$ $u_{i}$",
    ),
    ("r_h r_h'", "<i>r</i><sub>h</sub> <i>r</i><sub>h′</sub>", "$r_{h}$ $r_{h'}$"),
    (
        "p_h,i of (b_j,u_i)",
        "<i>p</i><sub>h,i</sub> of (<i>b</i><sub>j</sub>,<i>u</i><sub>i</sub>)",
        "$p_{h,i}$ of ($b_{j}$,$u_{i}$)",
    ),
    ("4H_0d", "4<i>H</i><sub>0</sub>d", "4$H_{0}$d"),
    ("Q_12^2", "<i>Q</i><sub>12</sub><sup>2</sup>", "$Q_{12}^{2}$"),
    ("Π_h (R^d)", "Π<sub>h</sub> (<i>R</i><sup>d</sup>)", "$\\Pi_{h}$ ($R^{d}$)"),
    ("(U)^T", "(U)<sup>T</sup>", "(U)${}^{T}$"),
    ("two_words a_bc", "two_words a_bc", "two\\_words a\\_bc"),
    ("a < b & 5%", "a &lt; b &amp; 5%", "a < b \\& 5\\%"),
    ("wait... or not", "wait... or not", "wait... or not"),
    (
        "so (exactmha counterexample no-matching).",
        "so (<code>exactmha counterexample no-matching</code>).",
        "so (\\texttt{exactmha counterexample no-matching}).",
    ),
    ("exactmha budget, learner", "<code>exactmha budget</code>, learner", "\\texttt{exactmha budget}, learner"),
    ("exactmha is small", "exactmha is small", "exactmha is small"),
    ("see proofs/query-count.md.", "see <code>proofs/query-count.md</code>.", "see \\texttt{proofs/query-count.md}."),
]


@pytest.mark.parametrize(("text", "html", "tex"), CASES, ids=[case[0] for case in CASES])
def test_prose(text: str, html: str, tex: str) -> None:
    assert words(text) == html
    assert tex_words(text) == tex
