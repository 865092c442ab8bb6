"""Every learner recovers what it should with exactly the queries it should, and is seen to fail where it must.

The numbers of queries come from counting by hand, stage by stage, in `STAGES` below, and for isolation at the large
sizes from an independent prototype; none of them is taken from the code under test.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import comb, gcd

import pytest
from flint import fmpq

from exactmha.attention import Attention, Model
from exactmha.budget import (
    adapted,
    grouped,
    isolation,
    low_rank,
    orthogonal,
    residues,
    short,
    single_head,
    unbounded,
    vector,
)
from exactmha.budget.catalogue import CATALOGUE, Learner
from exactmha.budget.lab import Lab, Learned, product
from exactmha.budgets import in_orthogonal_subspaces, of_low_rank
from exactmha.errors import (
    ConditionFailed,
    ExactMHAError,
    InconsistentAnswers,
    InputError,
    LimitError,
    NoInterpolant,
)
from exactmha.heads import Head
from exactmha.instance import from_dict
from exactmha.oracle import Oracle
from exactmha.random_instance import random_model
from exactmha.randomness import Stream
from exactmha.sequences import TokenSequence

FIELDS = ["exponential", "rational", "radical"]


def run(model: Model, learn: Callable[[Lab], tuple[Head, ...]], heads: int | None = None, seed: int = 0) -> Learned:
    """Run a learner; the ledger must be the oracle's."""
    oracle = Oracle(Attention(model), model.field, model.dim)
    found = Lab(oracle, len(model.canonical().heads) if heads is None else heads, seed=seed).run(learn)
    assert oracle.queries == found.queries + found.wasted
    assert oracle.max_length >= found.max_length
    return found


def model_of(W: list[list[list[int]]], v: list[list[int]], field: str = "exponential") -> Model:
    """A model with integer entries, in the exponential field, or in multiples of log 2."""
    unit = "" if field == "exponential" else "*log(2)"
    heads = [
        {"W": [[f"{x}{unit}" for x in row] for row in w], "v": [str(x) for x in y]} for w, y in zip(W, v, strict=True)
    ]
    return from_dict({"format": "exactmha/instance/1", "field": field, "dim": len(v[0]), "heads": heads})


# --- counted by hand --------------------------------------------------------------------------------


def by_residues(H: int, d: int) -> int:
    return 1 + 2 * H + (d - 1) * (2 * H + 2 * H) + (d - 1) * d * 2 * H


def by_isolation(H: int, d: int) -> int:
    total = 1
    for i in range(1, d + 1):  # the first row
        total += 2 * H if i == 1 or i > 2 * H else 4 * H
    for _ in range(2, d + 1):
        for i in range(1, d + 1):
            total += 2 * H if i < 2 * H else H
    return total


def by_adaptation(H: int, d: int) -> int:
    total = d  # s
    total += d * (2 * H - 1) + (d - 1 if H > 1 else 0)  # the first row and its matchings
    for _ in range(2, d + 1):
        if d < H:
            total += d * (2 * H - 1)
        else:
            total += H  # n_h
            total += H * (d - H)  # n_h + z
            total += 2 * comb(H, 2)  # pairs
            total += 1 if H > 1 else 0  # exchanges
    return total


GROUPS = {1: (1, 1), 2: (14, 14), 3: (5, 4), 4: (3, 2)}
"""By H: m matchings, (H!)^m ≤ 2^14, and n rows, 2^{nH(H−1)/2} ≤ 2^14, that one query settles."""


def by_groups(H: int, d: int) -> int:
    if H == 1:
        return d * d + d
    m, n = GROUPS[H]
    saved = (d - 1) - -(-(d - 1) // m)
    if d >= H:
        saved += (d - 1) - -(-(d - 1) // n)
    return by_adaptation(H, d) - saved


LEARNERS = {"residues": residues, "isolation": isolation, "adapted": adapted, "grouped": grouped}
STAGES = {"residues": by_residues, "isolation": by_isolation, "adapted": by_adaptation, "grouped": by_groups}
GRID = [(H, d) for H in range(1, 5) for d in range(1, 7)]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(("heads", "dim"), GRID)
def test_exactly_the_queries_counted_by_hand(name: str, heads: int, dim: int) -> None:
    model = random_model(heads, dim, "exponential", 3)
    found = run(model, LEARNERS[name].learn)
    assert found.heads == model.heads
    assert not found.fallbacks
    assert found.queries == STAGES[name](heads, dim) == LEARNERS[name].formula(heads, dim)
    assert found.max_length == LEARNERS[name].longest(heads, dim)


def value_of(label: str, H: int, d: int) -> int:
    """Read an expression such as ⌈(d − 1)/14⌉ + 2H²d as a number."""
    text = label.replace("−", "-").replace("⌈", "-(-").replace("⌉", ")").replace("/", "//").replace("H_0", "(H+1)")
    text = re.sub(r"(?<=[\dHdr)²])(?=[Hdr(])", "*", text).replace("²", "**2")
    names = {"H": H, "d": d, "r": (d + 1) // 2}
    return int(eval(text, {"__builtins__": {}}, names))  # noqa: S307  # our own labels


@pytest.mark.parametrize("learner", [x for x in CATALOGUE if x.name != "orthogonal"], ids=lambda x: x.name)
def test_every_label_is_the_formula_for_its_size(learner: Learner) -> None:
    """Also where another formula holds: H = 1, d = 1, H > d, and more than 6 or 7 heads."""
    sizes = [(H, d) for H in range(1, 10) for d in range(1, 18)]
    for H, d in [(1, d) for d in range(1, 18)] if learner.name in ("single-head", "low-rank") else sizes:
        assert value_of(learner.formula(H, d), H, d) == learner.count(H, d), (H, d)


def test_two_queries_read_off_one_head_of_bounded_rationals() -> None:
    """What `budget-floor` says that it does not exclude: by the digits of v·x and of the logit, d = 2."""
    model = model_of([[[3, -2], [0, 5]]], [[4, -7]])
    oracle = Oracle(Attention(model), model.field, model.dim)
    lab, N = Lab(oracle, 1), 100

    def digits(number: int, count: int) -> list[int]:
        found = []
        for _ in range(count):
            found.append((number + N // 2) % N - N // 2)
            number = (number - found[-1]) // N
        return found

    v = digits(int(lab.scalar_of(lab.ask((1, N)), "f(x)")[0].p), 2)
    b, u, exact = (1, N), (1, N**2), [(fmpq(x),) for x in v]
    (exponent,) = isolation.lone_pole(lab, "W", lab.ask(b, (u, 1)), product(exact, b), product(exact, u), fmpq(1))
    W = digits(exponent // model.field.denominator, 4)
    assert (v, W, oracle.queries) == ([4, -7], [3, 0, -2, 5], 2)


@pytest.mark.parametrize(
    ("heads", "dim", "prototype", "unknowns"), [(2, 10, 287, 220), (3, 12, 664, 468), (4, 16, 1565, 1088)]
)
def test_large_sizes(heads: int, dim: int, prototype: int, unknowns: int) -> None:
    model = random_model(heads, dim, "exponential", 0)
    isolated, best = run(model, isolation.learn), run(model, adapted.learn)
    assert isolated.heads == best.heads == model.heads
    assert isolated.queries == prototype
    assert best.queries == unknowns + 2 * (dim - 1)
    fewest = run(model, grouped.learn)
    assert fewest.heads == model.heads
    m, n = GROUPS[heads]
    assert fewest.queries == unknowns + -(-(dim - 1) // m) + -(-(dim - 1) // n)


@pytest.mark.parametrize("field", ["rational", "radical"])
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (1, 3), (2, 2), (3, 2), (2, 4), (3, 3)])
def test_other_fields(field: str, name: str, heads: int, dim: int) -> None:
    model = random_model(heads, dim, field, 1)
    found = run(model, LEARNERS[name].learn)
    assert found.heads == model.heads
    assert found.fallbacks or found.queries == STAGES[name](heads, dim)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("field", FIELDS)
def test_several_seeds(field: str, seed: int) -> None:
    model = random_model(2, 3, field, seed)
    for module in LEARNERS.values():
        assert run(model, module.learn, seed=seed).heads == model.heads


# --- conditions that fail, entry by entry --------------------------------------------------------------


TIED = ([[[1, 0], [2, 3]], [[0, 4], [1, 1]]], [[1, 2], [1, 2]])
"""v_1 = v_2: every later residue ties, and no displacement is seen by one head alone."""


@pytest.mark.parametrize("field", ["exponential", "rational"])
def test_equal_readouts_are_matched_by_more_queries(field: str) -> None:
    model = model_of(*TIED, field=field)
    found = run(model, residues.learn)
    assert found.heads == model.canonical().heads
    assert found.queries == by_residues(2, 2) + 2 * 4  # two entries, 2H = 4 queries each
    assert len(found.fallbacks) == 2
    best = run(model, adapted.learn)
    assert best.heads == model.canonical().heads
    # two profiles of 2H − 1 = 3 samples instead of Hd + 1 = 5 queries, and one query more for each
    assert best.queries == by_adaptation(2, 2) - 5 + 2 * (3 + 1)


def test_a_head_with_zero_logits_and_common_row_spaces_are_no_trouble() -> None:
    W = [[[0] * 5 for _ in range(5)], [[1, 2, 3, 4, 5]] * 5, [[1, 2, 3, 4, 5 + i] for i in range(5)]]
    v = [[1, 0, 2, 0, 1], [0, 1, 1, 3, 1], [2, 1, 0, 0, 5]]
    model = model_of(W, v)
    for module in (isolation, adapted):
        assert run(model, module.learn).heads == model.canonical().heads


def test_dependent_readouts_fall_back_in_isolation() -> None:
    """v_3 = v_1 + v_2: then v_h·w = 2v_h·u for two heads forces it for the third, e = 0."""
    model = random_model(2, 7, "exponential", 2)
    v = [tuple((x[0] + y[0],) for x, y in zip(model.heads[0].v, model.heads[1].v, strict=True))]
    third = Head(random_model(1, 7, "exponential", 9).heads[0].W, v[0])
    field = random_model(1, 7, "exponential", 9).field
    assert model.field == field
    three = Model(field, 7, (*model.heads, third))
    found = run(three, isolation.learn)
    assert found.heads == three.canonical().heads
    assert len(found.fallbacks) == 6 * 2 + 1  # later rows from i = 2H on, and the first row's i = 2H + 1


@pytest.mark.parametrize("told", [1, 3])
@pytest.mark.parametrize("name", [*LEARNERS, "short"])
def test_a_wrong_number_of_heads_is_never_a_wrong_result(name: str, told: int) -> None:
    model = random_model(2, 3, "exponential", 5)
    module = {**LEARNERS, "short": short}[name]
    with pytest.raises((ConditionFailed, InconsistentAnswers, NoInterpolant)):
        run(model, module.learn, heads=told)


# --- baselines --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("dim", [1, 2, 4])
def test_single_head(field: str, dim: int) -> None:
    model = random_model(1, dim, field, 2)
    found = run(model, single_head.learn)
    assert (found.heads, found.queries, found.max_length) == (model.heads, dim + dim**2 + 1, 3)


@pytest.mark.parametrize("field", FIELDS)
def test_single_head_fails_on_two(field: str) -> None:
    with pytest.raises(NoInterpolant, match="not one head"):
        run(random_model(2, 3, field, 2), single_head.learn, heads=1)


@pytest.mark.parametrize("field", ["exponential", "rational"])
@pytest.mark.parametrize("learn", [single_head.learn, orthogonal.learn, partial(low_rank.learn, rank=1)])
@pytest.mark.parametrize("W", [[[1, 2], [-1, 3]], [[1, 0], [0, 2]]])
def test_opposite_heads_do_not_pass_for_one_head(
    field: str, learn: Callable[[Lab], tuple[Head, ...]], W: list[list[int]]
) -> None:
    """(W, v), (−W, v): r/(1 + r) + r^{-1}/(1 + r^{-1}) = 1, so queries of length 2 see (0, 2v)."""
    model = model_of([W, [[-x for x in row] for row in W]], [[1, 2], [1, 2]], field=field)
    with pytest.raises(InconsistentAnswers, match="check query"):
        run(model, learn, heads=2 if learn is orthogonal.learn else 1)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("heads", "dim", "queries"), [(1, 2, 7), (2, 2, 5), (2, 4, 13), (2, 5, 19), (3, 4, 11)])
def test_orthogonal_subspaces(field: str, heads: int, dim: int, queries: int) -> None:
    model = in_orthogonal_subspaces(heads, dim, field, 1)
    found = run(model, orthogonal.learn)
    assert (found.heads, found.queries, found.max_length) == (model.canonical().heads, queries, 3)


def test_orthogonal_subspaces_that_are_no_coordinate_ones() -> None:
    """S_1 = R(1,1,0) ⊕ R(0,0,1), S_2 = R(1,−1,0)."""
    bases = [[(1, 1, 0), (0, 0, 1)], [(1, -1, 0)]]
    W = [[[2, 2, 1], [2, 2, 1], [3, 3, 4]], [[5, -5, 0], [-5, 5, 0], [0, 0, 0]]]
    model = model_of(W, [[1, 1, 7], [2, -2, 0]])
    found = run(model, partial(orthogonal.learn, subspaces=bases))
    assert found.heads == model.canonical().heads
    assert found.queries == (4 + 2) + (1 + 1) + 1
    with pytest.raises(InputError, match="orthogonal"):
        run(model, partial(orthogonal.learn, subspaces=[bases[0], [(1, 0, 0)]]))


def test_overlapping_heads_are_caught_by_the_check_alone() -> None:
    """W_1 has one entry too many: x^T W y with x in the first subspace and y in the second."""
    inside = model_of([[[3, 0], [0, 0]], [[0, 0], [0, 5]]], [[1, 0], [0, 2]])
    outside = model_of([[[3, 1], [0, 0]], [[0, 0], [0, 5]]], [[1, 0], [0, 2]])
    assert run(inside, orthogonal.learn).heads == inside.canonical().heads
    with pytest.raises(InconsistentAnswers, match="check"):
        run(outside, orthogonal.learn)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("dim", "rank", "queries"), [(3, 1, 3 + 5 + 1), (4, 2, 4 + 12 + 1), (4, 4, 4 + 16 + 1)])
def test_low_rank(field: str, dim: int, rank: int, queries: int) -> None:
    model = of_low_rank(random_model(1, dim, field, 4), rank)
    found = run(model, partial(low_rank.learn, rank=rank))
    assert (found.heads, found.queries) == (model.heads, queries)


def test_low_rank_with_a_smaller_rank_than_told_and_with_a_larger_one() -> None:
    model = of_low_rank(random_model(1, 5, "exponential", 4), 2)
    assert run(model, partial(low_rank.learn, rank=3)).heads == model.heads
    with pytest.raises(InconsistentAnswers, match="check"):
        run(model, partial(low_rank.learn, rank=1))
    with pytest.raises(InputError, match="1 to d"):
        run(model, partial(low_rank.learn, rank=6))


# --- no bound, short queries, vectors ------------------------------------------------------------------------


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (1, 2), (2, 2), (3, 2), (4, 1)])
def test_without_a_bound_two_queries_more_than_with_h_known(field: str, heads: int, dim: int) -> None:
    model = random_model(heads, dim, field, 6)
    oracle = Oracle(Attention(model), model.field, model.dim)
    found = unbounded.learn(oracle)
    assert found.recovery.heads == model.heads
    assert oracle.queries == found.queries
    assert found.queries - sum(r.queries for r in found.recovery.redraws) == 4 * heads * dim**2 - 2 * heads + 1 + 2
    assert oracle.max_length == 2 * heads + 3


def totient(n: int) -> int:
    return sum(gcd(n, k) == 1 for k in range(1, n + 1))


def test_short_nodes_are_all_fractions_of_that_length() -> None:
    for length in range(2, 12):
        nodes = short.short_nodes(length)
        values = {Fraction(k, 1 + extra) for k, extra in nodes}
        assert len(nodes) == len(values) == sum(totient(n) for n in range(2, length + 1))
        assert max(k + extra + 1 for k, extra in nodes) == length
        assert values == {Fraction(p, q) for p in range(1, length) for q in range(1, length) if p + q <= length}


@pytest.mark.parametrize(("heads", "length"), [(1, 2), (2, 3), (3, 4), (4, 5), (5, 5)])
@pytest.mark.parametrize("field", FIELDS)
def test_short_queries(field: str, heads: int, length: int) -> None:
    model = random_model(heads, 2, field, 8)
    found = run(model, short.learn)
    assert found.heads == model.heads
    assert found.max_length == max(length, 3 if heads == 2 else 2)
    with pytest.raises(InputError, match="allow at least"):
        run(model, partial(short.learn, length=length - 1))


def test_one_node_less_leaves_two_profiles() -> None:
    """H = 3, length 3: x(x − 1/2)(x − 1)(x − 2)(x + 1)/Π(1 + x r_i), split in two, agrees at 3 nodes, 0 and ∞."""
    poles = [Fraction(r) for r in (2, 3, 4, 5, 6, 7)]
    residues_of = []
    for r in poles:
        x = -1 / r
        value = x * (x - Fraction(1, 2)) * (x - 1) * (x - 2) * (x + 1)
        for other in poles:
            if other != r:
                value /= 1 + x * other
        residues_of.append(-value)
    terms = list(zip(poles, residues_of, strict=True))

    def profile(part: list[tuple[Fraction, Fraction]], x: Fraction) -> Fraction:
        return sum((c * x * r / (1 + x * r) for r, c in part), Fraction(0))

    left, right = terms[:3], [(r, -c) for r, c in terms[3:]]
    for k, extra in short.short_nodes(3):
        node = Fraction(k, 1 + extra)
        assert profile(left, node) == profile(right, node)
    assert sum(c for _, c in left) == sum(c for _, c in right)
    assert all(residues_of)
    assert profile(left, Fraction(3)) != profile(right, Fraction(3))


class VectorOracle:
    """m outputs with one W a head."""

    def __init__(self, models: list[Model]) -> None:
        self._layers = [Attention(model) for model in models]
        self.field, self.dim, self.outputs, self.queries = models[0].field, models[0].dim, len(models), 0

    def ask(self, sequence: object) -> list[object]:
        self.queries += 1
        return [layer(sequence) for layer in self._layers]  # type: ignore[arg-type]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    ("heads", "outputs", "samples"),
    [(1, 1, 2), (1, 4, 2), (2, 1, 4), (2, 2, 3), (3, 2, 5), (3, 3, 4), (4, 3, 6), (4, 4, 5)],
)
def test_vector_outputs(field: str, heads: int, outputs: int, samples: int) -> None:
    dim = 2
    first = random_model(heads, dim, field, 1)
    readouts = [[head.v for head in random_model(heads, dim, field, 1).heads]]
    stream = Stream(0, "vector", heads, outputs)
    for _ in range(1, outputs):
        zeros = [fmpq(0)] * (first.field.degree - 1)
        readouts.append([tuple((fmpq(stream.between(-9, 9), 2), *zeros) for _ in range(dim)) for _ in range(heads)])
    models = [
        Model(first.field, dim, tuple(Head(head.W, y) for head, y in zip(first.heads, v, strict=True)))
        for v in readouts
    ]
    oracle = VectorOracle(models)
    found = Lab(oracle, heads).run(vector.learn)  # type: ignore[arg-type]  # its answers are lists
    got = {vector.split(head, outputs) for head in found.labelled_heads}
    assert got == {vector.VectorHead(head.W, tuple(v[h] for v in readouts)) for h, head in enumerate(first.heads)}
    assert oracle.queries - found.wasted == samples * (dim * dim + dim - 1) + 1 == vector.formula(heads, dim, outputs)


def test_vector_outputs_that_are_too_much_alike_stop_the_learner() -> None:
    """Two equal outputs say no more than one: 3 samples of 2 heads are too few, and it is seen."""
    model = random_model(2, 2, "exponential", 1)
    with pytest.raises(ConditionFailed, match="told apart"):
        Lab(VectorOracle([model, model]), 2).run(vector.learn)  # type: ignore[arg-type]  # its answers are lists


def test_equal_poles_in_a_pair_need_no_exchange() -> None:
    """W_1 and W_2 differ in their last column only, so n_1 + n_2 = (1, 1, 0) has one pole in both heads."""
    model = model_of([[[1, 2, 3], [0, 1, 5], [2, 2, 2]], [[1, 2, 4], [0, 1, 6], [2, 2, 7]]], [[1, 0, 1], [0, 1, 2]])
    found = run(model, adapted.learn)
    assert found.heads == model.canonical().heads
    assert found.queries == by_adaptation(2, 3)


def test_no_head_is_refused() -> None:
    with pytest.raises(InputError, match="at least one head"):
        run(random_model(1, 1, "exponential", 0), residues.learn, heads=0)
    assert issubclass(InputError, ExactMHAError)


# --- weights beyond the limits, and irrational readouts --------------------------------------------------------------


@pytest.mark.parametrize("name", ["adapted", "grouped", "short"])
def test_where_the_frame_has_too_large_weights_rows_are_asked_by_profiles(name: str) -> None:
    """In Q a weight 2^n has n bits, and the n_h of this model are long."""
    model = random_model(4, 4, "rational", 2)
    found = run(model, {**LEARNERS, "short": short}[name].learn)
    assert found.heads == model.heads
    assert found.fallbacks == ("D7 (small weights) fails in rows 2 to 4: rows by their profiles",)
    assert found.wasted > 0
    assert found.queries == 4 + 4 * 7 + (1 if name == "grouped" else 3) + 3 * 4 * 7


class NoProbes:
    """An oracle to which queries with a probe token, of three different tokens, are too large."""

    def __init__(self, model: Model) -> None:
        self._inner = Oracle(Attention(model), model.field, model.dim)
        self.field, self.dim = model.field, model.dim

    def ask(self, sequence: TokenSequence) -> object:
        if len(sequence.runs) == 3:
            raise LimitError("too large")
        return self._inner.ask(sequence)


def test_where_probes_have_too_large_weights_entries_are_asked_by_profiles() -> None:
    model = random_model(2, 5, "exponential", 1)
    found = Lab(NoProbes(model), 2).run(isolation.learn)  # type: ignore[arg-type]  # its answers are those of an oracle
    assert found.heads == model.heads
    assert len(found.fallbacks) == 1 + 4 * 2  # the first row's fifth entry, and from the fourth on in later rows
    assert all(text.startswith("D7") for text in found.fallbacks)
    assert found.queries == by_residues(2, 5)


@pytest.mark.parametrize(("heads", "dim"), [(2, 3), (2, 4), (2, 5)])
def test_irrational_readouts_leave_displacements_without_a_frame(heads: int, dim: int) -> None:
    """v = v⁰ + γ v¹, D = 2 coordinates: no n_h for HD > d, else H(D − 1) displacements are left."""
    model = random_model(heads, dim, "radical", 1)
    assert [any(x[p] for head in model.heads for x in head.v) for p in range(model.field.degree)].count(True) == 2
    found = run(model, adapted.learn)
    assert found.heads == model.heads
    if 2 * heads > dim:
        assert "all later rows" in found.fallbacks[0]
        assert found.queries == dim + (2 * heads - 1) * dim + (dim - 1) + (dim - 1) * (2 * heads - 1) * dim
    else:
        assert f"in {heads} displacements of each later row" in found.fallbacks[0]
        each = heads + heads * (dim - 2 * heads) + 2 * comb(heads, 2) + 1 + heads * (2 * heads - 1)
        assert found.queries == dim + (2 * heads - 1) * dim + (dim - 1) + (dim - 1) * each


def test_a_place_that_hides_heads_does_not_end_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first place shows no head at all; the next one does."""
    model, true_rank = random_model(2, 2, "exponential", 1), unbounded.head_rank
    blind = model.field.place(0, 3).prime
    monkeypatch.setattr(unbounded, "head_rank", lambda mu, place: 0 if place.prime == blind else true_rank(mu, place))
    found = unbounded.learn(Oracle(Attention(model), model.field, model.dim))
    assert found.recovery.heads == model.heads
    assert found.queries == 4 * 2 * 4 - 4 + 3
