"""Stand-alone checker of query-budget certificates: `python -I -S budget_checker.py FILE`, standard library only.

It knows one format more than checker.py, which stands next to it and whose numbers, fields and instances it uses:
`exactmha/budget/1`, written down in BUDGET.md. The steps of such a certificate are deductions about an arbitrary
rival, a model with at most H canonical heads that gives the same answers; each has its premises, which are checked,
and adds to what is known. Every rule is proved in proofs/budget-uniqueness.md.

Exit status: 0 accepted, 1 rejected, 2 unreadable, as for checker.py.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from itertools import product as choices
from math import factorial
from pathlib import Path
from typing import Any

if not __package__:  # run as a file, alone: find the checker next to it
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from exactmha.certificates import checker
from exactmha.certificates.checker import Unreadable, fields, listed, reject, whole

FORMAT = "exactmha/budget/1"
MOST_CANDIDATES = 1 << 17
MOST_PERMUTED = 8
"""More heads have more than `MOST_CANDIDATES` matchings."""
MOST_COUNT = 10**6
_DIGIT, _VECTOR = 2, 24
"""What a digit of a candidate and the addition of two vectors cost, in units of the meter."""
_POWER = 96
"""What a power modulo a place costs, in products."""

Vector = tuple[Fraction, ...]
Exponent = tuple[int, ...]
Scalar = tuple[Fraction, ...]
Node = tuple[int, int]
Runs = list[tuple[Vector, int]]


class Span:
    """A subspace of R^d, by a basis in echelon form."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, list[Fraction]]] = []

    def reduced(self, vector: Sequence[Fraction]) -> list[Fraction]:
        rest = list(vector)
        for pivot, row in self.rows:
            if rest[pivot]:
                factor = rest[pivot]
                rest = [x - factor * y for x, y in zip(rest, row)]
        return rest

    def __contains__(self, vector: Sequence[Fraction]) -> bool:
        return not any(self.reduced(vector))

    def add(self, vector: Sequence[Fraction]) -> None:
        rest = self.reduced(vector)
        pivot = next((i for i, x in enumerate(rest) if x), None)
        if pivot is not None:
            self.rows.append((pivot, [x / rest[pivot] for x in rest]))

    @property
    def rank(self) -> int:
        return len(self.rows)


class Row:
    """What is proved of b^T W'_h for one final token b: a subspace for every head, and pairs known up to exchange."""

    def __init__(self, heads: int) -> None:
        self.known = [Span() for _ in range(heads)]
        self.pairs: list[tuple[Vector, int, int]] = []


class BudgetChecker:
    """Checks the steps one after the other; `rules` names the method of each kind."""

    def __init__(self, document: Any, data: bytes, name: str) -> None:
        keys = ("format", "learner", "claim", "field", "dim", "instance", "transcript", "heads", "steps")
        _, self.learner, claim, field, dim, self.instance, self.transcript, heads, steps = fields(document, keys, name)
        if checker.canonical_json(document) != data:
            raise Unreadable(f"{name}: is not written canonically")
        if not isinstance(self.learner, str) or not re.fullmatch("[a-z0-9-]{1,64}", self.learner, re.ASCII):
            raise Unreadable("learner: must be 1 to 64 lower-case letters, digits and hyphens")
        count, queries, length = fields(claim, ("heads", "queries", "length"), "claim")
        self.count = whole(count, 1, checker.MOST_HEADS, "claim.heads")
        self.claim = {
            "heads": self.count,
            "queries": whole(queries, 0, 10**9, "claim.queries"),
            "length": whole(length, 0, 10**9, "claim.length"),
        }
        self.dim = whole(dim, 1, checker.MOST_DIM, "dim")
        self.field_name, self.description = checker.field_name(field), field
        for digest in (self.instance, self.transcript):
            if not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{64}", digest, re.ASCII):
                raise Unreadable("instance and transcript: must be SHA-256 digests")
        self.listed_heads = listed(heads, self.count, "heads")
        if not isinstance(steps, list) or len(steps) > checker.MOST_QUERIES:
            raise Unreadable(f"steps: must be a list of at most {checker.MOST_QUERIES}")
        self.steps, self.place = steps, "the header"
        self.field: Any = None
        self.queries = self.length = 0
        self.digest = hashlib.sha256()
        self.meter = checker.Meter()
        self.numbered = False
        self.sums, self.readouts = Span(), Span()
        self.rows: dict[Vector, Row] = {}
        self.answers: Iterator[Any] = iter(())
        self.rules: dict[str, tuple[tuple[str, ...], Callable[..., None]]] = {
            "base": (("x",), self._base),
            "first": (("b", "u", "nodes"), self._first),
            "by-sum": (("b", "u", "first", "nodes"), self._by_sum),
            "by-one-sum": (("b", "us", "first", "nodes", "counts"), self._by_one_sum),
            "by-residues": (("b", "u", "nodes"), self._by_residues),
            "by-final-tokens": (("b", "u", "first", "nodes"), self._by_final_tokens),
            "by-one-final": (("b", "u", "first", "nodes", "counts"), self._by_one_final),
            "separate": (("b", "u", "probes"), self._separate),
            "isolate": (("b", "u", "probes"), self._isolate),
            "silence": (("b", "u", "head"), self._silence),
            "pair": (("b", "u", "heads", "nodes"), self._pair),
            "exchange": (("finals", "u", "counts"), self._exchange),
        }

    # --- the whole certificate ------------------------------------------------------------------

    def check(self) -> None:
        """Check everything; raises `Rejected` with the step that fails."""
        try:
            self._header()
            for number, step in enumerate(self.steps):
                self.place = f"step {number}"
                self._step(step)
            self.place = "the conclusion"
            self._conclusion()
        except checker.Rejected as error:
            error.step = self.place
            raise

    def _header(self) -> None:
        self.field = checker.FIELDS[self.field_name](self.description)
        self.model = checker.Model(self.listed_heads, self.field, self.dim, "heads", self.meter)
        if len(self.model.canonical()) != self.count:
            reject("canonical", "two heads have one W, or a v is 0")
        self.W, self.v = self.model.W, [list(v) for v in self.model.v]

    def _step(self, step: Any) -> None:
        kind = step.get("kind") if isinstance(step, dict) else None
        if not isinstance(kind, str) or kind not in self.rules:
            raise Unreadable(f"{self.place}: the kind must be one of {', '.join(self.rules)}")
        names, rule = self.rules[kind]
        *parts, answers = fields(step, ("kind", *names, "answers"), self.place)[1:]
        if not isinstance(answers, list):
            raise Unreadable(f"{self.place}: answers must be a list")
        self.answers = iter(answers)
        rule(*(self._part(name, part) for name, part in zip(names, parts)))
        if next(self.answers, None) is not None:
            reject("order", "this step has more answers than queries")

    def _part(self, name: str, data: Any) -> Any:
        """Read one member of a step by its name."""
        where = f"{self.place}.{name}"
        if name == "nodes":
            if not isinstance(data, list) or len(data) > 2 * checker.MOST_HEADS:
                raise Unreadable(f"{where}: must be a list of nodes")
            pairs = [listed(node, 2, where) for node in data]
            return [(whole(k, 1, MOST_COUNT, where), whole(extra, 0, MOST_COUNT, where)) for k, extra in pairs]
        if name == "counts":
            if not isinstance(data, list) or not 1 <= len(data) <= 64:
                raise Unreadable(f"{where}: must be a list of 1 to 64 numbers")
            return [whole(k, 1, MOST_COUNT, where) for k in data]
        if name == "probes":
            return [self._vector(w, where) for w in listed(data, self.count, where)]
        if name in ("us", "finals"):
            if not isinstance(data, list) or not 1 <= len(data) <= 64:
                raise Unreadable(f"{where}: must be a list of 1 to 64 vectors")
            return [self._vector(x, where) for x in data]
        if name == "head":
            return whole(data, 0, self.count - 1, where)
        if name == "heads":
            return [whole(h, 0, self.count - 1, where) for h in listed(data, 2, where)]
        return self._vector(data, where)

    def _vector(self, data: Any, where: str) -> Vector:
        return tuple(checker.bounded(checker.rational(x, where)) for x in listed(data, self.dim, where))

    def _conclusion(self) -> None:
        """Every v'_h and every b^T W'_h is known, for a basis of final tokens b; the numbers are those of the claim."""
        if not self.numbered or self.readouts.rank < self.dim:
            reject("incomplete", "v is not determined")
        for h in range(self.count):
            finals = Span()
            for b, row in self.rows.items():
                if row.known[h].rank == self.dim:
                    finals.add(b)
            if finals.rank < self.dim:
                reject("incomplete", f"W of head {h} is not determined")
        if (self.queries, self.length) != (self.claim["queries"], self.claim["length"]):
            reject("claim", f"there are {self.queries} queries of length up to {self.length}")
        if self.digest.hexdigest() != self.transcript:
            reject("transcript", "the SHA-256 of the transcript is another")

    # --- what the model says --------------------------------------------------------------------

    def _exponents(self, b: Vector, u: Vector) -> list[Exponent]:
        """Return the exponents of r_h(b, u), which must be integers."""
        result = []
        for matrices in self.model.W:
            logits = [
                self.field.unit * sum(x * sum(w * y for w, y in zip(row, u)) for x, row in zip(b, matrix) if x)
                for matrix in matrices
            ]
            if any(Fraction(x).denominator != 1 for x in logits):
                reject("field", "an exponent is no integer, so its weight leaves the field")
            result.append(tuple(int(x) for x in logits))
        return result

    def _residues(self, u: Vector) -> list[Scalar]:
        """Return v_h·u for every head."""
        return [tuple(sum((x * c for x, c in zip(u, part)), Fraction(0)) for part in zip(*v)) for v in self.model.v]

    def _ask(self, b: Vector, runs: Runs) -> None:
        """Check that the next answer is the model's, for the query of `runs` (displacement, count) and then b."""
        data = next(self.answers, None)
        if data is None:
            reject("order", "this step has fewer answers than queries")
        tokens = [tuple(x + y for x, y in zip(b, u)) for u, count in runs if count] + [b]
        counts = [count for _, count in runs if count] + [1]
        rows, scale = checker.integral(tokens)
        bits = max(scale, *(abs(x) for row in rows for x in row)).bit_length()
        self.meter.spend(self.model.work(len(rows)), 2 * (self.model.bits + bits))
        shares = self.model.shares(rows, scale)
        if any(x.denominator != 1 for exponents, _ in shares for e in exponents for x in e):
            reject("field", "an exponent is no integer, so its weight leaves the field")
        integers = [([tuple(int(x) for x in e) for e in exponents], values) for exponents, values in shares]
        checker.weight_is_small(sum(self.field.spread(exponents) for exponents, _ in integers))
        if not self.field.equals(self.field.value(data, self.place), counts, integers, self.meter):
            reject("answer", "an answer is not that of the heads given")
        self.queries += 1
        self.length = max(self.length, sum(counts))
        query = [[[checker.hexadecimal(x) for x in token], count] for token, count in zip(tokens, counts)]
        self.digest.update(checker.canonical_json([query, data]))

    def _profile(self, b: Vector, u: Vector, nodes: list[Node]) -> None:
        """The samples of (b, u) at κ = k/(1 + l) determine its (r, c) as a set: 2H nodes, or 2H − 1 if s·u is known."""
        self._know_sum(b)
        if len({Fraction(k, 1 + extra) for k, extra in nodes}) != len(nodes):
            reject("nodes", "two nodes are the same κ")
        if len(nodes) < 2 * self.count - int(self._sum_is_known(u)):
            reject("nodes", "a profile needs 2H nodes, or 2H − 1 where the sum of the residues is known")
        if len(set(self._exponents(b, u))) != self.count:
            reject("equal-poles", "two heads have the same pole")
        if not all(any(c) for c in self._residues(u)):
            reject("zero-residue", "a residue is zero")
        zero = (Fraction(0),) * self.dim
        for k, extra in nodes:
            self._ask(b, [(u, k), (zero, extra)])

    # --- what is known of a rival ---------------------------------------------------------------

    def _row(self, b: Vector) -> Row:
        return self.rows.setdefault(b, Row(self.count))

    def _sum_is_known(self, x: Vector) -> bool:
        return x in self.sums or (self.numbered and x in self.readouts)

    def _know_sum(self, x: Vector) -> None:
        if not self._sum_is_known(x):
            reject("unknown", "s·b is not known")

    def _know_readout(self, u: Vector) -> None:
        if not self.numbered or u not in self.readouts:
            reject("unknown", "v_h·u is not known")

    def _know_logits(self, b: Vector, u: Vector) -> None:
        if b not in self.rows or any(u not in known for known in self.rows[b].known):
            reject("unknown", "b^T W_h u is not known")

    def _learn(self, b: Vector, u: Vector, *, readout: bool) -> None:
        for known in self._row(b).known:
            known.add(u)
        if readout:
            self.readouts.add(u)

    # --- the rules ------------------------------------------------------------------------------

    def _base(self, x: Vector) -> None:
        """f(x) = s·x. One head whose s is known everywhere is known by it, and is there, as its v is not 0."""
        self._ask(x, [])
        self.sums.add(x)
        if self.count == 1 and self.sums.rank == self.dim:
            self.numbered, self.readouts = True, self.sums

    def _first(self, b: Vector, u: Vector, nodes: list[Node]) -> None:
        """The first profile shows H heads and numbers them; one head needs no number."""
        if self.numbered and self.count > 1:
            reject("order", "the heads are numbered already")
        self._profile(b, u, nodes)
        self.numbered = True
        self._learn(b, u, readout=True)

    def _by_sum(self, b: Vector, u: Vector, first: Vector, nodes: list[Node]) -> None:
        """(b, first), (b, u) and (b, first + u): r multiplies, and by one permutation only."""
        self._know_readout(first)
        self._know_logits(b, first)
        total = tuple(x + y for x, y in zip(first, u))
        self._profile(b, u, nodes)
        self._profile(b, total, nodes)
        self._unique_products(self._exponents(b, first), self._exponents(b, u), self._exponents(b, total))
        self._learn(b, u, readout=True)

    def _by_final_tokens(self, b: Vector, u: Vector, first: Vector, nodes: list[Node]) -> None:
        """(first, u), (b, u) and (first + b, u): r multiplies, and by one permutation only."""
        self._know_readout(u)
        self._know_logits(first, u)
        total = tuple(x + y for x, y in zip(first, b))
        self._profile(b, u, nodes)
        self._profile(total, u, nodes)
        self._unique_products(self._exponents(first, u), self._exponents(b, u), self._exponents(total, u))
        self._learn(b, u, readout=False)

    def _unique_products(self, left: list[Exponent], right: list[Exponent], total: list[Exponent]) -> None:
        found = set(total)
        for h, e in enumerate(left):
            for g, e2 in enumerate(right):
                if h != g and tuple(x + y for x, y in zip(e, e2)) in found:
                    reject("ambiguous", f"the product of the poles of heads {h} and {g} lies in the sum profile")

    def _by_one_sum(self, b: Vector, us: list[Vector], first: Vector, nodes: list[Node], counts: list[int]) -> None:
        """(b, first) and all (b, u) are known; of all H! matchings of each u only one choice fits (b, first + Σ u)."""
        self._can_match(len(us))
        self._know_readout(first)
        self._know_logits(b, first)
        for u in us:
            self._profile(b, u, nodes)
        total: Vector = combined([first, *us])
        for k in counts:
            self._ask(b, [(total, k)])
        terms = [list(zip(self._exponents(b, u), self._residues(u))) for u in us]
        options = []
        for e, c in zip(self._exponents(b, first), self._residues(first)):
            chosen = [(combined([e, *(x for x, _ in p)]), combined([c, *(y for _, y in p)])) for p in choices(*terms)]
            options.append(chosen)
        matchings = self._matchings([[True] * self.count] * self.count, len(us))
        self._only_one(options, matchings, counts)
        for u in us:
            self._learn(b, u, readout=True)

    def _by_one_final(self, b: Vector, u: Vector, first: Vector, nodes: list[Node], counts: list[int]) -> None:
        """(first, u) and (b, u) are known; of the matchings that keep residues one fits f at (first + b, u)."""
        self._can_match(1)
        self._know_readout(u)
        self._know_logits(first, u)
        self._profile(b, u, nodes)
        total = tuple(x + y for x, y in zip(first, b))
        self._know_sum(total)
        for k in counts:
            self._ask(total, [(u, k)])
        residues = self._residues(u)
        options = [
            [(tuple(x + y for x, y in zip(e, e2)), c) for e2 in self._exponents(b, u)]
            for e, c in zip(self._exponents(first, u), residues)
        ]
        self._only_one(options, self._matchings([[c == c2 for c2 in residues] for c in residues], 1), counts)
        self._learn(b, u, readout=False)

    def _can_match(self, times: int) -> None:
        """Refuse too many choices of `times` permutations before any is built, and pay for building them."""
        if self.count > MOST_PERMUTED or factorial(self.count) ** times > MOST_CANDIDATES:
            raise Unreadable(f"{self.place}: has more than {MOST_CANDIDATES} matchings")
        self._pay(factorial(self.count) ** times, self.count ** (times + 1), times)

    def _pay(self, candidates: int, options: int, parts: int) -> None:
        """Count the work ahead: every candidate counts up `parts` digits a head, every option adds `parts` vectors."""
        self.meter.spend(parts * (_DIGIT * candidates * self.count + _VECTOR * options), 1)

    def _matchings(self, allowed: list[list[bool]], times: int) -> Iterator[tuple[int, ...]]:
        """Yield every head's option, for all choices of `times` allowed permutations; the identities come first."""
        orders = [order for order in permutations(range(self.count)) if all(allowed[h][g] for h, g in enumerate(order))]
        for chosen in choices(orders, repeat=times):
            yield tuple(position(digits, self.count) for digits in zip(*chosen))

    def _only_one(
        self, options: list[list[tuple[Exponent, Scalar]]], candidates: Iterable[tuple[int, ...]], counts: list[int]
    ) -> None:
        """Of all candidates, one option a head, only the first one gives the answers at k copies, k in `counts`.

        The first one is the model's own. Others are excluded by images in Z/m that differ at some place for some k.
        """
        first, *others = candidates
        for place in self.field.places():
            for k in counts:
                self.meter.spend(sum(map(len, options)), _POWER * place.modulus.bit_length())
                self._pay(len(others), 0, 1)
                try:
                    table = [[self._term(place, k, e, c) for e, c in row] for row in options]
                except ValueError:  # a denominator that is no unit
                    continue
                value = sum(row[o] for row, o in zip(table, first)) % place.modulus
                others = [x for x in others if sum(row[o] for row, o in zip(table, x)) % place.modulus == value]
            if not others:
                return
        reject("ambiguous", f"{len(others)} other candidates were not told apart")

    @staticmethod
    def _term(place: checker.Place, k: int, exponent: Exponent, residue: Scalar) -> int:
        """Return the image of c·k r/(1 + k r)."""
        m = place.modulus
        weight = k
        for g, e in zip(place.generators, exponent):
            weight = weight * pow(g, e % place.order if place.order else e, m) % m
        c = sum(s * x.numerator * pow(x.denominator, -1, m) for s, x in zip(place.scalars, residue))
        return c * weight * pow(1 + weight, -1, m) % m

    def _by_residues(self, b: Vector, u: Vector, nodes: list[Node]) -> None:
        """The residues v_h·u are known and pairwise different: they number the heads of the profile."""
        self._know_readout(u)
        self._profile(b, u, nodes)
        if len(set(self._residues(u))) != self.count:
            reject("tied", "two heads have the same residue")
        self._learn(b, u, readout=False)

    def _probe(self, b: Vector, w: Vector) -> list[Scalar]:
        """Return v_h·w for a probe token w of weight 1, known as such in every head."""
        self._know_readout(w)
        self._know_logits(b, w)
        if any(any(e) for e in self._exponents(b, w)):
            reject("probe", "a probe token has a weight other than 1")
        return self._residues(w)

    def _separate(self, b: Vector, u: Vector, probes: list[Vector]) -> None:
        """Probes w_g with v_h·w_g = 0 for h ≠ g: the answers for w_g and 0 give r_g; then c solves a Cauchy system."""
        self._know_sum(b)
        zero = (Fraction(0),) * self.dim
        self._ask(b, [(u, 1), (zero, 1)])
        for g, w in enumerate(probes):
            if any(any(c) != (h == g) for h, c in enumerate(self._probe(b, w))):
                reject("probe", f"probe {g} must be seen by head {g} alone")
            self._ask(b, [(u, 1), (w, 1)])
        for k in range(1, self.count):
            self._ask(b, [(u, k)])
        if len(set(self._exponents(b, u))) != self.count:
            reject("equal-poles", "two heads have the same pole")
        self._learn(b, u, readout=True)

    def _isolate(self, b: Vector, u: Vector, probes: list[Vector]) -> None:
        """A probe w with v_h·w = 2 v_h·u for h ≠ g leaves head g alone: the answer gives r_g."""
        self._know_sum(b)
        self._know_readout(u)
        residues = self._residues(u)
        for g, w in enumerate(probes):
            for h, (c, seen) in enumerate(zip(residues, self._probe(b, w))):
                if (tuple(2 * x for x in c) == seen) == (h == g):
                    reject("probe", f"probe {g} must silence all heads but head {g}")
            self._ask(b, [(u, 1), (w, 1)])
        self._learn(b, u, readout=False)

    def _silence(self, b: Vector, u: Vector, head: int) -> None:
        """Only one head sees u: the answer gives its r."""
        self._know_sum(b)
        self._know_readout(u)
        if any(any(c) != (h == head) for h, c in enumerate(self._residues(u))):
            reject("silence", f"u must be seen by head {head} alone")
        self._ask(b, [(u, 1)])
        self._row(b).known[head].add(u)

    def _pair(self, b: Vector, u: Vector, heads: list[int], nodes: list[Node]) -> None:
        """Two heads see u, with one residue: two samples give their two poles, but not which is whose."""
        self._know_sum(b)
        self._know_readout(u)
        g, h = heads
        residues, exponents = self._residues(u), self._exponents(b, u)
        if g == h or any(any(c) != (x in heads) for x, c in enumerate(residues)) or residues[g] != residues[h]:
            reject("pair", "u must be seen by these two heads alone, with the same residue")
        if len(nodes) != 2 or not self._is_regular(nodes, [exponents[g], exponents[h]]):
            reject("pair", "the linear system for the two poles was not seen to be regular")
        for k, extra in nodes:
            self._ask(b, [(u, k), ((Fraction(0),) * self.dim, extra)])
        if exponents[g] == exponents[h]:  # nothing to exchange
            self._row(b).known[g].add(u)
            self._row(b).known[h].add(u)
        else:
            self._row(b).pairs.append((u, g, h))

    def _is_regular(self, nodes: list[Node], exponents: list[Exponent]) -> bool:
        """det((j − 2 + G_i) κ_i^j), j = 1, 2, is a unit modulo m, G_i = Σ 1/(1 + κ_i r)."""
        for place in self.field.places():
            m = place.modulus
            try:
                rows = []
                for k, extra in nodes:
                    kappa, average = k * pow(1 + extra, -1, m) % m, 0
                    for exponent in exponents:
                        weight = kappa
                        for generator, e in zip(place.generators, exponent):
                            weight = weight * pow(generator, e % place.order if place.order else e, m) % m
                        average += pow(1 + weight, -1, m)
                    rows.append([(average - 1) * kappa % m, average * kappa**2 % m])
                pow(rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0], -1, m)
            except ValueError:  # no unit
                continue
            return True
        return False

    def _exchange(self, finals: list[Vector], u: Vector, counts: list[int]) -> None:
        """Of all ways to exchange the two heads of the pairs of these rows only one fits f at (Σ b, u)."""
        self._know_readout(u)
        for b in finals:
            self._know_sum(b)
        rows = [self._row(b) for b in finals]
        if len(set(finals)) != len(finals) or 1 << sum(len(row.pairs) for row in rows) > MOST_CANDIDATES:
            raise Unreadable(f"{self.place}: repeats a row, or has more than {MOST_CANDIDATES} candidates")
        pairs = [(g, h) for row in rows for _, g, h in row.pairs]
        built = sum(1 << sum(g in pair for pair in pairs) for g in range(self.count))
        self._pay(1 << len(pairs), built, len(pairs))
        total: Vector = combined(finals)
        for k in counts:
            self._ask(total, [(u, k)])
        options = []
        for g, residue in enumerate(self._residues(u)):
            shifts = [shift for b, row in zip(finals, rows) for shift in self._shifts(b, row, u, g)]
            start = self._exponents(total, u)[g]
            each = [((0,) * len(start), shift) for shift in shifts]
            options.append([(combined([start, *chosen]), residue) for chosen in choices(*each)])
        self._only_one(options, self._exchanges(pairs), counts)
        for row in rows:
            for x, g, h in row.pairs:
                row.known[g].add(x)
                row.known[h].add(x)
            row.pairs = []

    def _shifts(self, b: Vector, row: Row, u: Vector, g: int) -> Iterator[Exponent]:
        """Yield how the exponent of head g at (b, u) changes when a pair of this row with g is exchanged."""
        mine = [(x, sum(pair) - g) for x, *pair in row.pairs if g in pair]
        for (x, h), weight in zip(mine, self._coordinates(row.known[g], [x for x, _ in mine], u)):
            poles = self._exponents(b, x)
            yield tuple(weight * (p - q) for p, q in zip(poles[h], poles[g]))

    def _exchanges(self, pairs: list[tuple[int, int]]) -> Iterator[tuple[int, ...]]:
        for bits in choices((0, 1), repeat=len(pairs)):
            yield tuple(
                position([bit for bit, pair in zip(bits, pairs) if head in pair], 2) for head in range(self.count)
            )

    def _coordinates(self, known: Span, pairs: list[Vector], u: Vector) -> list[int]:
        """Return integers n with u − Σ n_p·(u of pair p) in the known subspace."""
        rest = known.reduced(u)
        reduced = [known.reduced(x) for x in pairs]
        weights = solved([list(column) for column in zip(*reduced)] if reduced else [], rest)
        if weights is None or any(w.denominator != 1 for w in weights):
            reject("unknown", "u is no integral combination of what is known, up to exchange")
        return [int(w) for w in weights]

    # --- what is proved -------------------------------------------------------------------------

    def check_claim(self, claim: dict[str, Any]) -> None:
        """Hold the certificate against a claim given separately."""
        proved = {
            **self.claim,
            "learner": self.learner,
            "dim": self.dim,
            "field": self.field_name,
            "instance": self.instance,
        }
        checker.compare_claim(claim, proved)

    def check_instance(self, data: bytes, name: str) -> None:
        """Prove that the heads are the canonical heads of an instance file."""
        try:
            if hashlib.sha256(data).hexdigest() != self.instance:
                reject("instance", "these are not the bytes that were certified (even white space counts)")
            checker.compare_instance(self, checker.parse_json(data, name), name)  # type: ignore[arg-type]  # W, v, field, dim
        except checker.Rejected as error:
            error.step = "the instance"
            raise

    def statement(self, *, with_instance: bool) -> str:
        """Say exactly what was proved, and what it rests on."""
        heads = f"{self.count} canonical head{'s' if self.count != 1 else ''}"
        origin = (
            "PROVED: these are the answers of this instance, whose canonical heads are the recovered ones."
            if with_instance
            else f"NOT PROVED: where the answers came from (the file names the instance {self.instance})."
        )
        lines = [
            f"PROVED: of all models with at most {heads}, exactly one gives these {self.queries} answers "
            f"({self.field.text()}, d = {self.dim}, lengths up to {self.length}): the recovered one.",
            f"TRANSCRIPT: the queries and answers with SHA-256 {self.transcript}.",
            f"LEARNER: {self.learner}; the number of unknowns is H(d² + d) = {self.count * (self.dim**2 + self.dim)}.",
            origin,
            "RESTS ON: proofs/budget-uniqueness (a written proof), this checker and Python's integers.",
        ]
        lines += [f"RESTS ON: {assumption}." for assumption in self.field.assumptions]
        return "\n".join(lines)


def combined(parts: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the sum of vectors."""
    return tuple(map(sum, zip(*parts)))


def position(digits: Sequence[int], base: int) -> int:
    """Return the position of a choice in the order of itertools.product."""
    result = 0
    for digit in digits:
        result = result * base + digit
    return result


def solved(rows: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Solve rows·x = right; None where there is no solution, or more than one."""
    if not rows:
        return None if any(right) else []
    table = [[*row, y] for row, y in zip(rows, right)]
    size, top = len(rows[0]), 0
    for column in range(size):
        pivot = next((r for r in range(top, len(table)) if table[r][column]), None)
        if pivot is None:
            return None
        table[top], table[pivot] = table[pivot], table[top]
        head = table[top][column]
        table[top] = [x / head for x in table[top]]
        for r, row in enumerate(table):
            if r != top and row[column]:
                factor = row[column]
                table[r] = [x - factor * y for x, y in zip(row, table[top])]
        top += 1
    if any(row[size] for row in table[top:]):
        return None
    return [row[size] for row in table[:size]]


def main(arguments: list[str]) -> int:
    """Check a certificate of any kind."""
    return checker.main(arguments, {**checker.KINDS, FORMAT: BudgetChecker})


if __name__ == "__main__":
    sys.exit(checker.alone(main))
