"""Displacements adapted to the readouts: H(d² + d) + 2(d − 1) queries for 2 ≤ H ≤ min(d, 6) (`proofs/budget-adapted`).

The sum s of the v_h is asked first, with d queries, so every profile has a known value at κ = ∞ and costs 2H − 1
samples, and one query matches two known profiles. Once the v_h are known, a displacement that only head g sees costs
one query; one that two heads see with equal residues costs two, up to an exchange of the two heads; one query a row
settles all exchanges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, permutations
from itertools import product as choices
from math import factorial

from flint import fmpq

from exactmha.budget.choose import Options, choose
from exactmha.budget.conditions import INDEPENDENT, UNTIED, WITHIN_LIMITS
from exactmha.budget.frame import Frame, adapted_frame
from exactmha.budget.interpolate import Node, copies, guess_equal, kappa
from exactmha.budget.isolation import exponent_at, lone_pole
from exactmha.budget.lab import Lab, Row, Vector, add_all, assemble, product
from exactmha.budget.residues import extend
from exactmha.budget.single_head import readout as ask_sum
from exactmha.errors import InconsistentAnswers, Undecided
from exactmha.fields.interface import Exponent, Scalar, add_exponents
from exactmha.heads import Head
from exactmha.modular.places import Place
from exactmha.recover.assemble import readout
from exactmha.recover.match import match_displacements
from exactmha.recover.profile import Profile
from exactmha.recover.sample import add

PAIR_NODES: list[Node] = [(1, 0), (2, 0)]
MOST_PAIRS = 15
"""Pairs of heads up to which all 2^pairs exchanges are tried."""
MOST_PERMUTED = 7
"""Heads up to which all H! matchings are tried."""


def shared(candidates: int, each: int) -> int:
    """Return how many choices among `each` one query settles, if at most `candidates` (but one at least) are tried."""
    count = 1
    while each > 1 and each ** (count + 1) <= candidates:
        count += 1
    return count


def groups(first: int, last: int, size: int) -> list[range]:
    """Share out first..last among groups of at most `size`."""
    return [range(start, min(start + size, last + 1)) for start in range(first, last + 1, size)]


def has_frame(heads: int, dim: int) -> bool:
    """Whether later rows may use displacements that one head alone sees, if the readouts are independent."""
    return heads <= dim and heads * (heads - 1) // 2 <= MOST_PAIRS


def formula(heads: int, dim: int, candidates: int = 1) -> int:
    """Return the number of queries; `label` writes it down for one H and d."""
    row = 2 * heads - 1
    first = dim + row * dim
    if heads == 1:
        return first + (dim - 1) * dim
    if heads > MOST_PERMUTED:
        first += (dim - 1) * row
    else:
        first += len(groups(2, dim, shared(candidates, factorial(heads))))
    if not has_frame(heads, dim):
        return first + (dim - 1) * row * dim
    return first + (dim - 1) * heads * dim + len(groups(2, dim, shared(candidates, 2 ** (heads * (heads - 1) // 2))))


def group_sizes(heads: int, candidates: int) -> tuple[int, int]:
    """Return m and n: how many matchings, and how many rows of exchanges, one query settles."""
    return shared(candidates, factorial(heads)), shared(candidates, 2 ** (heads * (heads - 1) // 2))


def label(heads: int, dim: int, candidates: int = 1) -> str:
    """Return the expression in H and d that `formula` is for these H and d."""
    m, n = group_sizes(heads, candidates)
    if heads == 1:
        return "d² + d"
    if heads > MOST_PERMUTED:
        return "(2H − 1)(d² + d − 1) + d"
    if has_frame(heads, dim):
        if m == n == 1:
            return "H(d² + d) + 2(d − 1)"
        return f"H(d² + d) + {_divided(m)} + {_divided(n)}"
    return "(2H − 1)d² + 2d − 1" if m == 1 else f"(2H − 1)d² + d + {_divided(m)}"


def _divided(size: int) -> str:
    return f"⌈(d − 1)/{size}⌉" if size > 1 else "d − 1"


def longest(heads: int, _dim: int) -> int:
    """Return 2H."""
    return 2 * heads


def learn(lab: Lab, nodes: Sequence[Node] | None = None, candidates: int = 1) -> tuple[Head, ...]:
    """Recover all heads; `nodes` are the 2H − 1 nodes of a profile, by default k = 1..2H − 1 copies.

    One query settles one matching, or all exchanges of one row; several, as long as their choices together have at most
    `candidates` outcomes.
    """
    run = _Run(lab, ask_sum(lab), copies(2 * lab.heads - 1) if nodes is None else list(nodes))
    row, profiles = lab.retry([("b", 1), ("u", 1)], run.first_profile)
    size = 1 if lab.heads > MOST_PERMUTED else shared(candidates, factorial(lab.heads))
    for group in groups(2, lab.dim, size):
        for found in lab.retry([("u", i) for i in group], partial(run.first_row, row, profiles[0], group)):
            extend(row, profiles, lab, found)
    v = [readout(lab.design.u, [profile.residues[h] for profile in profiles]) for h in range(lab.heads)]
    if [add_all(parts) for parts in zip(*v, strict=True)] != run.s:
        raise InconsistentAnswers(f"the v_h do not sum to s: these answers have {lab.no_model}")
    frame = adapted_frame(v, lab.design.u) if has_frame(lab.heads, lab.dim) else _no_frame(lab)
    if lab.dim > 1 and has_frame(lab.heads, lab.dim):
        if not frame.duals:
            lab.fall_back(INDEPENDENT, "all later rows")
        elif frame.others:
            lab.fall_back(INDEPENDENT, f"{len(frame.others)} displacements of each later row, as v is irrational")
    return assemble(lab, run.all_later_rows(row, v, frame, group_sizes(lab.heads, candidates)[1]), v)


def _no_frame(lab: Lab) -> Frame:
    return Frame((), (), tuple(lab.design.u), 1)


@dataclass
class _Run:
    lab: Lab
    s: list[Scalar]
    nodes: list[Node]

    # --- the first row -------------------------------------------------------------------------

    def first_profile(self) -> tuple[Row, list[Profile]]:
        """Ask the profile (b_1, u_1), which numbers the heads."""
        b, u = self.lab.design.b[0], self.lab.design.u[0]
        first = self._profile("(b_1, u_1)", b, u)
        self.lab.keep("first", "first row (b_1, u_i)", b=b, u=u, nodes=self.nodes)
        return Row(b, [u], [first.exponents]), [first]

    def first_row(self, row: Row, first: Profile, group: Sequence[int]) -> list[Profile]:
        """Ask the profiles (b_1, u_i) of a group, and once f at (b_1, u_1 + Σ u_i), which matches them all."""
        lab, (u_1, *others) = self.lab, self.lab.design.u
        u = [others[i - 2] for i in group]
        found = [self._profile(f"(b_1, u_{i})", row.b, x) for i, x in zip(group, u, strict=True)]
        stage = "first row (b_1, u_i)"
        if lab.heads == 1:
            lab.keep("first", stage, b=row.b, u=u[0], nodes=self.nodes)
            return found
        if lab.heads > MOST_PERMUTED:
            total = self._profile(f"(b_1, u_1+u_{group[0]})", row.b, add(u_1, u[0]))
            lab.keep("by-sum", stage, b=row.b, u=u[0], first=u_1, nodes=self.nodes)
            return [found[0].permuted(match_displacements(first, found[0], total))]
        options = _sums(first, found)
        matchings = choices(permutations(range(lab.heads)), repeat=len(found))
        candidates = (tuple(_index(heads, lab.heads) for heads in zip(*orders, strict=True)) for orders in matchings)
        total_u = tuple(map(sum, zip(u_1, *u, strict=True)))
        name = "+".join(f"u_{i}" for i in (1, *group))
        best, counts = choose(
            lab,
            f"(b_1, {name})",
            (row.b, total_u),
            product(self.s, row.b),
            options,
            candidates,
        )
        lab.keep("by-one-sum", stage, b=row.b, us=u, first=u_1, nodes=self.nodes, counts=counts)
        orders = zip(*(_digits(o, lab.heads, len(found)) for o in best), strict=True)
        return [profile.permuted(order) for profile, order in zip(found, orders, strict=True)]

    def _profile(self, name: str, b: Vector, u: Vector) -> Profile:
        base, total = self.lab.field.embed(product(self.s, b)), product(self.s, u)
        return self.lab.profile(name, b, u, base, self.nodes, total)

    # --- later rows ----------------------------------------------------------------------------

    def all_later_rows(self, first: Row, v: Sequence[Sequence[Scalar]], frame: Frame, size: int) -> list[Row]:
        """Return `first` and all rows below it; without the frame from where its weights are too large."""
        lab, rows = self.lab, [first]
        while len(rows) < lab.dim:
            start = len(rows) + 1
            group = range(start, min(start + (size if frame.duals else 1), lab.dim + 1))
            attempt = partial(lab.retry, [("b", j) for j in group], partial(self.later_rows, first, v, frame, group))
            found = lab.unless_too_large(attempt) if frame.duals else attempt()
            if found is None:
                lab.fall_back(WITHIN_LIMITS, f"rows {start} to {lab.dim}")
                frame = _no_frame(lab)
            else:
                rows += found
        return rows

    def later_rows(self, first: Row, v: Sequence[Sequence[Scalar]], frame: Frame, group: Sequence[int]) -> list[Row]:
        """Learn b_j^T W_h on the frame for every j of a group."""
        rows, heads = [Row(self.lab.design.b[j - 1], name=f"b_{j}") for j in group], range(len(frame.duals))
        alone = [[self._alone(row, v, frame.duals[g], g, f"n_{g + 1}") for g in heads] for row in rows]
        shared_poles = self._pairs(rows, v, frame, alone)
        for row, mine, both in zip(rows, alone, shared_poles, strict=True):
            for h in heads:
                row.learn(frame.duals[h], [mine[g] if g == h else minus(both[g, h], mine[g]) for g in heads])
            for z in frame.blind:
                seen = [self._alone(row, v, _plus(frame.duals[g], z), g, f"n_{g + 1}+z") for g in heads]
                row.learn(z, [minus(seen[g], mine[g]) for g in heads])
            for u in frame.others:
                self._full_entry(first, row, v, u)
        return rows

    def _alone(self, row: Row, v: Sequence[Sequence[Scalar]], u: Vector, g: int, name: str) -> Exponent:
        """Learn b^T W_g u for a u that only head g sees: one query of length 2."""
        answer = self.lab.ask(row.b, (u, 1))
        exponent = lone_pole(
            self.lab, f"({row.name}, {name})", answer, product(self.s, row.b), product(v[g], u), fmpq(1)
        )
        self.lab.keep("silence", "later rows, one head", b=row.b, u=u, head=g)
        return exponent

    def _pairs(
        self, rows: Sequence[Row], v: Sequence[Sequence[Scalar]], frame: Frame, alone: Sequence[Sequence[Exponent]]
    ) -> list[dict[tuple[int, int], Exponent]]:
        """Return, row by row, the exponents of r_g(b, n_g + n_h), g ≠ h: two queries a pair, one for all exchanges."""
        lab, heads = self.lab, range(len(frame.duals))
        pairs = list(combinations(heads, 2))
        if not pairs:
            return [{} for _ in rows]
        sums = [_plus(frame.duals[g], frame.duals[h]) for g, h in pairs]
        found = [[self._pair(row, v, u, pair) for u, pair in zip(sums, pairs, strict=True)] for row in rows]
        u = tuple(sum((h + 1) * n[x] for h, n in enumerate(frame.duals)) for x in range(lab.dim))
        b = tuple(map(sum, zip(*(row.b for row in rows), strict=True)))
        options: Options = [
            [
                (_sum(x), product(v[g], u))
                for x in choices(*(_exponents(g, pairs, mine, poles) for mine, poles in zip(alone, found, strict=True)))
            ]
            for g in heads
        ]
        candidates = _exchanges(pairs, found, lab.heads)
        name = "+".join(row.name for row in rows)
        best, counts = choose(lab, f"({name}, Σ h·n_h)", (b, u), product(self.s, b), options, candidates)
        lab.keep("exchange", "later rows, exchanges", finals=[row.b for row in rows], u=u, counts=counts)
        masks = list(zip(*(_digits(o, 2 ** (lab.heads - 1), len(rows)) for o in best), strict=True))
        return [_settled(pairs, poles, mask) for poles, mask in zip(found, masks, strict=True)]

    def _pair(
        self, row: Row, v: Sequence[Sequence[Scalar]], u: Vector, pair: tuple[int, int]
    ) -> tuple[Exponent, Exponent]:
        """Learn the two poles for a u that two heads see with the same residue: two queries, no order."""
        lab, residue = self.lab, product(v[pair[0]], u)
        name = f"({row.name}, n_{pair[0] + 1}+n_{pair[1] + 1})"
        base = lab.field.embed(product(self.s, row.b))
        answers = lab.ask_profile(row.b, u, PAIR_NODES)
        top = lab.field.embed(residue)

        def guess(place: Place) -> tuple[Exponent, Exponent]:
            ring = place.ring
            start, c = ring(base.image(place)), ring(top.image(place))
            averages = [2 - (ring(answer.image(place)) - start) / c for answer in answers]
            left, right = sorted(exponent_at(pole, place) for pole in guess_equal(PAIR_NODES, averages, place))
            return left, right

        def is_proved(found: tuple[Exponent, Exponent]) -> bool:
            values = (lab.form(base, kappa(node), found, [residue, residue]) for node in PAIR_NODES)
            return all(lab.same(answer, value) for answer, value in zip(answers, values, strict=True))

        found = lab.search(name, guess, is_proved)
        lab.keep("pair", "later rows, two heads", b=row.b, u=u, heads=list(pair), nodes=PAIR_NODES)
        return found

    def _full_entry(self, first: Row, row: Row, v: Sequence[Sequence[Scalar]], u: Vector) -> None:
        """Learn a displacement that all heads may see: 2H − 1 queries, matched by residues, or by one sum if tied."""
        lab, i = self.lab, list(first.displacements).index(u)
        found = self._profile(f"({row.name}, u_{i + 1})", row.b, u)
        known = [product(v_h, u) for v_h in v]
        if set(found.residues) != set(known):
            raise InconsistentAnswers(f"{found.name}: the residues are not v_h·u: {lab.no_model}")
        if len(set(known)) == len(known):
            lab.keep("by-residues", "later rows, all heads", b=row.b, u=u, nodes=self.nodes)
            row.learn(u, [found.exponents[found.residues.index(c)] for c in known])
            return
        if lab.heads > MOST_PERMUTED:
            raise Undecided(f"{found.name}: two residues are equal, and {lab.heads}! matchings are too many to try")
        orders = [order for order in permutations(range(lab.heads)) if [found.residues[h] for h in order] == known]
        b = add(first.b, row.b)
        options = [
            [(add_exponents(e, e2), c) for e2 in found.exponents]
            for e, c in zip(first.exponents[i], known, strict=True)
        ]
        order, counts = choose(lab, f"(b_1+{row.name}, u_{i + 1})", (b, u), product(self.s, b), options, orders)
        lab.keep("by-one-final", "later rows, all heads", b=row.b, u=u, first=first.b, nodes=self.nodes, counts=counts)
        lab.fall_back(UNTIED, found.name)
        row.learn(u, [found.exponents[h] for h in order])


def _sums(first: Profile, others: Sequence[Profile]) -> Options:
    """Return what head h of `first` would be in the sum profile if it were head g_i in profile i of `others`."""
    options = []
    for e, c in zip(first.exponents, first.residues, strict=True):
        row = []
        for terms in choices(*(zip(other.exponents, other.residues, strict=True) for other in others)):
            row.append((_sum([e, *(x for x, _ in terms)]), add_all([c, *(y for _, y in terms)])))
        options.append(row)
    return options


def _exponents(
    g: int, pairs: Sequence[tuple[int, int]], alone: Sequence[Exponent], poles: Sequence[tuple[Exponent, Exponent]]
) -> list[Exponent]:
    """Return the exponents of head g at Σ_h h·n_h in one row, for every choice of its pairs to exchange."""
    mine = [p for p, pair in enumerate(pairs) if g in pair]
    others = [sum(pairs[p]) - g for p in mine]
    start = times(alone[g], g + 1 - sum(h + 1 for h in others))
    result = []
    for bits in choices((0, 1), repeat=len(mine)):
        sides = [poles[p][pairs[p].index(g) ^ bit] for p, bit in zip(mine, bits, strict=True)]
        result.append(_sum([start, *(times(e, h + 1) for e, h in zip(sides, others, strict=True))]))
    return result


def _exchanges(
    pairs: Sequence[tuple[int, int]], found: Sequence[Sequence[tuple[Exponent, Exponent]]], heads: int
) -> Iterator[tuple[int, ...]]:
    """Yield each head's option in `_exponents`, for every choice of pairs with different poles to exchange."""
    rows = [list(choices(*((0, 1) if left != right else (0,) for left, right in poles))) for poles in found]
    for bits in choices(*rows):
        masks = [
            [_index([bit for bit, pair in zip(row, pairs, strict=True) if g in pair], 2) for row in bits]
            for g in range(heads)
        ]
        yield tuple(_index(mask, 2 ** (heads - 1)) for mask in masks)


def _settled(
    pairs: Sequence[tuple[int, int]], poles: Sequence[tuple[Exponent, Exponent]], masks: Sequence[int]
) -> dict[tuple[int, int], Exponent]:
    """Return whose pole is whose in one row, given every head's mask."""
    result = {}
    for p, (g, h) in enumerate(pairs):
        mine = [q for q, pair in enumerate(pairs) if g in pair]
        bit = _digits(masks[g], 2, len(mine))[mine.index(p)]
        result[g, h], result[h, g] = poles[p][bit], poles[p][1 - bit]
    return result


def _index(digits: Sequence[int], base: int) -> int:
    """Return the position of a choice in the order of `itertools.product`."""
    total = 0
    for digit in digits:
        total = total * base + digit
    return total


def _digits(index: int, base: int, count: int) -> list[int]:
    """Return the choice at a position: the inverse of `_index`."""
    digits = []
    for _ in range(count):
        index, digit = divmod(index, base)
        digits.append(digit)
    return digits[::-1]


def _sum(exponents: Sequence[Exponent]) -> Exponent:
    """Return the exponent of a product of monomials."""
    return tuple(map(sum, zip(*exponents, strict=True)))


def _plus(left: Vector, right: Vector) -> Vector:
    return tuple(x + y for x, y in zip(left, right, strict=True))


def minus(left: Exponent, right: Exponent) -> Exponent:
    """Return the exponent of the quotient of two monomials."""
    return tuple(x - y for x, y in zip(left, right, strict=True))


def times(exponent: Exponent, factor: int) -> Exponent:
    """Return the exponent of a power of a monomial."""
    return tuple(factor * x for x in exponent)
