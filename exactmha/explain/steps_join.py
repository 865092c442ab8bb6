"""The second half of the story: which head is which, then v, W, the count, and what it proves.

The statements are proved in `proofs/matching`, `proofs/algorithm`, `proofs/query-count` and
`proofs/uniqueness-from-transcript`.
"""

from __future__ import annotations

from collections.abc import Sequence

from exactmha.explain.equation import Equation
from exactmha.explain.formula import (
    Call,
    Inverse,
    Matrix,
    Power,
    Product,
    Sum,
    Symbol,
    Term,
    Transpose,
    column,
    matrix,
    number,
    plus,
    times,
)
from exactmha.explain.run import Run
from exactmha.explain.story import Group, Question, Step, group
from exactmha.outcome import counted
from exactmha.recover.learn import Sampled

Joined = tuple[tuple[Term, ...], Sampled, Sampled, Sampled]
"""The names of the tokens of a sum profile, then the two parts and the sum profile."""


def _index(h: int) -> str:
    return str(h + 1)


def _joined(run: Run) -> list[Joined]:
    """Return the first-row matchings, of displacements."""
    first = run.sampled("b_1", "u_1")
    return [
        (
            (Symbol("b", "1"), plus(Symbol("u", "1"), Symbol("u", str(i)))),
            first,
            run.sampled("b_1", f"u_{i}"),
            run.sampled("b_1", f"u_1+u_{i}"),
        )
        for i in range(2, run.dim + 1)
    ]


def _joined_later(run: Run) -> list[Joined]:
    """Return the matchings of the later rows, of final tokens."""
    return [
        (
            (plus(Symbol("b", "1"), Symbol("b", str(j))), Symbol("u", str(i))),
            run.sampled("b_1", f"u_{i}"),
            run.sampled(f"b_{j}", f"u_{i}"),
            run.sampled(f"b_1+b_{j}", f"u_{i}"),
        )
        for j in range(2, run.dim + 1)
        for i in range(1, run.dim + 1)
    ]


def _products(run: Run, joined: Joined) -> list[Equation]:
    name, first, other, total = joined
    return [
        Equation(
            run.values,
            (times(run.pole(first, h), run.pole(other, h)), run.pole(total, h)),
            Call(f"r_{_index(h)}", name),
        )
        for h in run.heads
    ]


def _false_candidates(run: Run, joined: Joined) -> list[Equation]:
    """Return the inequations that exclude every other pair of heads: its product is no pole of the sum profile."""
    _, first, other, total = joined
    return [
        Equation(run.values, (times(run.pole(first, h), run.pole(other, h2)), run.pole(total, g)), None, "≠")
        for h in run.heads
        for h2 in run.heads
        if h != h2
        for g in run.heads
    ]


def match_displacements(run: Run) -> Step | None:
    """Which head of (b_1, u_1) is which head of (b_1, u_i); nothing to do for d = 1."""
    cases = _joined(run)
    if not cases:
        return None
    sums = [
        Equation(
            run.values,
            (plus(run.residue(first, h), run.residue(other, h)), run.residue(total, h)),
            Call(f"c_{_index(h)}", name),
        )
        for name, first, other, total in cases
        for h in run.heads
    ]
    return Step(
        "Matching heads across the first row",
        "Each profile lists its heads in an order of its own. Add the displacements: r multiplies, head by head, and c "
        "adds. So heads h of (b_1, u_1) and h' of (b_1, u_i) are one head if and only if r_h r_h' is a pole of the "
        "profile (b_1, u_1 + u_i).",
        (
            (times(_pole("u"), _pole("u'")), _pole("u + u'")),
            (plus(_residue("u"), _residue("u'")), _residue("u + u'")),
        ),
        (),
        _matching_groups(run, cases, group("Residues add", sums)),
        (f"C4: of {counted(len(run.heads) ** 2, 'pair')} in each matching exactly {len(run.heads)} fit",),
        "Without matching queries two different layers can have the same profiles (exactmha counterexample"
        " no-matching).",
        Question(
            "Why is it not enough to sort the poles by size?",
            "The size of r_h = exp(b^T W_h u) depends on u: the largest pole may belong to another head in the next "
            "profile.",
        ),
        "matching",
    )


def _matching_groups(run: Run, cases: Sequence[Joined], residues: Group) -> tuple[Group, ...]:
    products = [equation for case in cases for equation in _products(run, case)]
    others = [equation for case in cases for equation in _false_candidates(run, case)]
    wrong = [group("Condition C4: other pairs do not fit", others)] if others else []
    return group("Ratios multiply", products), residues, *wrong


def _pole(u: str, b: str = "b") -> Call:
    return Call("r_h", (_added(b), _added(u)))


def _residue(u: str) -> Call:
    return Call("c_h", (_added(u),))


def _added(names: str) -> Term:
    return plus(*map(Symbol, names.split(" + ")))


def readout(run: Run) -> Step:
    """v_h and s from the residues of the first row."""
    transposed = Transpose(run.displacements())
    residues = [column(run.residue(run.sampled("b_1", f"u_{i}"), h) for i in range(1, run.dim + 1)) for h in run.heads]
    solved = [
        Equation(run.values, (Product((Inverse(transposed), residues[h])), run.readout(h)), Symbol("v", _index(h)))
        for h in run.heads
    ]
    vectors = [run.readout(h) for h in run.heads]
    total = column(plus(*(v.rows[i][0] for v in vectors)) for i in range(run.dim))
    s = run.vector(run.recovery.readout_sum)
    first = run.sampled("b_1", "u_1")
    base = Equation(
        run.values,
        (Product((Transpose(s), matrix([[x] for x in first.b]))), run.answer(first, 0)),
        Symbol("f", "0"),
    )
    return Step(
        "Reading off v",
        "The residues of one head, c_h = v_h·u_i for i = 1..d, are d linear equations for v_h. Then s = Σ v_h is known "
        "and f(b) = s·b is computed for every other b and never asked again.",
        ((Symbol("v", "h"), Product((Inverse(Transpose(Symbol("U"))), Symbol("c", "h")))),),
        (),
        (
            group("v_h, with the u_i as rows of U^T", solved),
            group("The sum of the v_h", [Equation(run.values, (total, s), Symbol("s"))]),
            group("A check: the base value that was asked", [base]),
        ),
        ("f(b_1) = s·b_1: a wrong number of heads would break this",),
        "If the u_i did not span R^d, the part of v_h orthogonal to them would stay unknown "
        "(exactmha counterexample tokens-in-a-subspace).",
        Question(
            "Which queries do the later rows save, now that s is known?",
            "Those with k = 0: f(b_j) = s·b_j needs no question, so later profiles take 2H queries, not 2H + 1.",
        ),
        "algorithm",
    )


def match_finals(run: Run) -> Step | None:
    """The later rows; nothing to do for d = 1."""
    cases = _joined_later(run)
    if not cases:
        return None
    equal = [
        Equation(
            run.values,
            (run.residue(first, h), run.residue(other, h), run.residue(total, h)),
            Call(f"c_{_index(h)}", name),
        )
        for name, first, other, total in cases
        for h in run.heads
    ]
    return Step(
        "The later rows",
        "For every other final token b_j the same is done with sums of final tokens: r multiplies again, and c stays "
        "as it is, since it does not depend on b.",
        ((times(_pole("u"), _pole("u", "b'")), _pole("u", "b + b'")),),
        (),
        _matching_groups(run, cases, group("Residues stay: first row, later row, their sum", equal)),
        (f"{counted(len(cases), 'profile')} of later rows matched with the first row",),
        "With equal v_h the residues cannot tell heads apart, and only the products of the poles do.",
        Question(
            "When would the residues alone show which head is which?",
            "When the c_h = v_h·u_i are pairwise different; then the sum profile can be saved "
            "(exactmha budget, learner residues).",
        ),
        "matching",
    )


def assemble(run: Run) -> Step:
    """W from the logarithms of the poles."""
    solved, logs = [], []
    for h in run.heads:
        entries: list[tuple[Term, ...]] = []
        for j in range(1, run.dim + 1):
            row = [run.sampled(f"b_{j}", f"u_{i}") for i in range(1, run.dim + 1)]
            entries.append(tuple(run.log_pole(sampled, h) for sampled in row))
            logs += [
                Equation(
                    run.forms,
                    (Call("log", (run.pole(sampled, h),)), run.log_pole(sampled, h)),
                    Symbol("L", f"{_index(h)},{j},{i}"),
                )
                for i, sampled in enumerate(row, 1)
            ]
        product = Product((Inverse(run.finals()), Matrix(tuple(entries)), Inverse(run.displacements())))
        solved.append(
            Equation(run.forms, (product, run.weights(run.recovery.labelled_heads[h])), Symbol("W", _index(h)))
        )
    L = Symbol("L", "h,j,i")
    return Step(
        "Assembling W",
        "All d² profiles (b_j, u_i) now list the heads in one order. The logarithm of a pole is a bilinear measurement "
        "of W_h, and d² of them with bases on both sides determine it.",
        (
            (
                L,
                Call("log", (Call("r_h", (Symbol("b", "j"), Symbol("u", "i"))),)),
                times(Transpose(Symbol("b", "j")), Symbol("W", "h"), Symbol("u", "i")),
            ),
            (Symbol("W", "h"), Product((Inverse(Symbol("B")), Symbol("L", "h"), Inverse(Symbol("U"))))),
        ),
        (),
        (group("Exact logarithms of the ratios", logs), group("The matrices", solved)),
        (
            "the recovered W_h and v_h are those of the canonical heads of the instance, compared exactly: "
            f"{counted(len(run.heads), 'head')}",
        ),
        "A wrong match would put the logarithm of another head into L_h, and W_h would be a mixture.",
        Question(
            "Why does it matter that the logarithm is exact?",
            "log r is a combination of a few known numbers with rational coefficients; they are found, not rounded, so "
            "W_h comes back as a formula and not as decimals.",
        ),
        "algorithm",
    )


def count(run: Run) -> Step:
    """The ledger of queries against the formula."""
    H, d = len(run.heads), run.dim
    rows = run.verification.ledger
    used = plus(*(number(row.used) for row in rows))
    formula = Product((number(4), number(H), number(d * d)))
    stages = [(Symbol(row.stage), number(row.used)) for row in rows]
    equation = Equation(
        run.forms,
        (used, _count_formula(formula, H), number(run.recovery.queries)),
        Symbol("queries"),
    )
    spent = sum(redraw.queries for redraw in run.recovery.redraws)
    asked = Equation(
        run.forms,
        (plus(number(run.recovery.queries), number(spent)), number(run.verification.oracle_queries)),
        Symbol("asked"),
    )
    return Step(
        "Counting every query",
        "One base value, and 2H samples for each of the d² profiles of the grid and of the d² − 1 sum profiles.",
        ((Symbol("queries"), _general_count()),),
        tuple(stages),
        (
            group("The ledger of the learner against the formula", [equation]),
            group("The counter of the oracle: with the queries for tokens drawn again", [asked]),
        ),
        (f"no query is longer than 2H + 1 = {2 * H + 1}; the oracle saw {run.verification.oracle_max_length}",),
        "Fewer queries can do, with other learners (exactmha budget); H(d² + d) numbers are unknown.",
        Question(
            "What does doubling d do to the number of queries?",
            "It multiplies it by about four: the number of profiles is 2d² − 1.",
        ),
        "query-count",
    )


def _general_count() -> Term:
    H, d = Symbol("H"), Symbol("d")
    return Sum(((1, times(number(4), H, Power(d, 2))), (-1, times(number(2), H)), (1, number(1))))


def _count_formula(first: Product, H: int) -> Term:
    return Sum(((1, first), (-1, times(number(2), number(H))), (1, number(1))))


def verdict(run: Run) -> Step:
    """What the run has proved."""
    claims = run.verification.claims
    H = len(run.heads)
    names = [(Symbol("W", _index(h)), run.weights(run.recovery.labelled_heads[h])) for h in run.heads]
    names += [(Symbol("v", _index(h)), run.readout(h)) for h in run.heads]
    return Step(
        "What has been proved",
        f"The answers alone exclude every other layer with at most {counted(H, 'canonical head')}: the same profiles, "
        "the same matching, hence the same v and the same W.",
        (),
        tuple(names),
        (),
        tuple(f"{claim.outcome.value} ({claim.level.label}): {claim.statement}" for claim in claims),
        "If only a bound on H were known, layers with more heads would be excluded with probability one, and not by "
        "this transcript alone (exactmha counterexample bound-only).",
        Question(
            "Does this prove the theorem?",
            "No: it proves it for this layer. That almost every choice of tokens works for every layer is proved on "
            "paper, page by page in the folder proofs.",
        ),
        "uniqueness-from-transcript",
    )
