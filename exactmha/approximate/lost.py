"""The reason why a certified run stops: the step where the balls no longer separate what must be separate."""

from __future__ import annotations

from exactmha.errors import Undecided


class SeparationLost(Undecided):
    """A run in ball arithmetic cannot go on: nothing is proved, and nothing is guessed.

    `step` is the step of the learner ("pole polynomial", "isolated poles", "residues", "Krawczyk box",
    "sensitivity", "match"), `profile` says where, `witness` is what was seen.
    """

    def __init__(self, step: str, profile: str, witness: str) -> None:
        self.step, self.profile, self.witness = step, profile, witness
        super().__init__(f"{step} in {profile}: {witness}")
