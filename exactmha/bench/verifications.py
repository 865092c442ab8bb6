"""Whole verifications: the oracle's time, the learner's and the proof's, side by side with a bare FLINT evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

from flint import fmpq, fmpq_mpoly_ctx, fmpq_poly, fmpz

from exactmha.attention import Attention, Model
from exactmha.estimate import used_bytes
from exactmha.fields import ExponentialField, RadicalField, RationalField
from exactmha.fields.interface import Value
from exactmha.oracle import Oracle
from exactmha.outcome import Outcome
from exactmha.random_instance import random_model
from exactmha.recover.learn import Recovery, Sampled, learn
from exactmha.sequences import Token


@dataclass(frozen=True, slots=True)
class VerificationTiming:
    """Median seconds by part, for one random instance; `proof` is part of `learner`."""

    field: str
    heads: int
    dim: int
    queries: int
    oracle: float
    """evaluating the answers"""
    bare: float
    """FLINT alone evaluating the H terms of form (P) for the same queries"""
    images: float
    """the answers' images in Z/p^k"""
    guess: float
    proof: float
    learner: float
    """everything but the oracle: images, guess, proof, matching, assembling"""
    peak_mib: float
    """largest resident size of the process so far"""

    @property
    def ratio(self) -> float:
        """learner / oracle; the time of the learner includes its proof."""
        return self.learner / self.oracle

    @property
    def oracle_over_bare(self) -> float:
        """How slow the oracle is against the bare evaluation."""
        return self.oracle / self.bare


class Stopwatch:
    """Adds up the time of named stages."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Measure one stretch of a stage."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += perf_counter() - start  # type: ignore[assignment]  # seconds are floats


def time_verification(field: str, heads: int, dim: int, repetitions: int) -> VerificationTiming:
    """Run the learner on a random instance, several times after one warm-up, and measure its parts."""
    model = random_model(heads, dim, field, seed=0)
    runs = [_one_run(model, heads) for _ in range(repetitions + 1)][1:]
    parts = {name: median(run[name] for run, _ in runs) for name in runs[0][0]}
    queries = runs[0][1].queries
    return VerificationTiming(field, heads, dim, queries, peak_mib=used_bytes() / 2**20, **parts)


def _one_run(model: Model, heads: int) -> tuple[dict[str, float], Recovery]:
    watch, attention = Stopwatch(), Attention(model)
    kept = _Profiles()

    def answer(sequence: Sequence[Token]) -> Value:
        begun = perf_counter()  # not a context manager: its own time would count as the learner's
        value = attention(sequence)
        watch.seconds["oracle"] += perf_counter() - begun  # type: ignore[assignment]  # seconds are floats
        return value

    start = perf_counter()
    recovery = learn(Oracle(answer, model.field, model.dim), heads=heads, clock=watch, recorder=kept)
    total = perf_counter() - start
    if recovery.heads != model.heads:
        raise RuntimeError("the benchmark run did not recover its instance")
    start = perf_counter()
    for exponents, residues in kept.profiles:
        bare_evaluation(model.field, exponents, residues, 2 * heads)
    parts = {name: float(watch.seconds[name]) for name in ("oracle", "images", "guess", "proof")}
    return {**parts, "learner": total - parts["oracle"], "bare": perf_counter() - start}, recovery


class _Profiles:
    """A recorder that keeps exponents and residues, for the bare evaluation."""

    def __init__(self) -> None:
        self.profiles: list[tuple[Any, Any]] = []

    def profile(self, sampled: Sampled) -> None:
        self.profiles.append((sampled.profile.exponents, sampled.profile.residues))

    def restart(self) -> None:
        self.profiles.clear()


def bare_evaluation(field: object, exponents: Sequence[Any], residues: Sequence[Any], most: int) -> list[Any]:
    """Evaluate Σ_h c_h·k r_h/(1 + k r_h), k = 1..most, with FLINT's own types and nothing else.

    Exponential field: each term as numerator and denominator of type `fmpq_mpoly` (Q(t) has no type of
    its own, and one common denominator would have 2^H terms). Rational field: `fmpq`. Radical
    field: `fmpq_poly` modulo t^N − β.
    """
    if isinstance(field, ExponentialField):
        ring = fmpq_mpoly_ctx.get(("t",), "lex")
        values: list[Any] = []
        for k in range(1, most + 1):
            terms = []
            for (n,), (c,) in zip(exponents, residues, strict=True):
                top: dict[tuple[int, ...], int] = {(max(n, 0),): k}
                bottom: dict[tuple[int, ...], int] = {(max(-n, 0),): 1, (max(n, 0),): k} if n else {(0,): 1 + k}
                terms.append((ring.from_dict(top) * c, ring.from_dict(bottom)))
            values.append(terms)
        return values
    if isinstance(field, RationalField):
        weights = [_weight(field.base, exponent) for exponent in exponents]
        return [
            sum((c * (k * r / (1 + k * r)) for r, (c,) in zip(weights, residues, strict=True)), fmpq(0))
            for k in range(1, most + 1)
        ]
    if not isinstance(field, RadicalField):
        raise TypeError("no bare evaluation for this field")
    modulus = field.modulus
    polynomials = []
    for (n,) in exponents:
        whole, rest = divmod(n, field.denominator)
        polynomials.append(fmpq_poly([0] * rest + [1]) * field.beta**whole)
    values = []
    for k in range(1, most + 1):
        total = fmpq_poly([0])
        for r, c in zip(polynomials, residues, strict=True):
            inverse = (1 + k * r).xgcd(modulus)[1]
            total += fmpq_poly(list(c)) * (k * r * inverse % modulus) % modulus
        values.append(total)
    return values


def _weight(base: Sequence[int], exponent: Sequence[int]) -> fmpq:
    result = fmpq(1)
    for b, e in zip(base, exponent, strict=True):
        result *= fmpq(fmpz(b)) ** e
    return result


OPERATIONS = ("add", "subtract", "multiply", "divide", "equals", "image", "embed", "monomial")


class CountingField:
    """A field that counts the learner's operations, which do not depend on the machine."""

    def __init__(self, field: Any) -> None:
        self.inner, self.counts = field, Counter[str]()
        self.name, self.rank, self.degree = field.name, field.rank, field.degree
        self.denominator, self.logit_bits = field.denominator, field.logit_bits

    def embed(self, scalar: Any) -> CountingValue:
        """Count and embed a scalar."""
        self.counts["embed"] += 1
        return CountingValue(self, self.inner.embed(scalar))

    def monomial(self, exponent: Any) -> CountingValue:
        """Count and embed a monomial."""
        self.counts["monomial"] += 1
        return CountingValue(self, self.inner.monomial(exponent))

    def place(self, index: int, precision: int) -> Any:
        """Return a place."""
        return self.inner.place(index, precision)


class CountingValue:
    """A value whose operations are counted."""

    def __init__(self, field: CountingField, inner: Any) -> None:
        self.field, self.inner = field, inner

    def _counted(self, name: str, inner: Any) -> CountingValue:
        self.field.counts[name] += 1
        return CountingValue(self.field, inner)

    def __add__(self, other: CountingValue) -> CountingValue:
        return self._counted("add", self.inner + other.inner)

    def __sub__(self, other: CountingValue) -> CountingValue:
        return self._counted("subtract", self.inner - other.inner)

    def __mul__(self, other: CountingValue) -> CountingValue:
        return self._counted("multiply", self.inner * other.inner)

    def __truediv__(self, other: CountingValue) -> CountingValue:
        return self._counted("divide", self.inner / other.inner)

    def equals(self, other: CountingValue) -> Outcome:
        """Count and compare."""
        self.field.counts["equals"] += 1
        outcome: Outcome = self.inner.equals(other.inner)
        return outcome

    def image(self, place: Any) -> fmpz:
        """Count and map."""
        self.field.counts["image"] += 1
        image: fmpz = self.inner.image(place)
        return image


def count_operations(field: str, heads: int, dim: int) -> dict[str, int]:
    """Return how many value operations of each kind the learner uses; `image` are its modular inputs."""
    model = random_model(heads, dim, field, seed=0)
    counting, attention = CountingField(model.field), Attention(model)
    oracle = Oracle(lambda sequence: CountingValue(counting, attention(sequence)), counting, dim)
    learn(oracle, heads=heads)
    return {name: counting.counts[name] for name in OPERATIONS}
