"""Isolation: a probe token of weight 1 silences all heads but one, Hd² + O(H²d) queries (`proofs/budget-isolation`).

Where b^T W_h is known on a subspace, a w in it with b^T W_h w = 0 for all h has weight 1 in every head: "b + u, b +
w, b" is then the sample at κ = 1/2 of a profile with the residues v_h·u − (v_h·w)/2. Entries where no such w exists
are learned by their profile, as in `residues`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from flint import fmpq, fmpz, fmpz_mod, fmpz_mod_mat

from exactmha.budget.conditions import FIRST_PROBES, LATER_PROBES, WITHIN_LIMITS
from exactmha.budget.interpolate import copies
from exactmha.budget.lab import Lab, Row, Vector, assemble, combination, matched_by_sum, product, scaled, solve
from exactmha.budget.residues import extend, first_profile, later_entry, readouts
from exactmha.errors import BadPlace, ConditionFailed, NoInterpolant
from exactmha.fields.interface import Exponent, Scalar, Value, rational
from exactmha.heads import Head
from exactmha.modular.guess import Guess, MorePrecision
from exactmha.modular.places import Place
from exactmha.recover.profile import Profile

HALF = fmpq(1, 2)


def formula(heads: int, dim: int) -> int:
    """Return 1 + 2H(2m₁ − 1) + 2H(d − m₁) + (d − 1)(2Hm + H(d − m)), m₁ = min(d, 2H), m = min(d, 2H − 1)."""
    m_1, m = min(dim, 2 * heads), min(dim, 2 * heads - 1)
    first = 1 + 2 * heads * (2 * m_1 - 1) + 2 * heads * (dim - m_1)
    return first + (dim - 1) * (2 * heads * m + heads * (dim - m))


def label(heads: int, dim: int) -> str:
    """Return the expression in H and d that `formula` is for these H and d."""
    return "Hd² + 2H²d + 2H² − H + 1" if dim >= 2 * heads else "2H(d² + d − 1) + 1"


def longest(heads: int, _dim: int) -> int:
    """Return 2H + 1."""
    return 2 * heads + 1


def learn(lab: Lab) -> tuple[Head, ...]:
    """Recover all heads of an oracle with exactly `lab.heads` canonical heads."""
    row, profiles, base = first_profile(lab)
    for i in range(2, lab.dim + 1):
        profile = lab.retry([("u", i)], partial(_first_row_entry, lab, row, profiles, i, base))
        extend(row, profiles, lab, profile)
    v, s = readouts(lab, profiles, base)
    rows = [row]
    for j in range(2, lab.dim + 1):
        rows.append(lab.retry([("b", j)], partial(_later_row, lab, row, v, s, j)))
    return assemble(lab, rows, v)


# --- the first row -------------------------------------------------------------------------------


def _first_row_entry(lab: Lab, row: Row, profiles: Sequence[Profile], i: int, base: Value) -> Profile:
    probes = None
    if i > 2 * lab.heads:
        targets = [[lab.rational(int(h == g)) for h in range(lab.heads)] for g in range(lab.heads)]
        residues = [profile.residues for profile in profiles]
        probes = silent_probes(row, residues, targets, range(lab.heads))
        if probes is None:
            lab.fall_back(FIRST_PROBES, f"(b_1, u_{i})")
    if probes is not None:
        found = lab.unless_too_large(partial(_separated, lab, row, i, base, probes))
        if found is not None:
            return found
        lab.fall_back(WITHIN_LIMITS, f"(b_1, u_{i})")
    return matched_by_sum(lab, row, profiles[0], i, base, copies(2 * lab.heads))


def _separated(lab: Lab, row: Row, i: int, base: Value, probes: Sequence[Vector]) -> Profile:
    """Learn r and c of (b_1, u_i), heads numbered already: 2H queries.

    With v_h·w_g = δ_hg the answer for w_g exceeds that for w = 0 by 1/(2 + r_g); then c solves a Cauchy system.
    """
    name, u, zero = f"(b_1, u_{i})", lab.design.u[i - 1], (0,) * lab.dim
    plain = lab.ask(row.b, (u, 1), (zero, 1))
    probed = [lab.ask(row.b, (u, 1), (w, 1)) for w in probes]
    counts = range(1, lab.heads)
    samples = [plain, *(lab.ask(row.b, (u, k)) for k in counts)]
    nodes = [HALF, *map(fmpq, counts)]

    def guess(place: Place) -> Guess:
        ring = place.ring
        at_zero = ring(plain.image(place))
        poles = [1 / (ring(answer.image(place)) - at_zero) - 2 for answer in probed]
        x = [ring(int(node.p)) / ring(int(node.q)) for node in nodes]
        system = fmpz_mod_mat([[k * r / (1 + k * r) for r in poles] for k in x], ring)
        start = ring(base.image(place))
        right = fmpz_mod_mat([[ring(sample.image(place)) - start] for sample in samples], ring)
        return numbered(list(zip(poles, system.solve(right).entries(), strict=True)), place)

    def is_proved(found: Guess) -> bool:
        values = (lab.form(base, node, found.exponents, found.residues) for node in nodes)
        if not all(lab.same(answer, value) for answer, value in zip(samples, values, strict=True)):
            return False
        half = rational(lab.field, HALF)
        for g, answer in enumerate(probed):
            shifted = [lab.rational(-HALF if h == g else 0) for h in range(lab.heads)]
            if not lab.same(answer, plain + lab.form(half, HALF, found.exponents, shifted)):
                return False
        return True

    try:
        found = lab.search(name, guess, is_proved)
    except NoInterpolant as error:
        raise ConditionFailed(("C2",), profile=name, witness="the poles could not be told apart") from error
    if len(set(found.exponents)) < lab.heads:
        raise ConditionFailed(("C2",), profile=name, witness="two heads have one pole")
    lab.keep("separate", "first row, by probes", b=row.b, u=u, probes=list(probes))
    return Profile(name, found.exponents, found.residues)


def numbered(pairs: Sequence[tuple[fmpz_mod, fmpz_mod]], place: Place) -> Guess:
    """Lift pairs (r_h, c_h) and keep their order."""
    exponents: list[Exponent] = []
    residues: list[Scalar] = []
    for pole, residue in pairs:
        exponents.append(exponent_at(pole, place))
        scalar = place.scalar_of(fmpz(int(residue)))
        if scalar is None:
            raise MorePrecision("no lift")
        residues.append(scalar)
    return Guess(tuple(exponents), tuple(residues))


def exponent_at(pole: fmpz_mod, place: Place) -> Exponent:
    """Lift one pole; raises `BadPlace` where it is no unit and `MorePrecision` where it does not lift."""
    unit = fmpz(int(pole))
    if unit % place.prime == 0:
        raise BadPlace("a pole is no unit")
    exponent = place.exponent_of(unit)
    if exponent is None:
        raise MorePrecision("no lift")
    return exponent


# --- later rows ----------------------------------------------------------------------------------


def _later_row(lab: Lab, first: Row, v: Sequence[Sequence[Scalar]], s: Sequence[Scalar], j: int) -> Row:
    row = Row(lab.design.b[j - 1])
    for i in range(1, lab.dim + 1):
        u = lab.design.u[i - 1]
        probes = _isolating_probes(lab, row, v, u) if i >= 2 * lab.heads else None
        if probes is not None:
            found = lab.unless_too_large(partial(_isolated, lab, row, v, s, (j, i), probes))
            if found is not None:
                row.learn(u, found)
                continue
            lab.fall_back(WITHIN_LIMITS, f"(b_{j}, u_{i})")
        elif i >= 2 * lab.heads:
            lab.fall_back(LATER_PROBES, f"(b_{j}, u_{i})")
        later_entry(lab, first, row, v, s, (j, i))
    return row


def _isolating_probes(lab: Lab, row: Row, v: Sequence[Sequence[Scalar]], u: Vector) -> list[Vector] | None:
    """Return w_g with weight 1 in all heads, v_h·w_g = 2 v_h·u for h ≠ g, and e_g ≠ 0; None where there is none."""
    heads = range(lab.heads)
    residues = [[product(v_h, x) for v_h in v] for x in row.displacements]
    wanted = [scaled(product(v_h, u), 2) for v_h in v]
    found: list[Vector] = []
    for g in heads:
        others = [h for h in heads if h != g]
        probes = silent_probes(row, residues, [wanted], others)
        if probes is None or product(v[g], probes[0]) == wanted[g]:
            return None
        found += probes
    return found


def _isolated(
    lab: Lab,
    row: Row,
    v: Sequence[Sequence[Scalar]],
    s: Sequence[Scalar],
    place: tuple[int, int],
    probes: Sequence[Vector],
) -> list[Exponent]:
    """Learn r_g(b_j, u_i) for every head g: one query of length 3 each."""
    (j, i), u = place, lab.design.u[place[1] - 1]
    exponents = []
    for g, w in enumerate(probes):
        middle = [x + HALF * y for x, y in zip(row.b, w, strict=True)]
        residue = product(v[g], [x - HALF * y for x, y in zip(u, w, strict=True)])
        answer = lab.ask(row.b, (u, 1), (w, 1))
        exponents.append(lone_pole(lab, f"(b_{j}, u_{i})", answer, product(s, middle), residue, HALF))
    lab.keep("isolate", "later rows, by probes", b=row.b, u=u, probes=list(probes))
    return exponents


def lone_pole(lab: Lab, name: str, answer: Value, base: Scalar, residue: Scalar, at: fmpq) -> Exponent:
    """Return the exponent of r in answer = base + residue·κ r/(1 + κ r), proved in K."""
    start, top = lab.field.embed(base), lab.field.embed(residue)

    def guess(place: Place) -> Exponent:
        ring = place.ring
        y, c = ring(answer.image(place)) - ring(start.image(place)), ring(top.image(place))
        return exponent_at(y / (c - y) / (ring(int(at.p)) / ring(int(at.q))), place)

    return lab.search(name, guess, lambda e: lab.same(answer, lab.form(start, at, [e], [residue])))


# --- probe tokens --------------------------------------------------------------------------------


def silent_probes(
    row: Row,
    residues: Sequence[Sequence[Scalar]],
    targets: Sequence[Sequence[Scalar]],
    prescribed: Sequence[int],
) -> list[Vector] | None:
    """Return for each target t a known w with b^T W_h w = 0 for all h and v_h·w = t_h for the h in `prescribed`.

    `residues[a][h]` is v_h·displacements[a]. None where one of them does not exist.
    """
    if not row.displacements:
        return None
    heads, ranks = range(len(row.exponents[0])), range(len(row.exponents[0][0]))
    logits = [[e[h][x] for e in row.exponents] for h in heads for x in ranks]
    degree = len(residues[0][0])
    values = [[c[h][x] for c in residues] for h in prescribed for x in range(degree)]
    right = [[fmpq(0)] * len(targets) for _ in logits]
    right += [[target[h][x] for target in targets] for h in prescribed for x in range(degree)]
    solutions = solve([*logits, *values], right)
    if any(x is None for x in solutions):
        return None
    return [combination(x, row.displacements) for x in solutions if x is not None]
