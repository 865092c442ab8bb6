"""The learner sees answers, never the model: by its imports, by the values it may touch, by its queries."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import pytest
from flint import fmpq

import exactmha
from exactmha.attention import Attention, Model
from exactmha.conditions import Grid
from exactmha.fields.interface import Field, Value
from exactmha.modular.places import Place
from exactmha.oracle import Oracle
from exactmha.outcome import Outcome
from exactmha.random_instance import random_model
from exactmha.recover.learn import learn
from exactmha.recover.separate import PLACES
from exactmha.sequences import Token

FIELDS = ["exponential", "rational", "radical"]
PACKAGE = Path(exactmha.__file__).parent
FORBIDDEN = {"exactmha.attention", "exactmha.instance", "exactmha.verification", "exactmha.random_instance"}
MODULES = {
    ".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}
LEARNER = sorted(
    name for name in MODULES if name.startswith(("exactmha.recover", "exactmha.modular", "exactmha.budget."))
)


# --- 1. the import graph ---------------------------------------------------------------------------


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def statements(tree: ast.AST, *, lazy_names: bool) -> list[ast.AST]:
    """All nodes, in functions too; the block `if TYPE_CHECKING` of exactmha/__init__ only lists lazy names."""
    found, todo = [], list(ast.iter_child_nodes(tree))
    while todo:
        node = todo.pop()
        if lazy_names and is_type_checking(node):
            continue
        found.append(node)
        todo += ast.iter_child_nodes(node)
    return found


def imports(module: str) -> set[str]:
    """The modules of the package that `module` names in an import anywhere in its text, and their parents."""
    found = set()
    for node in statements(ast.parse(MODULES[module].read_text("utf-8")), lazy_names=module == "exactmha"):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative imports would escape this test"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            if node.module == "exactmha":
                assert names - {"exactmha.__version__"} <= MODULES.keys(), (
                    f"{module}: a lazy name of exactmha hides what is imported"
                )
            found |= names | {str(node.module)}
    inside = found & MODULES.keys()
    return inside | {name.rsplit(".", n)[0] for name in inside for n in range(1, name.count(".") + 1)}


def reachable(modules: Sequence[str]) -> set[str]:
    seen, todo = set(), list(modules)
    while todo:
        module = todo.pop()
        if module not in seen:
            seen.add(module)
            todo += imports(module)
    return seen


def test_learner_modules_are_the_expected_ones() -> None:
    assert {"exactmha.recover.learn", "exactmha.recover.separate", "exactmha.modular.guess"} <= set(LEARNER)


@pytest.mark.parametrize("module", LEARNER)
def test_no_import_leads_from_the_learner_to_the_model(module: str) -> None:
    assert not reachable([module]) & FORBIDDEN


def test_the_walk_does_find_the_model_where_it_is_imported() -> None:
    assert reachable(["exactmha.cli.main"]) & FORBIDDEN == set()  # imported lazily, by name
    assert reachable(["exactmha.verification"]) >= {"exactmha.verification", "exactmha.attention"}
    assert reachable(["exactmha.cli.verify"]) >= FORBIDDEN


def test_nothing_that_the_learner_reaches_imports_by_name() -> None:
    for module in reachable(LEARNER) - {"exactmha"}:
        for node in statements(ast.parse(MODULES[module].read_text("utf-8")), lazy_names=False):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {str(getattr(node, "module", None))}
                assert not names & {"importlib", "exactmha", "gc", "inspect"}, module
            if isinstance(node, ast.Name):
                assert node.id not in {"__import__", "eval", "exec", "globals"}, module


def test_importing_the_learner_loads_no_model() -> None:
    program = f"import sys, {', '.join(LEARNER)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert set(LEARNER) <= loaded
    assert not loaded & FORBIDDEN


# --- 2. values, field and oracle that have nothing but the allowed operations ------------------------


class Sealed:
    """Wraps an object and lets nothing be read from it but the names in `allowed`; remembers what was refused."""

    __slots__ = ("_inner",)
    allowed: frozenset[str] = frozenset()
    refused: ClassVar[Counter[str]] = Counter()
    __hash__ = None  # type: ignore[assignment]  # hashing would reveal something

    def __init__(self, inner: Any) -> None:
        object.__setattr__(self, "_inner", inner)

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return type(self)  # what isinstance asks; reveals the seal
        if name not in type(self).allowed:
            Sealed.refused[f"{type(self).__name__}.{name}"] += 1
            raise AttributeError(f"a learner may not read {name}")
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a learner may not set {name}")

    def _refuse(self, *_: object) -> Any:
        raise AssertionError("a learner may not do this")

    __bool__ = __str__ = __repr__ = __format__ = __eq__ = __lt__ = __int__ = __iter__ = __len__ = _refuse
    __getitem__ = __reduce_ex__ = __neg__ = __pow__ = __radd__ = __rmul__ = __rsub__ = __rtruediv__ = _refuse


def inner(sealed: Sealed) -> Any:
    return object.__getattribute__(sealed, "_inner")


class SealedValue(Sealed):
    """+ − · / , equals, image."""

    __slots__ = ()
    allowed = frozenset({"equals", "image"})

    def __add__(self, other: SealedValue) -> SealedValue:
        return SealedValue(inner(self) + inner(other))

    def __sub__(self, other: SealedValue) -> SealedValue:
        return SealedValue(inner(self) - inner(other))

    def __mul__(self, other: SealedValue) -> SealedValue:
        return SealedValue(inner(self) * inner(other))

    def __truediv__(self, other: SealedValue) -> SealedValue:
        return SealedValue(inner(self) / inner(other))

    def equals(self, other: SealedValue) -> Outcome:
        return inner(self).equals(inner(other))

    def image(self, place: Place) -> int:
        return inner(self).image(place)


class SealedField(Sealed):
    """The members of `exactmha.fields.interface.Field`."""

    __slots__ = ()
    allowed = frozenset({"name", "rank", "degree", "denominator", "logit_bits", "embed", "monomial", "place"})

    name = property(lambda self: inner(self).name)
    rank = property(lambda self: inner(self).rank)
    degree = property(lambda self: inner(self).degree)
    denominator = property(lambda self: inner(self).denominator)
    logit_bits = property(lambda self: inner(self).logit_bits)

    def embed(self, scalar: tuple[fmpq, ...]) -> SealedValue:
        return SealedValue(inner(self).embed(scalar))

    def monomial(self, exponent: tuple[int, ...]) -> SealedValue:
        return SealedValue(inner(self).monomial(exponent))

    def place(self, index: int, precision: int) -> Place:
        return inner(self).place(index, precision)


class SealedOracle(Sealed):
    """field, dim, ask."""

    __slots__ = ()
    allowed = frozenset({"field", "dim", "ask"})

    field = property(lambda self: SealedField(inner(self).field))
    dim = property(lambda self: inner(self).dim)

    def ask(self, sequence: Sequence[Token]) -> SealedValue:
        return SealedValue(inner(self).ask(sequence))


def members(protocol: type) -> set[str]:
    return {name for name in vars(protocol) if not name.startswith("_")}


def test_the_seals_allow_exactly_the_protocols() -> None:
    assert SealedField.allowed == members(Field)
    assert SealedValue.allowed == members(Value)


def test_the_seals_hold() -> None:
    value = SealedValue(random_model(1, 1, "rational", 0).field.embed((fmpq(1),)))
    for probe in ("q", "terms", "poly", "_inner", "__dict__", "is_zero", "bits", "ball"):
        with pytest.raises(AttributeError):
            getattr(value, probe)
    for act in (str, repr, bool, int, hash, list):
        with pytest.raises((AssertionError, TypeError)):
            act(value)
    assert (value + value).equals(value) is Outcome.FAILS


def fresh_oracle(model: Model) -> Oracle:
    return Oracle(Attention(model), model.field, model.dim)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("told", [{"heads": 2}, {"heads_bound": 2}, {"heads_bound": 3}])
@pytest.mark.parametrize(("seed", "grid"), [(0, None), (1, None), (0, Grid(3, 3)), (1, Grid(3, 4))])
def test_sealed_values_give_the_identical_recovery(
    field: str, told: dict[str, int], seed: int, grid: Grid | None
) -> None:
    model = random_model(2, 2, field, seed)
    plain_oracle, hidden_oracle = fresh_oracle(model), fresh_oracle(model)
    plain = learn(plain_oracle, seed=seed, grid=grid, **told)
    Sealed.refused.clear()
    hidden = learn(SealedOracle(hidden_oracle), seed=seed, grid=grid, **told)  # type: ignore[arg-type]  # sealed
    assert hidden == plain
    assert hidden.heads == model.heads
    assert (hidden_oracle.queries, hidden_oracle.max_length) == (plain_oracle.queries, plain_oracle.max_length)
    # asking whether a field has the optional faster function is the only other look
    assert set(Sealed.refused) <= {"SealedField.profile_values"}


@pytest.mark.parametrize("field", FIELDS)
def test_sealed_values_give_the_identical_failure(field: str) -> None:
    model = random_model(3, 2, field, 0)
    texts = []
    for oracle in (fresh_oracle(model), SealedOracle(fresh_oracle(model))):
        with pytest.raises(exactmha.ExactMHAError) as caught:
            learn(oracle, heads=2)  # type: ignore[arg-type]  # sealed
        texts.append((type(caught.value), str(caught.value)))
    assert texts[0] == texts[1]


# --- 3. two disjoint lists of public places ----------------------------------------------------------


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (3, 2), (2, 3)])
def test_two_disjoint_lists_of_places_give_the_same_heads(field: str, heads: int, dim: int) -> None:
    model = random_model(heads, dim, field, 5)
    first, second = ({model.field.place(start + i, 1).prime for i in range(PLACES)} for start in (0, 20))
    assert not first & second
    seen: list[set[int]] = []
    recoveries = []
    for start in (0, 20):
        used: set[int] = set()
        recoveries.append(learn(watching(fresh_oracle(model), used), heads=heads, first_place=start))
        seen.append(used)
    assert seen[0] <= first
    assert seen[1] <= second
    assert all(seen)
    assert recoveries[0].heads == recoveries[1].heads == model.heads
    assert recoveries[0].queries == recoveries[1].queries


class WatchingField:
    """A field that notes the primes of the places it hands out."""

    def __init__(self, field: Any, used: set[int]) -> None:
        self._field, self._used = field, used

    def __getattr__(self, name: str) -> Any:
        return getattr(self._field, name)

    def place(self, index: int, precision: int) -> Place:
        place = self._field.place(index, precision)
        self._used.add(place.prime)
        return place


def watching(oracle: Oracle, used: set[int]) -> Any:
    oracle.field = WatchingField(oracle.field, used)  # type: ignore[assignment]  # forwards everything else
    return oracle


# --- 4. the design does not depend on the instance ----------------------------------------------------


def asked(model: Model, **options: Any) -> list[list[Token]]:
    oracle = Oracle(Attention(model), model.field, model.dim, keep_transcript=True)
    recovery = learn(oracle, **options)
    assert recovery.heads == model.canonical().heads
    assert not recovery.redraws
    return [list(sequence) for sequence, _ in oracle.transcript or ()]


@pytest.mark.parametrize("told", [{"heads": 2}, {"heads_bound": 4}])
def test_two_models_are_asked_the_same_queries(told: dict[str, int]) -> None:
    one, other = random_model(2, 3, "exponential", 1), random_model(2, 3, "exponential", 2)
    assert one.heads != other.heads
    queries = asked(one, seed=7, **told)
    assert queries == asked(other, seed=7, **told)
    assert queries != asked(one, seed=8, **told)
    assert len(set(map(str, queries))) == len(queries)


@pytest.mark.parametrize("field", FIELDS)
def test_same_seed_gives_the_same_transcript(field: str) -> None:
    model = random_model(2, 2, field, 3)
    transcripts = []
    for _ in range(2):
        oracle = Oracle(Attention(model), model.field, model.dim, keep_transcript=True)
        recovery = learn(oracle, heads=2, seed=11, grid=Grid(4, 4))
        transcripts.append((recovery, [(list(x), str(y)) for x, y in oracle.transcript or ()]))
    assert transcripts[0] == transcripts[1]
    assert len(transcripts[0][1]) == transcripts[0][0].queries_total


def test_order_of_the_heads_in_the_model_is_invisible() -> None:
    model = random_model(3, 2, "exponential", 4)
    shuffled = replace(model, heads=tuple(chain(model.heads[1:], model.heads[:1])))
    one, other = (learn(fresh_oracle(m), heads=3) for m in (model, shuffled))
    assert one == other
