"""The second half of the story: which head is which, then v, W, the count, and what it proves.

The statements are proved in `proofs/matching`, `proofs/algorithm`, `proofs/query-count` and
`proofs/uniqueness-from-transcript`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from exactmha.explain.equation import Equation
from exactmha.explain.formula import (
    Call,
    Inverse,
    Matrix,
    Named,
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
from exactmha.explain.otherwise import without
from exactmha.explain.run import Run
from exactmha.explain.steps_begin import bound_note, layer, numbering, redraw_notes
from exactmha.explain.story import Group, Question, Step, group
from exactmha.outcome import counted
from exactmha.recover.design import expected_queries
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
    """Return the inequations that exclude every other pair of heads: its product is no ratio of the sum profile."""
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
        "Each profile lists its heads in an order of its own. When displacements add, r multiplies, head by head, and "
        "c adds. So if heads h of (b_1, u_1) and h' of (b_1, u_i) are one head, then r_h r_h' is a ratio of the "
        "profile (b_1, u_1 + u_i). Under condition C4, checked below, they are one head only if it is."
        f"{_single(run)}",
        (
            (times(_pole("u"), _pole("u'")), _pole("u + u'")),
            (plus(_residue("u"), _residue("u'")), _residue("u + u'")),
        ),
        (),
        _matching_groups(run, cases, group("Residues add", sums)),
        (_fitting(run), *redraw_notes(run, lambda profile: profile.startswith("(b_1, ") and profile != "(b_1, u_1)")),
        without(
            run,
            "no-matching",
            "Without matching queries two different layers can have the same profiles",
            alone="a single head has no other to be confused with",
        ),
        _order(run),
        "matching",
    )


def _single(run: Run) -> str:
    return " With one head there is nothing to match; the sum profiles only confirm." if len(run.heads) == 1 else ""


def _fitting(run: Run) -> str:
    heads = len(run.heads)
    if heads == 1:
        return "the only pair in each matching fits"
    return f"C4: of {heads**2} pairs in each matching exactly {heads} fit"


def _order(run: Run) -> Question:
    if len(run.heads) == 1:
        return Question(
            "What would a learner that knows H = 1 lose if it left out the sum profiles?",
            "Nothing: r(b, u + u') = r(b, u) r(b, u') is known before it is asked. The count 4Hd² − 2H + 1 holds for "
            "the learner that treats all H alike.",
        )
    return Question(
        "Why is it not enough to sort the ratios by size?",
        "The size of r_h = exp(b^T W_h u) depends on u: the largest ratio may belong to another head in the next "
        "profile.",
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
    sums = [Equation(run.values, (total, s), Symbol("s"))] if len(run.heads) > 1 else []
    base = Equation(
        run.values,
        (Product((Transpose(s), matrix([[x] for x in first.b]))), run.answer(first, 0)),
        Symbol("f", "0"),
    )
    return Step(
        "Reading off v",
        "The residues of one head, c_h = v_h·u_i for i = 1..d, are d linear equations for v_h. Then s = Σ_h v_h is "
        "known, and f(b) = s·b is computed for every other b and never asked again.",
        ((Symbol("v", "h"), Product((Inverse(Transpose(Symbol("U"))), Symbol("c", "h")))),),
        (),
        (
            group("v_h, with the u_i as rows of U^T", solved),
            *([group("The sum of the v_h", sums)] if sums else []),
            group("A check: the base value that was asked", [base]),
        ),
        ("f(b_1) = s·b_1: a wrong number of heads would usually break this",),
        without(
            run,
            "tokens-in-a-subspace",
            "If the u_i did not span R^d, the part of v_h orthogonal to them would stay unknown",
        ),
        _saved(run),
        "algorithm",
    )


def _saved(run: Run) -> Question:
    if run.dim == 1:
        return Question(
            "Could f_0 have been computed from the residues, without asking?",
            "Yes, for d = 1: c_h = v_h u gives s = Σ_h c_h/u, hence f_0 = s b. So 2H samples with k = 0 among them "
            "are enough there.",
        )
    return Question(
        "Which queries do the later rows save, now that s is known?",
        "Those with k = 0: f(b_j) = s·b_j needs no question, so later profiles take 2H queries, not 2H + 1.",
    )


def match_finals(run: Run) -> Step | None:
    """The later rows; nothing to do for d = 1."""
    cases = _joined_later(run)
    if not cases:
        return None
    equal = [
        Equation(run.values, (*_three_residues(run, case, h), run.residue(case[3], h)))
        for case in cases
        for h in run.heads
    ]
    return Step(
        "The later rows",
        "For every other final token b_j the same is done with sums of final tokens: r multiplies again, and "
        f"c_h = v_h·u_i stays as it is, since it does not depend on b.{_single(run)}",
        ((times(_pole("u"), _pole("u", "b'")), _pole("u", "b + b'")),),
        (),
        _matching_groups(run, cases, group("Residues stay: first row, later row, their sum", equal)),
        (
            f"{counted(len(cases), 'profile')} of later rows matched with the first row",
            *redraw_notes(run, lambda profile: not profile.startswith(("(b_1, ", "token"))),
        ),
        without(
            run,
            "no-matching",
            "Heads with equal v have equal residues, and without the sum profiles of the later rows nothing tells "
            "which ratio belongs to which",
            alone="a single head has no other to be confused with",
        ),
        _by_residues(run),
        "matching",
    )


def _three_residues(run: Run, case: Joined, h: int) -> list[Term]:
    """Return the residue of a head in the first row, in a later row and in their sum, each under its own name."""
    (total_b, u), first, other, total = case
    later = Symbol("b", other.profile.name.removeprefix("(b_").split(",")[0])
    return [
        Named(Call(f"c_{_index(h)}", (b, u)), run.residue(sampled, h))
        for b, sampled in ((Symbol("b", "1"), first), (later, other), (total_b, total))
    ]


def _by_residues(run: Run) -> Question:
    """Ask about the run itself, which has equal residues or not."""
    if len(run.heads) == 1:
        return Question(
            "Which profiles of the later rows would a single head need?",
            "Only (b_j, u_i): without a second head the sums (b_1 + b_j, u_i) tell nothing new.",
        )
    equal = [
        f"c_{g + 1} = c_{h + 1} for u_{i}"
        for i in range(1, run.dim + 1)
        for h in run.heads
        for g in range(h)
        if (c := run.sampled("b_1", f"u_{i}").profile.residues)[g] == c[h]
    ]
    answer = (
        f"No: {', '.join(equal)}, and there only the products of the ratios tell."
        if equal
        else "Yes: for every u_i the residues are pairwise different, so equal residues are one head. Such a learner "
        "saves the sum profiles of the later rows (exactmha budget, learner residues)."
    )
    return Question("In this run, would the residues alone have shown which head of a later row is which?", answer)


def assemble(run: Run) -> Step:
    """W from the logarithms of the ratios."""
    solved, logs = [], []
    for h in run.heads:
        entries: list[tuple[Term, ...]] = []
        for j in range(1, run.dim + 1):
            row = [run.sampled(f"b_{j}", f"u_{i}") for i in range(1, run.dim + 1)]
            entries.append(tuple(run.log_pole(sampled, h) for sampled in row))
            logs += [_logarithm(run, sampled, h, (j, i)) for i, sampled in enumerate(row, 1)]
        product = Product((Inverse(run.finals()), Matrix(tuple(entries)), Inverse(run.displacements())))
        solved.append(
            Equation(run.forms, (product, run.weights(run.recovery.labelled_heads[h])), Symbol("W", _index(h)))
        )
    L = Symbol("L", "h,j,i")
    return Step(
        "Assembling W",
        "All d² profiles (b_j, u_i) now list the heads in one order. The logarithm of a ratio is a bilinear "
        "measurement of W_h, and d² of them with bases on both sides determine it.",
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
        "A wrong match would put the logarithm of another head into L_h, and W_h would be a mixture."
        if len(run.heads) > 1
        else "With one head no match can go wrong; a rounded logarithm would give W_h as decimals only.",
        Question(
            "Why does it matter that the logarithm is exact?",
            "log r is a combination of a few known numbers with rational coefficients; they are found, not rounded, so "
            "W_h comes back as a formula and not as decimals.",
        ),
        "algorithm",
    )


def _logarithm(run: Run, sampled: Sampled, h: int, place: tuple[int, int]) -> Equation:
    """Return L_h,j,i = log(r_h(b_j, u_i)) = …, the ratio of the hidden head on the left, its lifted logarithm right."""
    j, i = map(str, place)
    name = Call("log", (Call(f"r_{_index(h)}", (Symbol("b", j), Symbol("u", i))),))
    of_ratio, logarithm = Call("log", (run.pole(sampled, h),)), run.log_pole(sampled, h)
    between = [] if of_ratio == logarithm else [of_ratio]
    hidden = Named(name, Call("log", (run.hidden_ratio(sampled, h),)))
    return Equation(run.forms, (hidden, *between, logarithm), Symbol("L", f"{_index(h)},{j},{i}"))


def count(run: Run) -> Step:
    """The ledger of queries against the formula."""
    H, d = len(run.heads), run.dim
    rows = run.verification.ledger
    used = plus(*(number(row.used) for row in rows))
    formula = Product((number(4), number(H), number(d * d)))
    counts = Counter(sampled.stage for sampled in run.profiles.values())
    stages = [
        Equation(
            run.forms,
            (
                Named(Symbol(row.stage), number(row.expected)),
                *([times(number(counts[stage]), number(2), number(H))] if stage else []),
                number(row.used),
            ),
        )
        for stage, row in enumerate(rows)
    ]
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
        (),
        (
            group("Stage by stage: profiles times 2H samples, as asked", stages),
            group("The ledger of the learner against the formula", [equation]),
            group("The counter of the oracle: with the queries for tokens drawn again", [asked]),
        ),
        (f"no query is longer than 2H + 1 = {2 * H + 1}; the oracle saw {run.verification.oracle_max_length}",),
        without(
            run,
            "short-sequences",
            "Fewer queries can do, with other learners (see exactmha budget), but of queries of at most two tokens no "
            "number is enough",
        ),
        Question(
            f"A learner is told only that there are at most {H + 1} heads. How many queries does it ask here?",
            f"It puts H_0 = {H + 1} for H in every sample count: 4H_0d² − 2H_0 + 1 = {expected_queries(H + 1, d)}.",
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
    return Step(
        "What has been proved",
        f"The answers alone exclude every other layer with at most {counted(H, 'canonical head')}: the same profiles, "
        "the same matching, hence the same v and the same W.",
        (),
        (),
        (group("The hidden heads and, equal to them, the recovered ones", layer(run)),),
        (
            *(f"{claim.outcome.value} ({claim.level.label}): {claim.statement}" for claim in claims),
            *_vacuous(run),
            *numbering(run),
        ),
        without(
            run,
            "bound-only",
            "If only a bound on H were known, layers with more heads would be excluded with probability one, and not "
            "by this transcript alone",
            alone="the bound 1 is H itself, except for the zero function",
            flat="there every head shows in every profile, and the rank is H",
        ),
        Question(
            "Does this prove the theorem?",
            "No: it proves it for this layer and these tokens. That almost every choice of tokens works for every "
            "layer is proved on paper, page by page in the folder proofs.",
        ),
        "uniqueness-from-transcript",
    )


def _vacuous(run: Run) -> Iterator[str]:
    """Say so where the bound on bad tokens is no claim."""
    if run.verification.failure_bound >= 1:
        yield bound_note(run)
