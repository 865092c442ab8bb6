"""Vector outputs: an oracle that returns m numbers at once, all with the same poles (`proofs/budget-vector`).

Heads (W_h, V_h), V_h ∈ R^{m×d}: f(X) = Σ_h V_h Σ_i p_{h,i} x_i ∈ R^m. A profile needs n = H + ⌈H/m⌉ samples instead
of 2H, since the m outputs share the pole polynomial. Matched by residues: (H + ⌈H/m⌉)(d² + d − 1) + 1 queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from flint import fmpq, fmpz, fmpz_mod, fmpz_mod_mat, nmod_mat

from exactmha.budget.interpolate import Singular, difference_weights
from exactmha.budget.isolation import exponent_at
from exactmha.budget.lab import Lab, Row, Vector, add_all, assemble, product
from exactmha.errors import ConditionFailed, InconsistentAnswers, InputError
from exactmha.fields.interface import Field, Scalar, Value
from exactmha.heads import Head, Matrix
from exactmha.modular.guess import Guess, MorePrecision, roots
from exactmha.modular.places import Place
from exactmha.recover.assemble import readout
from exactmha.recover.match import match_displacements
from exactmha.recover.profile import Profile
from exactmha.recover.sample import add
from exactmha.sequences import Token


class VectorOracle(Protocol):
    """All that a learner sees of a layer with m outputs."""

    @property
    def field(self) -> Field:
        """The public exact field."""
        ...

    @property
    def dim(self) -> int:
        """The dimension d of the tokens."""
        ...

    @property
    def outputs(self) -> int:
        """The number m of outputs."""
        ...

    def ask(self, sequence: Sequence[Token], /) -> Sequence[Value]:
        """Return the m numbers f(X); one query."""
        ...


@dataclass(frozen=True, slots=True)
class VectorHead:
    """One head: W as in `Head`, and m vectors v, one for every output."""

    W: tuple[Matrix, ...]
    V: tuple[tuple[Scalar, ...], ...]


def samples(heads: int, outputs: int) -> int:
    """Return n = H + ⌈H/m⌉, the samples of one profile."""
    return heads + -(-heads // outputs)


def formula(heads: int, dim: int, outputs: int) -> int:
    """Return (H + ⌈H/m⌉)(d² + d − 1) + 1."""
    return samples(heads, outputs) * (dim * dim + dim - 1) + 1


def learn(lab: Lab) -> tuple[Head, ...]:
    """Recover all heads of a vector oracle; the v of a returned head holds m scalars, joined, in every coordinate."""
    run = _Run(lab, getattr(lab.oracle, "outputs", 1))
    row, profiles, base = lab.retry([("b", 1), ("u", 1)], run.first_profile)
    for i in range(2, lab.dim + 1):
        found = lab.retry([("u", i)], partial(run.first_row_entry, row, profiles[0], i, base))
        row.learn(lab.design.u[i - 1], found.exponents)
        profiles.append(found)
    v = [run.readout([profile.residues[h] for profile in profiles]) for h in range(lab.heads)]
    s = [add_all(parts) for parts in zip(*v, strict=True)]
    if not run.same(base, run.embed(product(s, row.b))):
        raise InconsistentAnswers(f"f(b_1) differs from s·b_1: these answers have {lab.no_model}")
    rows = [row]
    for j in range(2, lab.dim + 1):
        rows.append(lab.retry([("b", j)], partial(run.later_row, v, s, j)))
    return assemble(lab, rows, v)


def split(head: Head, outputs: int) -> VectorHead:
    """Return a head that `learn` found with its outputs told apart."""
    size = len(head.v[0]) // outputs
    parts = range(0, len(head.v[0]), size)
    return VectorHead(head.W, tuple(tuple(x[part : part + size] for x in head.v) for part in parts))


@dataclass
class _Run:
    """One run. An *answer* is a list of m values, a *residue* m scalars joined to one tuple."""

    lab: Lab
    outputs: int

    def __post_init__(self) -> None:
        if self.outputs < 1:
            raise InputError("must be positive", field="outputs", value=self.outputs)
        self.samples = samples(self.lab.heads, self.outputs)

    def first_profile(self) -> tuple[Row, list[Profile], Any]:
        b, u = self.lab.design.b[0], self.lab.design.u[0]
        base: Any = self.lab.ask(b)
        self.lab.keep("base", "base value f(b_1)")
        first = self.profile("(b_1, u_1)", b, u, base)
        self.lab.keep("profile", "first row")
        return Row(b, [u], [first.exponents]), [first], base

    def first_row_entry(self, row: Row, first: Profile, i: int, base: Any) -> Profile:
        u_1, u = self.lab.design.u[0], self.lab.design.u[i - 1]
        found = self.profile(f"(b_1, u_{i})", row.b, u, base)
        total = self.profile(f"(b_1, u_1+u_{i})", row.b, add(u_1, u), base)
        found = found.permuted(match_displacements(first, found, total))
        self.lab.keep("profile", "first row, with sums")
        return found

    def later_row(self, v: Sequence[Sequence[Scalar]], s: Sequence[Scalar], j: int) -> Row:
        row = Row(self.lab.design.b[j - 1])
        base = self.embed(product(s, row.b))
        for i, u in enumerate(self.lab.design.u, 1):
            name, known = f"(b_{j}, u_{i})", [product(v_h, u) for v_h in v]
            if len(set(known)) < len(known):
                raise ConditionFailed(("tied residues",), profile=name, witness="two heads have one residue")
            found = self.profile(name, row.b, u, base)
            if set(known) != set(found.residues):
                raise InconsistentAnswers(f"{name}: the residues are not V_h u")
            row.learn(u, [found.exponents[found.residues.index(c)] for c in known])
            self.lab.keep("profile", "later rows")
        return row

    # --- values in K^m -------------------------------------------------------------------------

    def parts(self, scalar: Scalar) -> list[Scalar]:
        size = self.lab.field.degree
        return [scalar[i : i + size] for i in range(0, len(scalar), size)]

    def embed(self, scalar: Scalar) -> list[Value]:
        return [self.lab.field.embed(part) for part in self.parts(scalar)]

    def same(self, left: Sequence[Value], right: Sequence[Value]) -> bool:
        return all(self.lab.same(x, y) for x, y in zip(left, right, strict=True))

    def readout(self, residues: Sequence[Scalar]) -> tuple[Scalar, ...]:
        columns = [readout(self.lab.design.u, part) for part in zip(*map(self.parts, residues), strict=True)]
        return tuple(tuple(x for scalar in scalars for x in scalar) for scalars in zip(*columns, strict=True))

    # --- profiles ------------------------------------------------------------------------------

    def profile(self, name: str, b: Vector, u: Vector, base: Sequence[Value]) -> Profile:
        """Ask n = H + ⌈H/m⌉ samples of (b, u) and prove the profile; unique, since its linear system has full rank."""
        answers: list[Any] = [self.lab.ask(b, (u, k)) for k in range(1, self.samples + 1)]

        def guess(place: Place) -> Guess:
            images = [[value.image(place) for value in answer] for answer in (base, *answers)]
            return shared_poles(list(zip(*images, strict=True)), self.lab.heads, place)

        def is_proved(found: Guess) -> bool:
            if len(set(found.exponents)) < self.lab.heads or not all(any(c) for c in found.residues):
                return False
            for k, answer in enumerate(answers, 1):
                by_output = zip(*map(self.parts, found.residues), strict=True)
                values = [self.lab.form(x, fmpq(k), found.exponents, c) for x, c in zip(base, by_output, strict=True)]
                if not self.same(answer, values):
                    return False
            return True

        found = self.lab.search(name, guess, is_proved)
        return Profile(name, found.exponents, found.residues)


def shared_poles(samples: Sequence[Sequence[fmpz]], heads: int, place: Place) -> Guess:
    """Guess poles and joined residues from samples[c][k], k = 0..n, of each output c.

    Q·g_c is a polynomial of degree < H for every c: n − H equations each for the H coefficients of Q.
    """
    ring = place.ring
    x = [ring(k) for k in range(1, len(samples[0]))]
    weights = difference_weights(x, ring(1))
    slopes = [[(ring(f) - ring(row[0])) / k for f, k in zip(row[1:], x, strict=True)] for row in samples]

    def functional(g: Sequence[fmpz_mod], power: int) -> fmpz_mod:
        return sum((w * y * k**power for w, y, k in zip(weights, g, x, strict=True)), ring(0))

    equations = [[functional(g, i + j) for j in range(heads + 1)] for g in slopes for i in range(len(x) - heads)]
    chosen = _independent([row[1:] for row in equations], place)
    if len(chosen) < heads:
        raise Singular("the outputs do not determine the poles modulo p")
    matrix = fmpz_mod_mat([equations[i][1:] for i in chosen], ring)
    q = matrix.solve(fmpz_mod_mat([[-equations[i][0]] for i in chosen], ring)).entries()
    reversed_q = place.polynomials([*reversed(q), 1])
    poles = [-y for y in roots(reversed_q, reversed_q.derivative(), place)]
    system = fmpz_mod_mat([[k * r / (1 + k * r) for r in poles] for k in x[:heads]], ring)
    columns = [
        system.solve(fmpz_mod_mat([[y * k] for y, k in zip(g[:heads], x, strict=False)], ring)).entries()
        for g in slopes
    ]
    found = []
    for pole, residues in zip(poles, zip(*columns, strict=True), strict=True):
        scalars = [place.scalar_of(fmpz(int(c))) for c in residues]
        if any(c is None for c in scalars):
            raise MorePrecision("no lift")
        found.append((exponent_at(pole, place), tuple(a for c in scalars if c is not None for a in c)))
    found.sort(key=lambda pair: pair[0])
    return Guess(tuple(e for e, _ in found), tuple(c for _, c in found))


def _independent(rows: Sequence[Sequence[fmpz_mod]], place: Place) -> list[int]:
    """Return the positions of rows that are a basis of all rows modulo p."""
    columns = [[int(row[i]) % place.prime for row in rows] for i in range(len(rows[0]))]
    reduced, rank = nmod_mat(columns, place.prime).rref()
    table = reduced.tolist()[:rank]
    return [next(i for i, entry in enumerate(row) if int(entry)) for row in table]
