"""Every error of the package, one class per *reason*, each carrying its data.

Commands turn an `InputError` into exit status 2; the others become outcomes of claims.
"""

from __future__ import annotations


def shorten(value: object, width: int = 60) -> str:
    """Return `value` as one printable line of at most `width` characters, for messages."""
    text = value if isinstance(value, str) else repr(value)
    text = "".join(c if c.isprintable() else "?" for c in text[: 2 * width])
    return text if len(text) <= width else text[: width - 1] + "…"


class ExactMHAError(Exception):
    """Root of all errors raised on purpose by this package."""


class InputError(ExactMHAError):
    """Something a user gave is unusable; the message names where, what, and what to do."""

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        field: str | None = None,
        value: object = None,
        hint: str | None = None,
    ) -> None:
        self.problem, self.file, self.field, self.value, self.hint = problem, file, field, value, hint
        super().__init__(problem)

    def __str__(self) -> str:
        where = ": ".join(shorten(part, 200) for part in (self.file, self.field) if part)
        given = "" if self.value is None else f" (given: {shorten(self.value)})"
        hint = f"; {self.hint}" if self.hint else ""
        return f"{where}: {self.problem}{given}{hint}" if where else f"{self.problem}{given}{hint}"

    def located(self, *, file: str | None = None, field: str | None = None) -> InputError:
        """Return the same error with the place filled in where it was still unknown."""
        return type(self)(
            self.problem,
            file=self.file or file,
            field=self.field or field,
            value=self.value,
            hint=self.hint,
        )


class LimitError(InputError):
    """The input is well formed but larger than a documented limit (see `exactmha.limits`)."""


class ConditionFailed(ExactMHAError):
    """An identifiability condition was seen to fail.

    `conditions` are the possible culprits (names of records of `exactmha.conditions`), `profile`
    says where, `heads` which heads (labels of the recovery, empty when they cannot be told apart),
    `witness` is the observed evidence in words.
    """

    def __init__(self, conditions: tuple[str, ...], *, profile: str, witness: str, heads: tuple[int, ...] = ()) -> None:
        self.conditions, self.profile, self.witness, self.heads = conditions, profile, witness, heads
        super().__init__(f"{' or '.join(conditions)} fails in {profile}: {witness}")


class InconsistentAnswers(ExactMHAError):
    """The exact answers are *proved* not to come from a model with the stated number of heads."""


class NoInterpolant(ExactMHAError):
    """No exact interpolant of form (P) was found; this proves nothing, so the outcome is undecided."""


class Undecided(ExactMHAError):
    """An exact decision would exceed the size budget."""


class WorkerLost(ExactMHAError):
    """A process that ran part of the work is gone; what was finished before is kept."""


class BadPlace(ExactMHAError):
    """A value has no image at this place (a denominator is not a unit); another place will do."""
