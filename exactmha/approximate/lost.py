"""The reason why a certified run stops: balls that no longer separate what must be separate, or a contradiction."""

from __future__ import annotations

from exactmha.errors import InconsistentAnswers, Undecided


class SeparationLost(Undecided):
    """A run in ball arithmetic cannot go on: nothing is proved, and nothing is guessed.

    `step` is the step of the learner ("pole polynomial", "isolated poles", "residues", "Krawczyk box",
    "sensitivity", "match"), `profile` says where, `witness` is what was seen.
    """

    def __init__(self, step: str, profile: str, witness: str) -> None:
        self.step, self.profile, self.witness = step, profile, witness
        super().__init__(f"{step} in {profile}: {witness}")


class Contradiction(InconsistentAnswers):
    """No model with at most H heads has these answers within the error; that is proved.

    `step` is "match" or "base value"; the other arguments as in `SeparationLost`.
    """

    def __init__(self, step: str, profile: str, heads: int, witness: str) -> None:
        self.step = step
        super().__init__(f"{profile}: no model with at most {heads} heads has such answers within the error, {witness}")
