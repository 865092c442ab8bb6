"""A counterexample: what is claimed, and the exact verification of every claim when it is built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from flint import nmod_mat

from exactmha.attention import Attention, Model
from exactmha.counterexamples.setting import Degenerate, Setting
from exactmha.errors import InputError, LimitError
from exactmha.fields.values import ExactValue
from exactmha.instance import equivalent
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.modular.places import Place
from exactmha.outcome import Claim, Evidence, Outcome
from exactmha.sequences import Token, TokenSequence

_DRAWS = 60
"""Draws of small numbers before a construction is given up."""
_HEIGHTS = 6
"""Heights tried for the smallest example."""
_SEARCHED = 200
_COMPARED = 16
_SHOWN_DIGITS = 3


@dataclass(frozen=True)
class Construction:
    """What a builder hands over, nothing of it verified yet.

    `agree` lists queries with equal answers, `differ` one with different answers; `same` says that the
    two models are one function. `no_profile` = (n, queries k = 0..2n+1) says that the (single) model's
    answers there are those of no function of form (P) with at most n terms.
    """

    models: tuple[Model, ...]
    statement: str
    reason: str
    agree: Sequence[TokenSequence] = ()
    close: Sequence[TokenSequence] = ()
    """queries whose answers are close together, or rounded alike, in a claim of `more`"""
    differ: Sequence[TokenSequence] = ()
    same: bool = False
    no_profile: tuple[int, Sequence[TokenSequence]] | None = None
    more: Sequence[Claim] = field(default_factory=tuple)
    """claims that the builder has decided itself"""


@dataclass(frozen=True)
class Assumption:
    """One assumption of the theorem, and how to break what needs it."""

    name: str
    dropped: str
    least: tuple[int, int]
    """the least H and d for which the construction exists"""
    fields: tuple[str, ...]
    construct: Callable[[Setting], Construction]
    why_least: str = ""
    why_fields: str = ""

    def check(self, setting: Setting) -> None:
        """Raise `InputError` where the mathematics does not allow this size or field."""
        if setting.field_name not in self.fields:
            allowed = " or ".join(self.fields)
            raise InputError(
                f"{self.name} does not exist in this field: {self.why_fields}",
                field="--field",
                value=setting.field_name,
                hint=f"use {allowed}",
            )
        for option, value, least in (("--heads", setting.heads, self.least[0]), ("--dim", setting.dim, self.least[1])):
            if value < least:
                raise InputError(f"{self.name} needs at least {least}: {self.why_least}", field=option, value=value)


@dataclass(frozen=True)
class Counterexample:
    """A construction together with the claims about it, all decided exactly."""

    name: str
    dropped: str
    setting: Setting
    construction: Construction
    claims: tuple[Claim, ...]

    @property
    def outcome(self) -> Outcome:
        """Holds when every claim does."""
        return Outcome.every(claim.outcome for claim in self.claims)


def build(assumption: Assumption, setting: Setting, limits: Limits = DEFAULT_LIMITS) -> Counterexample:
    """Build a counterexample of the given size, drawing again where small numbers happen to be degenerate.

    Raises `InputError` where it does not exist, `LimitError` where an answer is too large.
    """
    assumption.check(setting)
    last: Counterexample | None = None
    for found in _drawn(assumption, setting, limits):
        if found.outcome is Outcome.HOLDS:
            return found
        last = last or found
    if last is None:
        raise InputError(
            "every draw of small numbers was degenerate", field="--seed", value=setting.seed, hint="try another seed"
        )
    return last


def smallest(assumption: Assumption, setting: Setting, limits: Limits = DEFAULT_LIMITS) -> Counterexample:
    """Build the smallest one: least H, then d, then the least height of the numbers drawn from which one is found."""
    assumption.check(replace(setting, heads=assumption.least[0], dim=assumption.least[1]))
    for height in range(1, _HEIGHTS + 1):
        start = Setting(*assumption.least, setting.field_name, setting.seed, height)
        for found in _drawn(assumption, start, limits):
            if found.outcome is Outcome.HOLDS:
                return found
    raise InputError("no example was found", field="NAME", value=assumption.name, hint="try another seed")


def _drawn(assumption: Assumption, setting: Setting, limits: Limits) -> Iterator[Counterexample]:
    """Yield what is built from one seed after the other, except where the small numbers are degenerate."""
    for i in range(_DRAWS):
        try:
            with suppress(Degenerate):
                yield _examined(assumption, replace(setting, seed=setting.seed + i), limits)
        except LimitError as error:
            hint = "take smaller --heads and --dim, or --field exponential"
            raise LimitError(
                error.problem, field="--heads, --dim", value=f"{setting.heads}, {setting.dim}", hint=hint
            ) from None


def _examined(assumption: Assumption, setting: Setting, limits: Limits) -> Counterexample:
    built = assumption.construct(setting)
    if not built.same and any(model.canonical().is_changed for model in built.models):
        raise Degenerate("heads merge or vanish")
    answer = [Attention(model, limits) for model in built.models]
    if not built.same and not built.differ and len(answer) == 2:
        built = replace(built, differ=(_difference(setting, answer[0], answer[1]),))
    claims = [*_agreement(built, answer), *built.more]
    return Counterexample(assumption.name, assumption.dropped, setting, built, tuple(claims))


def _difference(setting: Setting, first: Attention, second: Attention) -> TokenSequence:
    """Find a short query on which the answers differ: of a few, the one where they differ most."""
    for length in range(1, 5):
        found: list[tuple[float, int, TokenSequence]] = []
        for _ in range(_SEARCHED // length):
            drawn: list[Token] = [setting.vector() for _ in range(length)]
            query = TokenSequence([(token, 1) for token in drawn])
            difference = first(query) - second(query)
            if difference.is_zero() is Outcome.FAILS:
                found.append((float(abs(difference.enclosure(_SHOWN_DIGITS))), len(found), query))
            if len(found) == _COMPARED:
                break
        if found:
            return max(found)[2]
    raise Degenerate("no query was found on which the models differ")


def _agreement(built: Construction, answer: Sequence[Attention]) -> Iterator[Claim]:
    if built.agree:
        outcome = Outcome.every(answer[0](query).equals(answer[1](query)) for query in built.agree)
        longest = max(len(query) for query in built.agree)
        statement = f"both models give exactly the same answer to each of the {len(built.agree)} listed queries"
        yield Claim("agree", statement, outcome, Evidence.CERTIFIED, f"exact evaluation; lengths up to {longest}")
    for query in built.differ:
        difference = answer[0](query) - answer[1](query)
        outcome = _opposite(difference.is_zero())
        statement = f"they differ on a query of length {len(query)}"
        size = "" if outcome is not Outcome.HOLDS else f"; the difference is about {_short(difference)}"
        yield Claim("differ", statement, outcome, Evidence.CERTIFIED, f"exact evaluation{size}")
    if len(built.models) == 2:
        equal = equivalent(*built.models)
        if built.same:
            statement, outcome = "they are one function: their canonical forms are equal", equal
        else:
            statement, outcome = "they are different functions: their canonical forms differ", _opposite(equal)
        yield Claim("canonical", statement, outcome, Evidence.CERTIFIED, "proofs/canonical-uniqueness")
    if built.no_profile:
        terms, queries = built.no_profile
        field = built.models[0].field
        outcome = Outcome.of(_is_no_profile([answer[0](query) for query in queries], field.place(0, 1)))
        statement = (
            f"the {len(queries)} answers at k = 0..{len(queries) - 1} are those of no function of form (P) with "
            f"{terms} or fewer terms"
        )
        if outcome is Outcome.FAILS:
            raise Degenerate("the Loewner matrix is singular modulo p")
        yield Claim(
            "no-profile",
            statement,
            outcome,
            Evidence.CERTIFIED,
            "the Loewner determinant is not 0 (proofs/loewner-rank)",
        )


def _short(value: ExactValue) -> str:
    return str(value.enclosure(_SHOWN_DIGITS).str(_SHOWN_DIGITS, radius=False))


def _is_no_profile(values: Sequence[ExactValue], place: Place) -> bool:
    """Return True when the Loewner matrix of f_0, f_1, … (even nodes against odd ones) is regular modulo a prime."""
    p = place.prime
    f = [int(value.image(place)) for value in values]
    rows = [[(f[x] - f[y]) * pow(x - y, -1, p) % p for y in range(1, len(f), 2)] for x in range(0, len(f), 2)]
    return bool(int(nmod_mat(rows, p).det()))


def _opposite(outcome: Outcome) -> Outcome:
    return {Outcome.HOLDS: Outcome.FAILS, Outcome.FAILS: Outcome.HOLDS}.get(outcome, outcome)
