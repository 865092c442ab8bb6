"""The first half of the story: asking, and separating the heads of one profile.

The statements are proved in `proofs/canonical-uniqueness`, `proofs/profile-identity`, `proofs/genericity-bound`,
`proofs/interpolation-lemma`, `proofs/p-adic-guess` and `proofs/loewner-rank`.
"""

from __future__ import annotations

from math import comb

from exactmha.explain.equation import Equation
from exactmha.explain.formula import (
    Call,
    Fraction,
    Product,
    Sum,
    Summation,
    Symbol,
    Term,
    Transpose,
    column,
    matrix,
    minus,
    number,
    plus,
    times,
)
from exactmha.explain.run import Run
from exactmha.explain.story import Question, Step, group
from exactmha.outcome import counted
from exactmha.recover.learn import Sampled

B, U, S, K_ = Symbol("B"), Symbol("U"), Symbol("s"), Symbol("k")
F_K, R_H, C_H, V_H = Symbol("f", "k"), Symbol("r", "h"), Symbol("c", "h"), Symbol("v", "h")
ONE = number(1)
MOST_LINEAR = 3
"""Heads up to which the linear equations are written out; for more they are too long to read."""


def share(k: Term, r: Term, c: Term) -> Term:
    """Return c·k r/(1 + k r), one head's part of a profile."""
    return Fraction(times(c, k, r), plus(ONE, times(k, r)))


def profile_form(run: Run, sampled: Sampled, k: int) -> Term:
    """Return s·b + Σ_h c_h·k r_h/(1 + k r_h) with the numbers of a profile."""
    base = run.answer(sampled, 0)
    return plus(base, *(share(number(k), run.pole(sampled, h), run.residue(sampled, h)) for h in run.heads))


def black_box(run: Run) -> Step:
    """What a query is, and what the box computes but does not show."""
    first = run.sampled("b_1", "u_1")
    b, u = first.b, first.u
    equations = [
        Equation(run.values, (run.softmax(b, u, k), run.answer(first, k)), Symbol("f", str(k)))
        for k in range(1, min(2, len(first.answers)) + 1)
    ]
    return Step(
        "The black box",
        "A layer answers a sequence of tokens with one number. Inside, every head weighs the tokens by a softmax; "
        "the learner sees neither the weights nor the heads' separate values, only their sum.",
        (
            (
                Call("f", (Symbol("X"),)),
                Summation("h", times(Transpose(V_H), Summation("i", times(Symbol("p", "h,i"), Symbol("x", "i"))))),
            ),
        ),
        ((Symbol("b", "1"), matrix([[x] for x in b])), (Symbol("u", "1"), matrix([[x] for x in u]))),
        (
            group(
                "Behind the curtain: the answers to “k copies of b_1 + u_1, then b_1”, one term a head, the weight "
                "of the last token scaled to 1",
                equations,
            ),
        ),
        ("the softmax computed with the true heads gives the answers that the learner received",),
        "If a position code were added to the tokens, copies of one token would not be alike, and the next steps "
        "would fail (exactmha counterexample position-encoding).",
        Question(
            "Swap two tokens that are not the last one. Does the answer change?",
            "No: the sum over i does not depend on the order. Only the last token is special, as the query.",
        ),
        "profile-identity",
    )


def canonical_heads(run: Run) -> Step:
    """What can be recovered at all."""
    equations, discarded = [], []
    for head, positions in zip(run.canonical.heads, run.canonical.groups, strict=True):
        parts = [run.vector(run.model.heads[p].v) for p in positions]
        if len(parts) > 1:
            entries = tuple(plus(*(part.rows[i][0] for part in parts)) for i in range(run.dim))
            equations.append(Equation(run.values, (column(entries), run.vector(head.v)), Symbol("v")))
    for positions in run.canonical.discarded:
        parts = [run.vector(run.model.heads[p].v) for p in positions]
        entries = tuple(plus(*(part.rows[i][0] for part in parts)) for i in range(run.dim))
        discarded.append(Equation(run.values, (column(entries), column([number(0)] * run.dim)), Symbol("v")))
    groups = [group("Merged heads: their v add up", equations)] if equations else []
    groups += [group("Discarded heads: their v add up to 0", discarded)] if discarded else []
    count = len(run.model.heads)
    return Step(
        "Canonical heads",
        "Two heads with one W act like a single head with the sum of their v, and a head with v = 0 does nothing. So "
        "heads with equal W are merged and zero sums discarded: what is left is exactly what can be learned.",
        (
            (
                plus(times(Transpose(Symbol("v", "1")), Symbol("A")), times(Transpose(Symbol("v", "2")), Symbol("A"))),
                times(Transpose(plus(Symbol("v", "1"), Symbol("v", "2"))), Symbol("A")),
            ),
        ),
        (),
        tuple(groups),
        (f"of {counted(count, 'head')} in the instance, {len(run.canonical.heads)} are canonical",),
        "Without merging, (W, v) and (W, v') could be replaced by (W, v + v') and 0: no learner could tell "
        "(exactmha counterexample unmerged).",
        Question(
            "A layer has the heads (W, v) and (W, −v). Which function is it?",
            "The zero function: the two heads always cancel, whatever W is.",
        ),
        "canonical-uniqueness",
    )


def tokens(run: Run) -> Step:
    """The random tokens."""
    zero = number(0)
    redraws = run.recovery.redraws
    notes = [f"{r.token} was drawn again: {r.witness} ({r.queries} queries, counted apart)" for r in redraws[:4]]
    return Step(
        "Random tokens",
        "The learner draws final tokens b_1..b_d and displacements u_1..u_d at random. Both must be bases, so that "
        "W_h is determined by the d² numbers b_j^T W_h u_i, and v_h by the d numbers v_h·u_i.",
        (),
        ((B, run.finals()), (U, run.displacements())),
        (
            group(
                "Condition C1 (the b_j are the rows of B, the u_i the columns of U)",
                [
                    Equation(run.forms, (Call("det", (shown,)), zero), None, "≠")
                    for shown in (run.finals(), run.displacements())
                ],
            ),
        ),
        ("C1: both determinants differ from 0", *notes),
        "With tokens known in advance someone can build two layers that answer all of them alike "
        "(exactmha counterexample fixed-tokens).",
        Question(
            "How likely is det U = 0 when the coordinates are drawn from S values?",
            "At most d/S, by the lemma of Schwartz and Zippel: det U is a non-zero polynomial of degree d.",
        ),
        "genericity-bound",
    )


def copies(run: Run) -> Step:
    """The samples of the first profile."""
    first = run.sampled("b_1", "u_1")
    samples = [(Symbol("f", str(k)), run.answer(first, k)) for k in range(len(first.answers) + 1)]
    heads = len(run.heads)
    return Step(
        "Copies make a rational function",
        f"Ask “k copies of b_1 + u_1, then b_1” for k = 0, 1, …, {2 * heads}. The k copies weigh k r_h against 1, so "
        "the answer is a rational function of k: one fraction a head, with its pole at −1/r_h.",
        (
            (F_K, plus(times(Transpose(S), Symbol("b")), Summation("h", share(K_, R_H, C_H)))),
            (R_H, Call("exp", (times(Transpose(Symbol("b")), Symbol("W", "h"), Symbol("u")),))),
            (C_H, times(Transpose(V_H), Symbol("u"))),
        ),
        tuple(samples),
        (),
        (f"{counted(len(samples), 'answer')}; the longest query has {len(samples)} tokens",),
        "With one sample less, 2H, two different sets of H heads can agree on all samples "
        "(exactmha counterexample one-sample-short).",
        Question(
            "What does f_k tend to as k grows?",
            "To s·b + Σ c_h = s·(b + u): with very many copies, every head sees nearly nothing but b + u.",
        ),
        "profile-identity",
    )


def separate(run: Run) -> Step:
    """Poles and residues from the samples."""
    first = run.sampled("b_1", "u_1")
    heads = len(run.heads)
    poles = [run.pole(first, h) for h in run.heads]
    fitted = [
        Equation(run.values, (profile_form(run, first, k), run.answer(first, k)), Symbol("f", str(k)))
        for k in range(1, 2 * heads + 1)
    ]
    distinct = [
        Equation(run.values, (poles[g], poles[h]), Symbol("r", str(g + 1)), "≠") for h in run.heads for g in range(h)
    ]
    visible = [
        Equation(run.values, (run.residue(first, h), number(0)), Symbol("c", str(h + 1)), "≠") for h in run.heads
    ]
    linear = [_difference(run, first, a) for a in range(1, heads + 1)] if heads <= MOST_LINEAR else []
    groups = [
        *([group("Linear equations for Q, solved modulo a prime power", linear)] if linear else []),
        group("The proof: the guessed function takes every value", fitted),
        *([group("Condition C2: distinct poles", distinct)] if distinct else []),
        group("Condition C3: visible heads", visible),
    ]
    q = Symbol("Q", "k")
    return Step(
        "Separating the heads",
        "Let Q_k = Π_h (1 + k r_h) and g_k = (f_k − f_0)/k. Then Q_k g_k is a polynomial in k of degree below H, so "
        "its H-th differences vanish: linear equations for the coefficients of Q. Its roots are the poles −1/r_h. The "
        "learner solves this modulo a prime power (fast, and only a guess), and then proves the guess exactly.",
        (
            (q, Summation("h", plus(ONE, times(K_, R_H)), "Π")),
            (Symbol("g", "k"), Fraction(minus(F_K, Symbol("f", "0")), K_)),
        ),
        tuple(
            (Symbol(name, str(h + 1)), term)
            for h in run.heads
            for name, term in (("r", poles[h]), ("c", run.residue(first, h)))
        ),
        tuple(groups),
        (
            "every answer equals the guessed function, exactly",
            "distinct poles and non-zero residues: by the interpolation lemma no other function of this form with at "
            f"most {counted(heads, 'head')} fits",
        ),
        "Two heads with one pole would look like a single head; a head with c_h = 0 would be invisible. Then a token "
        "is drawn again.",
        Question(
            f"Why are 2H + 1 = {2 * heads + 1} samples enough?",
            "The difference of two such functions has a numerator of degree at most 2H, so it cannot vanish at 2H + 1 "
            "points unless it is zero.",
        ),
        "interpolation-lemma",
    )


def _difference(run: Run, sampled: Sampled, a: int) -> Equation:
    """Return the H-th difference of Q_k g_k at k = a, which vanishes."""
    heads, terms = len(run.heads), []
    for m in range(heads + 1):
        k = number(a + m)
        factors = [plus(ONE, times(k, run.pole(sampled, h))) for h in run.heads]
        slope = Fraction(minus(run.answer(sampled, a + m), run.answer(sampled, 0)), k)
        coefficient = comb(heads, m)
        parts = [*([number(coefficient)] if coefficient > 1 else []), *factors, slope]
        terms.append(((-1) ** m, Product(tuple(parts))))
    return Equation(run.values, (Sum(tuple(terms)), number(0)))


def how_many(run: Run) -> Step:
    """The Loewner matrix, whose rank is the number of heads."""
    first = run.sampled("b_1", "u_1")
    heads = len(run.heads)
    equations = []
    for x in range(min(2, heads)):
        for y in range(heads, heads + min(2, heads)):
            quotient = Fraction(minus(run.answer(first, x), run.answer(first, y)), number(x - y))
            equations.append(Equation(run.values, (quotient, _loewner(run, first, x, y)), Symbol("L", f"{x},{y}")))
    r, c = R_H, C_H
    bottom = times(plus(ONE, times(Symbol("x"), r)), plus(ONE, times(Symbol("y"), r)))
    return Step(
        "Counting the heads",
        "Divided differences of the samples form a Loewner matrix, a product of two Cauchy matrices with a diagonal "
        "matrix between them. Its rank is the number of heads; this is how H is found when only a bound is known.",
        ((Symbol("L", "x,y"), Summation("h", Fraction(times(c, r), bottom))),),
        (),
        (group("Entries of the Loewner matrix, from the answers and from the heads", equations),),
        (f"rank {heads}: the {counted(heads, 'pole')} above are distinct and no residue vanishes",),
        "Told too few heads, a learner may still find an interpolant, and must notice later "
        "(exactmha counterexample wrong-head-count).",
        Question(
            "What is the rank if two heads share a pole and their residues cancel?",
            "Two less than H: the two fractions add up to nothing, so neither head is visible in this profile.",
        ),
        "loewner-rank",
    )


def _loewner(run: Run, sampled: Sampled, x: int, y: int) -> Term:
    terms: list[Term] = []
    for h in run.heads:
        r, c = run.pole(sampled, h), run.residue(sampled, h)
        factors = [plus(ONE, times(number(n), r)) for n in (x, y) if n]
        terms.append(Fraction(times(c, r), times(*factors)) if factors else times(c, r))
    return plus(*terms)
