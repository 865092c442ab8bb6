"""Checker of certificates of Transformers, `exactmha/transformer/1`; all others are passed on to checker.py.

It needs checker.py, next to this file, and the standard library: `python -I -S transformer_checker.py FILE`. It shares
no code with the learner. The format is the last section of SPECIFICATION.md, the mathematics in
proofs/transformer-algorithm.md and proofs/transformer-canonical.md.

    python -I -S transformer_checker.py FILE [--instance INSTANCE] [--claim JSON]

Exit status: 0 accepted (the exact statement proved is printed, with what it rests on), 1 rejected
(the part that fails and a named reason), 2 unreadable.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from fractions import Fraction
from math import gcd
from typing import Any, NamedTuple

try:
    from exactmha.certificates import checker
except ImportError:  # run as a file: checker.py is next to it
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import checker  # type: ignore[import-not-found,no-redef]

FORMAT = "exactmha/transformer/1"
MOST_LINES = 512
MOST_SAMPLES = 1_000_000
MOST_NEURONS = 512

Vector = tuple[Fraction, ...]
Blocks = tuple[Vector, ...]
Direction = tuple[int, int]


class Line(NamedTuple):
    """κ |⟨ν, A⟩|, with n = Σ_h ν_h."""

    kappa: Fraction
    nu: Blocks
    normal: Vector


class Cell(NamedTuple):
    """A token b in a cell, the gradient there, and (u, answers) for every displacement."""

    base: tuple[int, ...]
    gradient: Blocks
    sides: list[tuple[tuple[int, ...], list[Any]]]


def dot(left: Any, right: Any) -> Fraction:
    return sum((x * y for x, y in zip(left, right)), Fraction(0))


def total(blocks: Blocks, dim: int) -> Vector:
    return tuple(sum((block[i] for block in blocks), Fraction(0)) for i in range(dim))


def sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)


def cross(left: Direction, right: Direction) -> int:
    return left[0] * right[1] - left[1] * right[0]


class TransformerChecker:
    """Checks the parts in the order of the file; `at` says which one."""

    def __init__(self, document: Any, data: bytes, name: str) -> None:
        keys = ("format", "claim", "field", "dim", "instance", "odd", "form", "plane", "bends", "rays", "cells")
        _, claim, field, dim, self.instance, odd, form, plane, bends, rays, cells = checker.fields(document, keys, name)
        if checker.canonical_json(document) != data:
            raise checker.Unreadable(f"{name}: is not written canonically")
        heads, lines, queries, length = checker.fields(claim, ("heads", "lines", "queries", "length"), "claim")
        self.heads = checker.whole(heads, 0, checker.MOST_HEADS, "claim.heads")
        self.count = checker.whole(lines, 0, MOST_LINES, "claim.lines")
        self.claim = {
            "heads": self.heads,
            "lines": self.count,
            "queries": checker.whole(queries, 0, 10**9, "claim.queries"),
            "length": checker.whole(length, 0, 10**9, "claim.length"),
        }
        self.dim = checker.whole(dim, 1, checker.MOST_DIM, "dim")
        if not isinstance(self.instance, str) or not re.fullmatch("[0-9a-f]{64}", self.instance, re.ASCII):
            raise checker.Unreadable("instance: must be a SHA-256 digest")
        self.field_name = checker.field_name(field)
        self.description, self.parts = field, (odd, form, plane, bends, rays, cells)
        self.field: Any = None
        self.at = "the header"

    def check(self) -> None:
        """Check everything; raises `Rejected` with the part that fails."""
        odd, form, plane, bends, rays, cells = self.parts
        try:
            self.field = checker.FIELDS[self.field_name](self.description)
            self._read_odd(odd)
            self._read_form(form)
            self._read_plane(plane)
            self._check_samples()
            pieces = self._check_bends(bends)
            on_ray = self._check_rays(rays, pieces)
            self._check_cells(cells, pieces, on_ray)
            self._check_claim()
        except checker.Rejected as error:
            if error.step == "the certificate":
                error.step = self.at
            raise

    # --- the odd part: a certificate of its own ----------------------------------------------------

    def _read_odd(self, odd: Any) -> None:
        """odd: T(X) − T(−X) is proved to be a plain attention with exactly `heads` heads (F1)."""
        self.at = "odd"
        if not isinstance(odd, dict) or odd.get("format") != checker.FORMAT:
            raise checker.Unreadable(f"odd: must be an object of format {checker.FORMAT}")
        self.odd = checker.Checker(odd, checker.canonical_json(odd), "odd")
        try:
            self.odd.check()
        except checker.Rejected as error:
            error.step = f"odd: {error.step}"
            raise
        same = (odd["field"], odd["dim"], odd["instance"]) == (self.description, self.dim, self.instance)
        if not same or self.odd.heads != self.heads or self.odd.told != self.heads:
            checker.reject("odd", "it is about another field, dimension, instance or number of heads")
        if self.odd.claim["bound"] is not True:
            checker.reject("odd", "bound must be true: only an upper bound on the heads of the odd part is told")

    # --- the canonical form ------------------------------------------------------------------------

    def _read_form(self, form: Any) -> None:
        """form: the W and 2Λ are those of the odd part; lines in normal form, distinct, n_l ≠ 0, not parallel (F2)."""
        self.at = "form"
        W, linear, lines = checker.fields(form, ("W", "linear", "lines"), "form")
        self.W = [
            tuple(self._matrix(m, "form.W") for m in checker.listed(each, self.field.rank, "form.W"))
            for each in checker.listed(W, self.heads, "form.W")
        ]
        self.linear = self._blocks(linear, "form.linear")
        self.lines = [self._line(line) for line in checker.listed(lines, self.count, "form.lines")]
        zeros = (Fraction(0),) * (self.field.degree - 1)
        doubled = [[(2 * x, *zeros) for x in block] for block in self.linear]
        mine = dict(zip(self.W, doubled))
        theirs = {
            tuple(tuple(map(tuple, matrix)) for matrix in weights): v for weights, v in zip(self.odd.W, self.odd.v)
        }
        if mine != theirs or len(mine) != self.heads:
            checker.reject("odd", "the heads (W, 2Λ) are not those of the odd part")
        if len({line.nu for line in self.lines}) != len(self.lines):
            checker.reject("lines", "two lines are the same")
        for i, line in enumerate(self.lines):
            entries = [x for block in line.nu for x in block if x]
            if any(x.denominator != 1 for x in entries) or gcd(*(x.numerator for x in entries)) != 1 or entries[0] < 0:
                checker.reject("lines", f"ν of line {i} is not in normal form")
            if not line.kappa:
                checker.reject("lines", f"κ of line {i} is 0")

    def _line(self, data: Any) -> Line:
        kappa, nu = checker.fields(data, ("kappa", "nu"), "form.lines")
        blocks = self._blocks(nu, "form.lines")
        return Line(checker.rational(kappa, "form.lines"), blocks, total(blocks, self.dim))

    def _matrix(self, data: Any, where: str) -> tuple[Vector, ...]:
        return tuple(self._vector(row, where) for row in checker.listed(data, self.dim, where))

    def _blocks(self, data: Any, where: str) -> Blocks:
        return tuple(self._vector(block, where) for block in checker.listed(data, self.heads, where))

    def _vector(self, data: Any, where: str) -> Vector:
        return tuple(checker.bounded(checker.rational(x, where)) for x in checker.listed(data, self.dim, where))

    # --- the half plane of single tokens -----------------------------------------------------------

    def _read_plane(self, plane: Any) -> None:
        """plane: T(s·p + t·q) for the primitive directions asked."""
        self.at = "plane"
        p, q, samples = checker.fields(plane, ("p", "q", "samples"), "plane")
        if not isinstance(samples, list) or len(samples) > MOST_SAMPLES:
            raise checker.Unreadable(f"plane.samples: must be a list of at most {MOST_SAMPLES}")
        size = self.dim if self.count else 0
        self.p, self.q = (tuple(self._integers(x, size, "plane")) for x in (p, q))
        if (
            self.count
            and self.dim > 1
            and not any(self.p[i] * self.q[j] != self.p[j] * self.q[i] for i in range(self.dim) for j in range(i))
        ):
            checker.reject("plane", "p and q are linearly dependent")
        if self.count and self.dim == 1 and (self.p, self.q) != ((1,), (0,)):
            checker.reject("plane", "for d = 1, p must be 1 and q 0")
        self.samples: dict[Direction, Fraction] = {}
        for sample in samples:
            s, t, value = checker.listed(sample, 3, "plane.samples")
            direction = (checker.integer(s, "plane.samples"), checker.integer(t, "plane.samples"))
            if gcd(*direction) != 1 or direction in self.samples:
                raise checker.Unreadable("plane.samples: directions must be primitive and different")
            self.samples[direction] = checker.bounded(checker.rational(value, "plane.samples"))
        if not self.count and self.samples:
            checker.reject("plane", "there is no line, so nothing is asked")

    def _integers(self, data: Any, size: int, where: str) -> list[int]:
        numbers = [checker.integer(x, where) for x in checker.listed(data, size, where)]
        for x in numbers:
            checker.bounded(Fraction(x))
        return numbers

    def _direction(self, data: Any, where: str) -> Direction:
        s, t = self._integers(data, 2, where)
        return s, t

    def _token(self, direction: Direction) -> tuple[int, ...]:
        return tuple(direction[0] * x + direction[1] * y for x, y in zip(self.p, self.q))

    def _check_samples(self) -> None:
        """The form gives every sample: T(x) = Σ_h Λ_h·x + Σ_l κ_l |n_l·x|."""
        slope = total(self.linear, self.dim)
        for direction, value in self.samples.items():
            token = self._token(direction)
            if dot(slope, token) + sum(line.kappa * abs(dot(line.normal, token)) for line in self.lines) != value:
                checker.reject("sample", f"the form has another value on the direction {direction}")

    def _value(self, direction: Direction) -> Fraction:
        size = gcd(*direction)
        primitive = (direction[0] // size, direction[1] // size) if size else direction
        if primitive not in self.samples:
            checker.reject("bend", f"the direction {direction} is not among the samples")
        return size * self.samples[primitive]

    def _check_bends(self, bends: Any) -> list[tuple[Direction, Direction]]:
        """bends: L disjoint cones, T bent in each; return two directions for each of the L + 1 linear pieces."""
        self.at = "bends"
        if self.dim == 1 or not self.count:
            checker.listed(bends, 0, "bends")
            if self.count and (self.count > 1 or self._value((1, 0)) + self._value((-1, 0)) == 0):
                checker.reject("bend", "T does not bend at the token 0, or there is more than one line for d = 1")
            return []
        cones = []
        for i, bend in enumerate(checker.listed(bends, self.count, "bends")):
            ends = checker.fields(bend, ("left", "middle", "right"), f"bends[{i}]")
            cones.append(tuple(self._direction(end, "bends") for end in ends))
        marks: list[Direction] = [(1, 0), *(end for cone in cones for end in cone[::2]), (-1, 0)]
        for before, after in zip(marks, marks[1:]):
            # strictly increasing angles from p to −p: cones are disjoint, with room between them and at both ends
            if before[1] < 0 or after[1] < 0 or cross(before, after) <= 0:
                checker.reject("bend", "the cones are not disjoint, in order, with room between them")
        for left, middle, right in cones:
            if cross(left, middle) <= 0 or cross(middle, right) <= 0:
                checker.reject("bend", "the middle of a cone does not lie inside it")
            if self._value(middle) == self._linear((left, right), middle):
                checker.reject("bend", f"T shows no bend between {left} and {right}")
        return list(zip(marks[::2], marks[1::2]))

    def _check_rays(self, rays: Any, pieces: list[tuple[Direction, Direction]]) -> list[Direction]:
        """rays: neighbouring pieces of T meet there, and n_l is orthogonal to the token there; each line once."""
        self.at = "rays"
        result, used = [], set()
        for i, entry in enumerate(checker.listed(rays, self.count, "rays")):
            ray, number = checker.fields(entry, ("ray", "line"), f"rays[{i}]")
            direction = self._direction(ray, "rays")
            number = checker.whole(number, 0, self.count - 1, "rays")
            if dot(self.lines[number].normal, self._token(direction)) or not any(self.lines[number].normal):
                checker.reject("ray", f"n of line {number} is 0 or not orthogonal to the token on ray {i}")
            if pieces:
                before, after = (self._linear(piece, direction) for piece in pieces[i : i + 2])
                inside = cross(pieces[i][1], direction) > 0 and cross(direction, pieces[i + 1][0]) > 0
                if before != after or not inside:
                    checker.reject("ray", f"the pieces beside bend {i} do not meet on its ray")
            elif direction != (0, 1):
                checker.reject("ray", "for d = 1 the ray must be (0, 1)")
            used.add(number)
            result.append(direction)
        if len(used) != self.count:
            checker.reject("ray", "two rays belong to one line")
        self.order = [entry["line"] for entry in rays]
        return result

    def _linear(self, piece: tuple[Direction, Direction], direction: Direction) -> Fraction:
        """Return the value at a direction of the linear function through the two samples of a piece."""
        left, right = piece
        bottom = cross(left, right)
        return (self._value(left) * cross(direction, right) + self._value(right) * cross(left, direction)) / bottom

    # --- the cells ---------------------------------------------------------------------------------

    def _check_cells(self, cells: Any, pieces: list[tuple[Direction, Direction]], rays: list[Direction]) -> None:
        """cells: in each one the gradient gives every answer, and is Λ + Σ ±κ ν with the signs of the cell (F4)."""
        for i, data in enumerate(checker.listed(cells, self.count, "cells")):
            self.at = f"cells[{i}]"
            cell = self._cell(data)
            signs = [sign(dot(line.normal, cell.base)) for line in self.lines]
            if not all(signs):
                checker.reject("cell", "the base token lies on a bend")
            self._check_place(cell, i, pieces, rays)
            expected = tuple(
                tuple(
                    x + sum(s * line.kappa * line.nu[h][c] for s, line in zip(signs, self.lines))
                    for c, x in enumerate(block)
                )
                for h, block in enumerate(self.linear)
            )
            if cell.gradient != expected:
                checker.reject("gradient", "the gradient is not Λ + Σ ±κ ν with the signs of this cell")
            self._check_sides(cell)

    def _cell(self, data: Any) -> Cell:
        base, gradient, sides = checker.fields(data, ("base", "gradient", "sides"), self.at)
        result = []
        for side in checker.listed(sides, self.dim, self.at):
            u, answers = checker.fields(side, ("u", "answers"), self.at)
            values = [self.field.value(x, self.at) for x in checker.listed(answers, self.heads + 1, self.at)]
            result.append((tuple(self._integers(u, self.dim, self.at)), values))
        return Cell(tuple(self._integers(base, self.dim, self.at)), self._blocks(gradient, self.at), result)

    def _check_place(
        self, cell: Cell, i: int, pieces: list[tuple[Direction, Direction]], rays: list[Direction]
    ) -> None:
        """The base token lies in the half plane, between bend i − 1 and bend i."""
        if not pieces:
            if cell.base[0] < 1:
                checker.reject("cell", "for d = 1 the base token must be positive")
            return
        inside = self._coordinates(cell.base)
        left = rays[i - 1] if i else (-rays[-1][0], -rays[-1][1])
        right = rays[i]
        narrow = cross(left, right) != 0  # with one line the cell is a half plane
        if cross(inside, right) <= 0 or (narrow and cross(left, inside) <= 0):
            checker.reject("cell", f"the base token does not lie in piece {i}")

    def _coordinates(self, token: tuple[int, ...]) -> Direction:
        """Return (s, t), up to a positive factor, with s·p + t·q = token; rejects a token outside the plane."""
        for i in range(self.dim):
            for j in range(i):
                bottom = self.p[i] * self.q[j] - self.p[j] * self.q[i]
                if bottom:
                    s = token[i] * self.q[j] - token[j] * self.q[i]
                    t = self.p[i] * token[j] - self.p[j] * token[i]
                    if bottom < 0:
                        s, t, bottom = -s, -t, -bottom
                    if any(s * x + t * y != bottom * z for x, y, z in zip(self.p, self.q, token)):
                        checker.reject("cell", "the base token does not lie in the plane of p and q")
                    return s, t
        raise checker.Unreadable("plane: p and q are dependent")

    def _check_sides(self, cell: Cell) -> None:
        """Every answer is T(b) + Σ_h (g_h·u) k r_h/(1 + k r_h), the r_h distinct, the u a basis, no line crossed."""
        if not checker.nonsingular([list(u) for u, _ in cell.sides]):
            checker.reject("cell", "the displacements are dependent, or a multiple of three large primes")
        zeros = (Fraction(0),) * (self.field.degree - 1)
        base = self.field.embed((dot(total(cell.gradient, self.dim), cell.base), *zeros))
        for u, answers in cell.sides:
            exponents = [self._exponent(W, cell.base, u) for W in self.W]
            if len(set(exponents)) != len(exponents):
                checker.reject("equal-poles", "two heads have the same pole in a cell")
            for number, line in enumerate(self.lines):
                start, shifts = dot(line.normal, cell.base), [dot(block, u) for block in line.nu]
                low, high = start + sum(x for x in shifts if x < 0), start + sum(x for x in shifts if x > 0)
                if low < 0 < high:
                    checker.reject("crossing", f"a displaced query may cross line {number} (F4)")
            residues = [(dot(block, u), *zeros) for block in cell.gradient]
            weights = self.field.weights(exponents)
            for k, answer in enumerate(answers, 1):
                if not self.field.agrees(answer, base, k, weights, residues):
                    checker.reject("gradient", f"the gradient does not give the answer to {k} copies of b + {u}")

    def _exponent(self, W: Any, base: tuple[int, ...], u: tuple[int, ...]) -> tuple[int, ...]:
        found = []
        for matrix in W:
            x = self.field.unit * dot(base, [dot(row, u) for row in matrix])
            if x.denominator != 1:
                checker.reject("cell", "an exponent is no integer")
            found.append(x.numerator)
        return tuple(found)

    # --- what is claimed ---------------------------------------------------------------------------

    def _check_claim(self) -> None:
        self.at = "the claim"
        queries = 2 * self.odd.claim["queries"] + len(self.samples) + self.count * (self.heads + 1) * self.dim
        length = max(self.odd.claim["length"], self.heads + 2 if self.count else 1)
        if self.claim["queries"] != queries or self.claim["length"] != length:
            checker.reject("claim", f"these are {queries} queries of length at most {length}")

    def check_claim(self, claim: dict[str, Any]) -> None:
        """Hold the certificate against a claim given separately."""
        proved = {**self.claim, "dim": self.dim, "field": self.field_name, "instance": self.instance}
        checker.compare_claim(claim, proved)

    def check_instance(self, data: bytes, name: str) -> None:
        """Prove that the canonical form is that of an instance file."""
        try:
            if hashlib.sha256(data).hexdigest() != self.instance:
                checker.reject("instance", "these are not the bytes that were certified: their SHA-256 differs")
            Instance(self, checker.parse_json(data, name), name).compare()
        except checker.Rejected as error:
            error.step = "the instance"
            raise

    def statement(self, *, with_instance: bool) -> str:
        """Say exactly what was proved, and what it rests on."""
        sizes = f"{self.heads} head{'s' * (self.heads != 1)} and {self.count} line{'s' * (self.count != 1)}"
        lines = [
            f"PROVED: the Transformer of this file, with {sizes} ({self.field.text()}, d = {self.dim}), gives these "
            f"{self.claim['queries']} answers (lengths up to {self.claim['length']}; the odd part as differences "
            "T(X) − T(−X)).",
            f"PROVED: of all bias-free Transformers with at most {sizes}, whose neurons keep in every cell here "
            "the signs that they have on its base token, no other function gives them.",
        ]
        if with_instance:
            lines.append("PROVED: this Transformer is the same function as the one of the instance.")
        else:
            lines.append(f"NOT PROVED: where the answers came from (the file names the instance {self.instance}).")
        lines.append(
            "NOT PROVED: that no rival with more lines, or whose neurons change sign inside a cell, gives them."
        )
        lines.append(
            "RESTS ON: proofs/transformer-algorithm, proofs/transformer-canonical and "
            "proofs/uniqueness-from-transcript (written proofs), this checker and Python's integers."
        )
        lines += [f"RESTS ON: {assumption}." for assumption in self.field.assumptions]
        return "\n".join(lines)


# --- instances -----------------------------------------------------------------------------------


class Heads:
    """Heads (W, v = (1, …, 1)) as `checker.compare_instance` wants them: to ask whether two W are the same matrix."""

    def __init__(self, owner: TransformerChecker, W: list[Any]) -> None:
        self.field, self.dim, self.W = owner.field, owner.dim, W
        self.v = [[(Fraction(1), *[Fraction(0)] * (owner.field.degree - 1))] * owner.dim for _ in W]


class Instance:
    """An instance file of a Transformer, read with the checker's own parser, against the canonical form."""

    def __init__(self, owner: TransformerChecker, document: Any, name: str) -> None:
        self.owner, self.dim = owner, owner.dim
        names = {"format", "field", "dim", "heads", "ffn"}
        if not isinstance(document, dict) or not names - {"field"} <= set(document) <= names:
            raise checker.Unreadable(f"{name}: must have the keys format, dim, heads, ffn and perhaps field")
        if document["format"] != "exactmha/instance/1" or document["dim"] != self.dim:
            checker.reject("instance", "the instance has another format or dimension")
        heads = document["heads"]
        if not isinstance(heads, list) or len(heads) > checker.MOST_HEADS:
            raise checker.Unreadable(f"{name}: heads must be a list of at most {checker.MOST_HEADS}")
        if any(not isinstance(head, dict) or set(head) != {"W", "O"} for head in heads):
            raise checker.Unreadable(f"{name}: every head must have the keys W and O")
        self.heads = heads
        network = document["ffn"]
        if not isinstance(network, dict) or set(network) != {"w", "a"} or not isinstance(network["a"], list):
            raise checker.Unreadable(f"{name}: ffn must have the keys w and a")
        if len(network["a"]) > MOST_NEURONS:
            raise checker.Unreadable(f"{name}: more than {MOST_NEURONS} neurons")
        self.a = [self._rational(x) for x in network["a"]]
        self.w = self._rows(network["w"], len(self.a), None)
        width = len(self.w[0]) if self.w else None
        self.O = [self._rows(head["O"], width, self.dim) for head in heads]
        self.field_key = {"field": document["field"]} if "field" in document else {"field": owner.field_name}

    def _rows(self, data: Any, height: int | None, width: int | None) -> list[list[Fraction]]:
        if not isinstance(data, list) or (height is not None and len(data) != height):
            raise checker.Unreadable("the instance: a matrix has the wrong number of rows")
        rows = [[self._rational(x) for x in row] if isinstance(row, list) else [] for row in data]
        if any(len(row) != (len(rows[0]) if width is None else width) for row in rows):
            raise checker.Unreadable("the instance: a row has the wrong number of entries")
        return rows

    @staticmethod
    def _rational(text: Any) -> Fraction:
        if not isinstance(text, str):
            raise checker.Unreadable("the instance: every entry must be a string")
        value = checker.as_rational(checker.Parser(text, checker.Numbers()).parse())
        if value is None:
            checker.reject("instance", "an entry of O, w or a is not rational")
        return value

    def _places(self) -> list[int]:
        """Return for every head which one of the form has its W; those that none has are numbered after them, by W."""
        places: list[int] = []
        others: list[Any] = []
        for head in self.heads:
            place = next((h for h, W in enumerate(self.owner.W) if self._agree([W], [(head, "1")])), None)
            if place is None:
                known = (i for i, other in enumerate(others) if self._agree([], [(head, "1"), (other, "-1")]))
                number = next(known, len(others))
                if number == len(others):
                    others.append(head)
                place = self.owner.heads + number
            places.append(place)
        return places

    def _agree(self, W: list[Any], heads: list[tuple[Any, str]]) -> bool:
        """Decide whether heads of the instance, with readouts (x, …, x), merge into heads of the form with x = 1."""
        listed = [{"W": head["W"], "v": [x] * self.dim} for head, x in heads]
        document = {"format": "exactmha/instance/1", **self.field_key, "dim": self.dim, "heads": listed}
        try:
            checker.compare_instance(Heads(self.owner, W), document, "the instance")  # type: ignore[arg-type]
        except checker.Rejected:
            return False
        return True

    def compare(self) -> None:
        """Merge heads with equal W and neurons on one line; the result must be the form."""
        linear, found = self._canonical()
        rest = ((Fraction(0),) * self.dim,) * len(self.heads)
        form = {(*line.nu, *rest): line.kappa for line in self.owner.lines}
        if found != form or linear != (*self.owner.linear, *rest):
            checker.reject("instance", "the canonical form of the instance is another")

    def _canonical(self) -> tuple[Blocks, dict[Blocks, Fraction]]:
        """Return (Λ, {ν: κ}) over the heads of the form, and then the W of the instance that are not in it."""
        places = self._places()
        size = self.owner.heads + len(places)
        linear = [[Fraction(0)] * self.dim for _ in range(size)]
        lines: dict[Blocks, Fraction] = {}
        for a, w in zip(self.a, self.w):
            mu = [[Fraction(0)] * self.dim for _ in range(size)]
            for place, matrix in zip(places, self.O):
                for x, row in zip(w, matrix):
                    mu[place] = [y + x * z for y, z in zip(mu[place], row)]
            linear = [[x + a / 2 * y for x, y in zip(block, other)] for block, other in zip(linear, mu)]
            entries = [x for block in mu for x in block]
            first = next((x for x in entries if x), None)
            if first is None:
                continue
            scale = 1
            for x in entries:
                scale = scale * x.denominator // gcd(scale, x.denominator)
            factor = Fraction(gcd(*((x * scale).numerator for x in entries)), scale)
            nu = tuple(tuple(x / (factor if first > 0 else -factor) for x in block) for block in mu)
            lines[nu] = lines.get(nu, Fraction(0)) + a / 2 * factor
        return tuple(map(tuple, linear)), {nu: kappa for nu, kappa in lines.items() if kappa}


# --- command line --------------------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    """Check a certificate of a Transformer, or of a kind that checker.py knows."""
    return checker.main(arguments, {**checker.KINDS, FORMAT: TransformerChecker})


if __name__ == "__main__":
    sys.exit(checker.alone(main))
