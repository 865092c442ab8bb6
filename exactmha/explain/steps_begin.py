"""The beginning of the story: the layer, what of it can be learned, and the tokens.

The statements are proved in `proofs/profile-identity`, `proofs/canonical-uniqueness` and `proofs/genericity-bound`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction as Rational

from flint import fmpq, fmpz_mat

from exactmha.explain.equation import Equation
from exactmha.explain.formula import (
    Call,
    Fraction,
    Matrix,
    Named,
    Product,
    Summation,
    Symbol,
    Term,
    Transpose,
    column,
    matrix,
    number,
    plus,
    times,
)
from exactmha.explain.otherwise import exists, without
from exactmha.explain.run import Run
from exactmha.explain.story import Group, Question, Step, group
from exactmha.fields.interface import dot
from exactmha.outcome import counted
from exactmha.recover.learn import Redraw, Sampled
from exactmha.recover.sample import IntToken, add
from exactmha.verification import bound_text

MOST_REDRAWS_TOLD = 4
B, U, b, u, k_ = Symbol("B"), Symbol("U"), Symbol("b"), Symbol("u"), Symbol("k")
b_1, u_1 = Symbol("b", "1"), Symbol("u", "1")
F_K, R_H, V_H, W_H = Symbol("f", "k"), Symbol("r", "h"), Symbol("v", "h"), Symbol("W", "h")
X_I, X_J, X_N = Symbol("x", "i"), Symbol("x", "j"), Symbol("x", "n")
P = Symbol("p", "h,i")


def numbered(name: str, h: int) -> Symbol:
    """Return W_1, v_1, … for head number h, from 0."""
    return Symbol(name, str(h + 1))


def black_box(run: Run) -> Step:
    """What a query is, and what the box computes but does not show."""
    first = run.sampled("b_1", "u_1")
    in_canonical_form = " (in its canonical form, see step 2)" if run.canonical.is_changed else ""
    return Step(
        "The black box",
        "A query is a sequence X = (x_1, …, x_n) of tokens, vectors of R^d; the layer answers it with one number f(X). "
        "Head h gives x_i the weight p_h,i, a softmax of its products with the last token x_n. The learner sees "
        "neither the weights nor the heads' separate values, only their sum. One kind of query will do: k copies of "
        "b + u, then b. Below it is worked out with the first two tokens of this run, b_1 and u_1 (step 3 tells where "
        "they come from). The weight of one copy relative to the last token is the ratio r_h of head h.",
        (
            (
                Call("f", (Symbol("X"),)),
                Summation("h", times(Transpose(V_H), Summation("i", times(P, X_I)))),
            ),
            (P, Fraction(_exponential(X_N, X_I), Summation("j", _exponential(X_N, X_J)))),
            (R_H, _exponential(b, u)),
            (
                F_K,
                Call("f", (Symbol("k copies of b + u"), b)),
                Summation(
                    "h",
                    Fraction(
                        plus(times(k_, R_H, Transpose(V_H), plus(b, u)), times(Transpose(V_H), b)),
                        plus(times(k_, R_H), number(1)),
                    ),
                ),
            ),
        ),
        ((b_1, _column(first.b)), (u_1, _column(first.u))),
        (
            group(f"The layer{in_canonical_form}, hidden from the learner", layer(run)),
            group(
                "The ratios: the weight of one copy of b_1 + u_1 relative to the last token b_1", _ratios(run, first)
            ),
            group("What head h reads at the two tokens", _readings(run, first)),
            _behind_the_curtain(run, first),
        ),
        ("the softmax computed with the true heads gives the answers that the learner received",),
        without(
            run,
            "position-encoding",
            "If a position code were added to the tokens, copies of one token would not be alike, and the next steps "
            "would fail",
        ),
        Question(
            "Swap two tokens that are not the last one. Does the answer change?",
            "No: the sum over i does not depend on the order. Only the last token is special, as the query.",
        ),
        "profile-identity",
    )


def _ratios(run: Run, first: Sampled) -> list[Equation]:
    """Return r_h = exp(b_1^T W_h u_1) with the hidden W_h."""
    b_column, u_column = _column(first.b), _column(first.u)
    equations = []
    for h in run.heads:
        exponent = Product((Transpose(b_column), run.weights(run.hidden(h)), u_column))
        sides = (Call("exp", (exponent,)), run.hidden_ratio(first, h))
        equations.append(Equation(run.ratios, sides, numbered("r", h)))
    return equations


def _readings(run: Run, first: Sampled) -> list[Equation]:
    """Return v_h·(b_1 + u_1) and v_h·b_1 with the hidden v_h."""
    equations = []
    for h in run.heads:
        v = run.hidden(h).v
        for name, token in ((plus(b_1, u_1), add(first.b, first.u)), (b_1, first.b)):
            sides = (Product((Transpose(run.vector(v)), _column(token))), run.scalar(dot(v, token)))
            equations.append(Equation(run.values, sides, times(Transpose(numbered("v", h)), name)))
    return equations


def _behind_the_curtain(run: Run, first: Sampled) -> Group:
    most = len(first.answers)
    only = f" (only k = 1 and 2 of 1, …, {most} are shown)" if most > 2 else ""
    equations = []
    for k in (1, 2):
        answer = run.answer(first, k)
        sides = (run.softmax(first, k), answer)
        equations.append(Equation(run.values, sides, Symbol("f", str(k)), about=run.needs_decimal(answer)))
    heading = "Behind the curtain: the answers to “k copies of b_1 + u_1, then b_1”, one term a head"
    return group(heading + only, equations)


def _exponential(last: Term, token: Term) -> Term:
    return Call("exp", (times(Transpose(last), W_H, token),))


def _column(token: IntToken) -> Matrix:
    return matrix([[x] for x in token])


def layer(run: Run) -> list[Equation]:
    """Return the equations W_h = …, v_h = …: the hidden heads, and beside them what the learner recovered."""
    equations = []
    for h in run.heads:
        hidden, found = run.hidden(h), run.recovery.labelled_heads[h]
        W, v = numbered("W", h), numbered("v", h)
        equations.append(Equation(run.forms, (Named(W, run.weights(hidden)), run.weights(found))))
        equations.append(Equation(run.values, (Named(v, run.vector(hidden.v)), run.vector(found.v))))
    return equations


def canonical_heads(run: Run) -> Step:
    """What can be recovered at all."""
    count = len(run.model.heads)
    merged, discarded = list(_merged(run)), list(_discarded(run))
    groups = [group("Merged heads: their v add up (v'_i is the v of head i of the instance)", merged)] if merged else []
    groups += (
        [group("Discarded heads: their v add up to 0 (v'_i is the v of head i of the instance)", discarded)]
        if discarded
        else []
    )
    consequence = "Without merging, (W, v) and (W, v') could be replaced by (W, v + v'): no learner could tell"
    return Step(
        "Canonical heads",
        "Two heads with one W act like a single head with the sum of their v, and a head with v = 0 does nothing. So "
        "heads with equal W are merged and zero sums discarded: what is left is exactly what can be learned. A is "
        "what both heads average, A = Σ_i p_h,i x_i, the same for equal W.",
        (
            (
                plus(times(Transpose(Symbol("v", "1")), Symbol("A")), times(Transpose(Symbol("v", "2")), Symbol("A"))),
                times(Transpose(plus(Symbol("v", "1"), Symbol("v", "2"))), Symbol("A")),
            ),
        ),
        (),
        tuple(groups),
        (
            f"of {counted(count, 'head')} in the instance, {len(run.canonical.heads)} "
            f"{'is' if len(run.canonical.heads) == 1 else 'are'} canonical",
            *numbering(run),
            *_changes(run),
        ),
        without(run, "unmerged", consequence, alone="a single head with v ≠ 0 has no other to be merged with"),
        Question(
            "A layer has the heads (W, v) and (W', −v) with W ≠ W' and v ≠ 0. It answers every query of one token "
            "with 0. Is it the zero function?",
            "No: the two heads are canonical, and the zero function has none. A longer query tells: with different "
            "weights the two averages differ.",
        ),
        "canonical-uniqueness",
    )


def numbering(run: Run) -> Iterator[str]:
    """Say which head is which where the learner's order is not that of `exactmha verify`."""
    numbers = [run.canonical_number(h) for h in run.heads]
    if numbers != sorted(numbers):
        names = ", ".join(f"head {h} is head {n} there" for h, n in enumerate(numbers, 1))
        yield f"heads are numbered as the learner meets them; exactmha verify sorts them: {names}"


def _changes(run: Run) -> Iterator[str]:
    learned = {run.canonical_number(h): h for h in run.heads}
    for number_, positions in enumerate(run.canonical.groups, 1):
        if len(positions) > 1:
            into = f"head {learned[number_] + 1} here"
            yield f"{_listed(positions)} of the instance share one W and are merged into {into}"
    for positions in run.canonical.discarded:
        why = "has v = 0 and is" if len(positions) == 1 else "share one W, have v with sum 0, and are"
        yield f"{_listed(positions)} of the instance {why} discarded"


def _listed(positions: tuple[int, ...]) -> str:
    names = [str(p + 1) for p in positions]
    return f"head {names[0]}" if len(names) == 1 else f"heads {', '.join(names[:-1])} and {names[-1]}"


def _sum_of(run: Run, positions: tuple[int, ...]) -> tuple[list[Equation], Term, Term]:
    """Return that heads of the instance share W, the sum of their v by name, and by numbers."""
    first, *others = positions
    shared = [
        Equation(
            run.forms,
            (
                Named(Symbol("W'", str(p + 1)), run.weights(run.model.heads[p])),
                Named(Symbol("W'", str(first + 1)), run.weights(run.model.heads[first])),
                run.weights(run.model.heads[first]),
            ),
        )
        for p in others
    ]
    parts = [run.vector(run.model.heads[p].v) for p in positions]
    entries = column(plus(*(part.rows[i][0] for part in parts)) for i in range(run.dim))
    return shared, plus(*(Symbol("v'", str(p + 1)) for p in positions)), entries


def _merged(run: Run) -> Iterator[Equation]:
    learned = {run.canonical_number(h): h for h in run.heads}
    for number_, (head, positions) in enumerate(zip(run.canonical.heads, run.canonical.groups, strict=True), 1):
        if len(positions) > 1:
            shared, name, total = _sum_of(run, positions)
            yield from shared
            v = Named(numbered("v", learned[number_]), run.vector(head.v))
            yield Equation(run.values, (v, Named(name, total), total, run.vector(head.v)))


def _discarded(run: Run) -> Iterator[Equation]:
    for positions in run.canonical.discarded:
        shared, name, total = _sum_of(run, positions)
        yield from shared
        zero = column([number(0)] * run.dim)
        spelled = (total,) if len(positions) > 1 else ()
        yield Equation(run.values, (Named(name, total), *spelled, zero))


def tokens(run: Run) -> Step:
    """The random tokens."""
    zero, grid = number(0), run.recovery.grid
    bases = [(run.finals(), run.recovery.b), (run.displacements(), run.recovery.u)]
    no_basis = "If the b_j or the u_i are no basis, two different layers give the same answers"
    return Step(
        "Random tokens",
        "The learner draws final tokens b_1..b_d, which will be last in a query, and displacements u_1..u_d at random: "
        f"the coordinates of the b_j from {grid.b_values} consecutive integers around 0, those of the u_i from "
        f"{grid.u_values}. Both must be bases (condition C1), so that W_h is determined by the d² numbers "
        "b_j^T W_h u_i, and v_h by the d numbers v_h·u_i. The b_j are the rows of B, the u_i the columns of U.",
        (),
        ((B, run.finals()), (U, run.displacements())),
        (
            group(
                "Condition C1: both determinants differ from 0",
                [
                    Equation(run.forms, (Call("det", (shown,)), number(_determinant(rows)), zero), relation="≠")
                    for shown, rows in bases
                ],
            ),
        ),
        (
            "C1: the b_j and the u_i are bases",
            bound_note(run),
            *redraw_notes(run, lambda profile: profile.startswith("token")),
        ),
        without(run, "dependent-tokens", no_basis)
        + (
            " With tokens known in advance, even bases, someone can build two layers that answer all of them alike "
            "(exactmha counterexample fixed-tokens)."
            if exists(run, "fixed-tokens")
            else ""
        ),
        Question(
            f"The coordinates of the u_i are drawn from S = {grid.u_values} values. How likely is det U = 0, and what "
            "does adding up such bounds for all conditions say?",
            _likely(run),
        ),
        "genericity-bound",
    )


def _determinant(rows: Sequence[IntToken]) -> fmpq:
    return fmpq(fmpz_mat([list(row) for row in rows]).det())


def _likely(run: Run) -> str:
    one, all_ = Rational(run.dim, run.recovery.grid.u_values), run.verification.failure_bound
    first = f"at most d/S = {one}" if one < 1 else f"at most d/S = {one}, which says nothing"
    total = f"at most {bound_text(all_)}"
    if all_ >= 1:
        total = f"{float(all_):.1f}, which says nothing (vacuous): the conditions are checked instead"
    return (
        f"By the lemma of Schwartz and Zippel, {first}: det U is a non-zero polynomial of degree d. "
        f"Over C1 to C4 the bounds add up to {total}."
    )


def bound_note(run: Run) -> str:
    """Say what is proved beforehand about tokens drawn like these."""
    bound = run.verification.failure_bound
    if bound >= 1:
        return (
            "the bound on the probability of bad tokens is above 1 for so few values, vacuous: the run rests on the "
            "conditions as checked"
        )
    return f"tokens drawn like these violate C1 to C4 with probability at most {bound_text(bound)}"


def redraw_notes(run: Run, here: Callable[[str], bool]) -> Iterator[str]:
    """Tell the tokens that were drawn again because a condition failed in a profile for which `here` is true."""
    told = [(redraw, why) for redraw, why in run.verification.diagnoses if here(redraw.profile)]
    yield from (_redraw(redraw, why) for redraw, why in told[:MOST_REDRAWS_TOLD])
    if len(told) > MOST_REDRAWS_TOLD:
        yield f"… and {counted(len(told) - MOST_REDRAWS_TOLD, 'redraw')} more of this kind"


def _redraw(redraw: Redraw, why: str) -> str:
    where = "" if redraw.conditions == ("C1",) else f" in {redraw.profile}"
    hidden = "" if why == redraw.witness else f"; behind the curtain, numbered as in exactmha verify: {why}"
    return (
        f"{redraw.token} was drawn again: {' or '.join(redraw.conditions)} failed{where}: "
        f"{redraw.witness} ({'1 query' if redraw.queries == 1 else f'{redraw.queries} queries'}, counted apart){hidden}"
    )
