"""The middle of the story: asking, separating the heads of one profile, and counting them.

The statements are proved in `proofs/profile-identity`, `proofs/interpolation-lemma`, `proofs/p-adic-guess` and
`proofs/loewner-rank`.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

from exactmha.counterexamples.tokens import WHY_ONE_DIM
from exactmha.explain.equation import Equation, Residues
from exactmha.explain.formula import (
    Call,
    Fraction,
    Matrix,
    Named,
    Power,
    Sum,
    Summation,
    Symbol,
    Term,
    Transpose,
    minus,
    number,
    parsed,
    plus,
    times,
)
from exactmha.explain.guess import guessed
from exactmha.explain.otherwise import without
from exactmha.explain.run import Run
from exactmha.explain.steps_begin import numbered, redraw_notes
from exactmha.explain.story import Group, Question, Step, group
from exactmha.outcome import counted
from exactmha.recover.learn import Sampled

S, K_ = Symbol("s"), Symbol("k")
F_K, R_H, C_H, V_H = Symbol("f", "k"), Symbol("r", "h"), Symbol("c", "h"), Symbol("v", "h")
ONE = number(1)
MOST_LINEAR = 3
"""Heads up to which linear equations and determinants are written out; for more they are too long to read."""
FIRST = "(b_1, u_1)"


def share(k: Term, r: Term, c: Term) -> Term:
    """Return c·k r/(1 + k r), one head's part of a profile."""
    return Fraction(times(c, k, r), plus(ONE, times(k, r)))


def profile_form(run: Run, sampled: Sampled, k: int) -> Term:
    """Return s·b + Σ_h c_h·k r_h/(1 + k r_h) with the numbers of a profile."""
    base = run.answer(sampled, 0)
    return plus(base, *(share(number(k), run.pole(sampled, h), run.residue(sampled, h)) for h in run.heads))


def copies(run: Run) -> Step:
    """The samples of the first profile."""
    first = run.sampled("b_1", "u_1")
    answers = [
        Equation(
            run.values,
            (Named(Symbol("f", str(k)), run.softmax(first, k)), run.answer(first, k)),
            about=run.needs_decimal(run.answer(first, k)),
        )
        for k in range(len(first.answers) + 1)
    ]
    heads = len(run.heads)
    return Step(
        "Copies make a rational function",
        f"Ask “k copies of b_1 + u_1, then b_1” for k = 0, 1, …, {2 * heads}. The k copies weigh k r_h against 1, so "
        "the answer f_k is a rational function of k: f_0 = s·b, with s = Σ_h v_h, and one fraction a head. The number "
        "c_h = v_h·u is called the residue of head h, and the place k = −1/r_h is its pole (there the textbook residue "
        "of the fraction is −c_h/r_h). The profile (b, u) is s·b with the pairs (r_h, c_h).",
        (
            (F_K, plus(times(Transpose(S), Symbol("b")), Summation("h", share(K_, R_H, C_H)))),
            (S, Summation("h", V_H)),
            (R_H, Call("exp", (times(Transpose(Symbol("b")), Symbol("W", "h"), Symbol("u")),))),
            (C_H, times(Transpose(V_H), Symbol("u"))),
        ),
        (),
        (group("The answers: all that the learner sees", answers),),
        (f"{counted(len(answers), 'answer')}; the longest query has {len(answers)} tokens",),
        without(
            run,
            "one-sample-short",
            "With one sample less, 2H, two different sets of H heads can agree on all samples",
            flat="the extra relation u·f_0 = b·Σ c_h makes one sample less enough",
        ),
        Question(
            "What does f_k tend to as k grows?",
            "To s·b + Σ c_h = s·(b + u): with very many copies, every head sees nearly nothing but b + u.",
        ),
        "profile-identity",
    )


def separate(run: Run) -> Step:
    """Ratios and residues from the samples: linear equations, the guess, the proof."""
    first = run.sampled("b_1", "u_1")
    heads = len(run.heads)
    fitted = [
        Equation(run.values, (profile_form(run, first, k), run.answer(first, k)), Symbol("f", str(k)))
        for k in range(1, 2 * heads + 1)
    ]
    distinct = [
        Equation(
            run.values,
            (_ratio(run, first, g), run.pole(first, g), run.pole(first, h), _ratio(run, first, h)),
            relation="≠",
            at=1,
        )
        for h in run.heads
        for g in range(h)
    ]
    visible = [
        Equation(run.values, (_residue(run, first, h), run.residue(first, h), number(0)), relation="≠")
        for h in run.heads
    ]
    written = heads <= MOST_LINEAR
    groups = [
        *(_unknowns(run, first) if written else []),
        *_guess(run, first),
        group("The proof: the guessed function takes every value", fitted),
        *([group("Condition C2: distinct poles", distinct)] if distinct else []),
        group("Condition C3: visible heads", visible),
    ]
    left_out = "" if written else f" For {heads} heads they are too long to be shown."
    Q = Symbol("Q", "k")
    powers = [
        times(numbered("q", 0), K_),
        *([Symbol("...")] if heads > 2 else []),
        *([times(numbered("q", heads - 1), Power(K_, heads))] if heads > 1 else []),
    ]
    return Step(
        "Separating the heads",
        "The unknowns are the coefficients q_1..q_H of Q_k = Π_h (1 + k r_h). With g_k = (f_k − f_0)/k, the product "
        "Q_k g_k is a polynomial in k of degree below H, so its H-th differences vanish: H linear equations in "
        f"q_1..q_H, whose coefficients are computed from the answers.{left_out} The roots of Q are the poles −1/r_h; "
        "with the r_h known, the c_h solve linear equations too. The learner does all this modulo a power of a prime p "
        "(fast, and only a guess), lifts r_h and c_h to K, and then proves the guess exactly.",
        (
            (Q, Summation("h", plus(ONE, times(K_, R_H)), "Π"), plus(ONE, *powers)),
            (Symbol("g", "k"), Fraction(minus(F_K, Symbol("f", "0")), K_)),
        ),
        (),
        tuple(groups),
        (
            "every answer equals the guessed function, exactly",
            "distinct poles and non-zero residues: by the interpolation lemma no other function of this form with at "
            f"most {counted(heads, 'head')} fits",
            *redraw_notes(run, lambda profile: profile == FIRST),
        ),
        _unseparated(run),
        Question(
            f"Why are 2H + 1 = {2 * heads + 1} samples enough?",
            "The difference of two such functions has a numerator of degree at most 2H, so it cannot vanish at 2H + 1 "
            "points unless it is zero.",
        ),
        "interpolation-lemma",
    )


def _unseparated(run: Run) -> str:
    if run.dim == 1:
        return (
            "Two heads with one pole would look like a single head, and a head with c_h = 0 would be invisible. For "
            f"d = 1 C1 excludes both: {WHY_ONE_DIM}."
        )
    collide = without(
        run,
        "colliding-poles",
        "Two heads with one pole would look like a single head",
        alone="a single head has no other to collide with",
    )
    invisible = without(run, "invisible-head", "A head with c_h = 0 would be invisible")
    return f"{collide} {invisible} Where a condition fails, a token is drawn again."


def _ratio(run: Run, sampled: Sampled, h: int) -> Named:
    """Return r_h by name, which stands for the weight of the hidden head."""
    return Named(numbered("r", h), run.hidden_ratio(sampled, h))


def _residue(run: Run, sampled: Sampled, h: int) -> Named:
    return Named(numbered("c", h), run.hidden_residue(sampled, h))


def _elementary(factors: list[Term], size: int) -> Term:
    """Return the sum of the products of `size` of the factors."""
    return plus(*(times(*chosen) for chosen in combinations(factors, size)))


def _coefficient(run: Run, sampled: Sampled, j: int) -> Named:
    """Return q_j by name, which stands for the elementary symmetric function of the r_h."""
    return Named(Symbol("q", str(j)), _elementary([run.pole(sampled, h) for h in run.heads], j))


def _slope(run: Run, sampled: Sampled, k: int) -> Fraction:
    return Fraction(minus(run.answer(sampled, k), run.answer(sampled, 0)), number(k))


def _unknowns(run: Run, sampled: Sampled) -> list[Group]:
    """Return the linear equations for Q and for the c_h, with the unknowns as names."""
    slopes = []
    for k in range(1, len(sampled.answers) + 1):
        slope = _slope(run, sampled, k)
        slopes.append(Equation(run.values, (slope, run.exact(slope)), Symbol("g", str(k))))
    heads = len(run.heads)
    names, of = (", ".join(f"{letter}_{h}" for h in range(1, heads + 1)) for letter in "qc")
    residues = [_rise(run, sampled, k) for k in range(1, heads + 1)]
    return [
        group("The g_k, from the answers", slopes),
        group(
            f"Linear equations for Q, in {names}",
            [_difference(run, sampled, a) for a in range(1, heads + 1)],
        ),
        group(
            "Their solution, in the r_h",
            [_symmetric(run, sampled, j) for j in range(1, heads + 1)],
        ),
        group(f"Linear equations for the residues, in {of}", residues),
    ]


def _symmetric(run: Run, sampled: Sampled, j: int) -> Equation:
    """Return q_j as a polynomial in the r_h, then with numbers; products of numbers are worked out where short."""
    named = _elementary([_ratio(run, sampled, h) for h in run.heads], j)
    spelled = _elementary([run.pole(sampled, h) for h in run.heads], j)
    value = run.exact(spelled)
    return Equation(run.values, (named, spelled, *([] if value == spelled else [value])), Symbol("q", str(j)))


def _difference(run: Run, sampled: Sampled, a: int) -> Equation:
    """Return Σ_m (−1)^m binom(H, m)·g_{a+m}·Q_{a+m} = 0, the H-th difference at k = a, sorted by q_0 = 1, q_1, …."""
    heads = len(run.heads)
    named, spelled = [], []
    for j in range(heads + 1):
        terms: list[tuple[int, Term]] = []
        for m in range(heads + 1):
            k, factor = a + m, comb(heads, m) * (a + m) ** j
            slope = Named(Symbol("g", str(k)), _slope(run, sampled, k))
            terms.append(((-1) ** m, times(*([number(factor)] if factor > 1 else []), slope)))
        total = Sum(tuple(terms))
        unknown = [_coefficient(run, sampled, j)] if j else []
        named.append(times(total, *unknown))
        spelled.append(times(run.exact(total), *unknown))
    numbers = [] if run.model.field.name == "exponential" else [plus(*spelled)]  # there they would fill pages
    return Equation(run.values, (plus(*named), *numbers, number(0)))


def _rise(run: Run, sampled: Sampled, k: int) -> Equation:
    """Return Σ_h c_h·k r_h/(1 + k r_h) = f_k − f_0, linear in the c_h."""
    shares = [share(number(k), run.pole(sampled, h), ONE) for h in run.heads]
    parts = [times(_residue(run, sampled, h), _worked(run, shares[h])) for h in run.heads]
    rise = minus(run.answer(sampled, k), run.answer(sampled, 0))
    return Equation(run.values, (plus(*parts), rise))


def _worked(run: Run, term: Term) -> Term:
    """Return the value of a term in a field where it is short."""
    return term if run.model.field.name == "exponential" else run.exact(term)


def _guess(run: Run, sampled: Sampled) -> list[Group]:
    """Return what was found modulo a prime, each number beside what it was lifted to."""
    found = guessed(run, sampled)
    if found is None:
        return []
    world, heads = Residues(run.model.field, found.place), len(run.heads)
    generator = parsed(str(run.model.field.monomial((1,)))) if run.model.field.name != "rational" else None
    lines = []
    if generator is not None:
        image = number(int(found.place.generators[0]) % found.place.prime)
        lines.append(Equation(world, (generator, image)))
    lines += [
        Equation(world, (_coefficient(run, sampled, j), number(found.coefficients[j - 1]))) for j in range(1, heads + 1)
    ]
    lines += [
        Equation(world, (hidden, number(value), *([] if number(value) == lifted else [lifted])))
        for h in run.heads
        for hidden, value, lifted in (
            (_ratio(run, sampled, h), found.ratios[h], run.pole(sampled, h)),
            (_residue(run, sampled, h), found.residues[h], run.residue(sampled, h)),
        )
    ]
    prime, precision = found.place.prime, found.place.precision
    return [Group(f"The guess: equations in Z/p, p = {prime}; solved and lifted modulo p^{precision}", tuple(lines))]


def how_many(run: Run) -> Step:
    """The Loewner matrix, whose rank is the number of visible heads."""
    first = run.sampled("b_1", "u_1")
    heads = len(run.heads)
    rows, columns = range(heads), range(heads, 2 * heads)
    quotients = [[_divided(run, first, x, y) for y in columns] for x in rows]
    equations = [
        Equation(run.values, (quotients[x][y - heads], _loewner(run, first, x, y)), Symbol("L", f"{x},{y}"))
        for x in rows
        for y in columns
    ]
    r, c = R_H, C_H
    bottom = times(plus(ONE, times(Symbol("x"), r)), plus(ONE, times(Symbol("y"), r)))
    x, y = Symbol("x"), Symbol("y")
    return Step(
        "Counting the heads",
        "Divided differences of the samples form a Loewner matrix, a product of two Cauchy matrices with the diagonal "
        "matrix of the c_h r_h between them. Its rank is the number of visible heads with distinct poles; this is how "
        f"H is found when only a bound is known. Rows belong to x = {_span(rows)} and columns to y = {_span(columns)}: "
        "any H and H other samples would do, but no x may be a y, where the quotient would be 0/0.",
        (
            (
                Symbol("L", "x,y"),
                Fraction(minus(Symbol("f", "x"), Symbol("f", "y")), minus(x, y)),
                Summation("h", Fraction(times(c, r), bottom)),
            ),
        ),
        (),
        (
            group("Entries of the Loewner matrix, from the answers and from the heads", equations),
            *_determinant(run, quotients),
        ),
        (
            f"rank {heads}: the determinant is not 0"
            if heads <= MOST_LINEAR
            else f"rank {heads}, by C2 and C3 of step 5; the determinant of {heads} rows is too long to be shown",
            "no function of this form with fewer heads fits the answers",
        ),
        without(
            run,
            "wrong-head-count",
            "Told too few heads, a learner may still find an interpolant, and must notice later",
            alone="the only smaller number is 0, and a learner told no head asks nothing",
            flat="then u·f_0 = b·Σ c_h, or a ratio that is no monomial, tells",
        ),
        Question(
            "What is the rank if two heads share a pole and their residues cancel?",
            "Two less than H: the two fractions add up to nothing, so neither head is visible in this profile.",
        ),
        "loewner-rank",
    )


def _span(numbers: range) -> str:
    return ", ".join(map(str, numbers))


def _divided(run: Run, sampled: Sampled, x: int, y: int) -> Term:
    return Fraction(minus(run.answer(sampled, x), run.answer(sampled, y)), number(x - y))


def _determinant(run: Run, quotients: list[list[Term]]) -> list[Group]:
    """Return that the determinant is not 0, expanded exactly in K, for a matrix that can be read."""
    heads = len(run.heads)
    if heads > MOST_LINEAR:
        return []
    names = Matrix(
        tuple(
            tuple(Named(Symbol("L", f"{x},{heads + y}"), quotient) for y, quotient in enumerate(row))
            for x, row in enumerate(quotients)
        )
    )
    determinant: Term = names.rows[0][0] if heads == 1 else Call("det", (names,))
    sides = [determinant]
    if run.model.field.name != "exponential":  # there the value would fill a page
        worked = Matrix(tuple(tuple(run.exact(quotient) for quotient in row) for row in quotients))
        sides += [*([Call("det", (worked,))] if heads > 1 else []), run.exact(determinant)]
    heading = "Its determinant is not 0" if heads > 1 else "Its only entry is not 0"
    return [group(heading, [Equation(run.values, (*sides, number(0)), relation="≠")])]


def _loewner(run: Run, sampled: Sampled, x: int, y: int) -> Term:
    terms: list[Term] = []
    for h in run.heads:
        r, c = run.pole(sampled, h), run.residue(sampled, h)
        factors = [plus(ONE, times(number(n), r)) for n in (x, y) if n]
        terms.append(Fraction(times(c, r), times(*factors)) if factors else times(c, r))
    return plus(*terms)
