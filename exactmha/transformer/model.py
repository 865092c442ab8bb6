"""The model: heads (W_h, O_h) and a bias-free network (w_j, a_j), as a person writes them down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from exactmha.fields.model_field import ExactField
from exactmha.heads import Matrix
from exactmha.transformer.form import Blocks, CanonicalForm, canonical_form


@dataclass(frozen=True)
class Transformer:
    """T(X) = Σ_j a_j ReLU(w_j · z(X)),  z = Σ_h O_h A_h(X),  A_h(X) = Σ_i softmax_i(x_n^T W_h x_i) x_i.

    `W[h]` holds one d × d matrix per logarithmic unit of the field, as in `exactmha.heads.Head`; `O[h]` is p × d,
    `w` is m × p and `a` has m entries, all rational, so that the sign of a number w_j·z(X) is that of a plain
    attention with rational readouts μ_{j,h} = O_h^T w_j.
    """

    field: ExactField
    dim: int
    W: tuple[tuple[Matrix, ...], ...]
    O: tuple[Matrix, ...]  # noqa: E741  # the paper's symbol
    w: Matrix
    a: tuple[fmpq, ...]

    def readouts(self, j: int) -> Blocks:
        """Return μ_{j,h} = O_h^T w_j for every head h: w_j·z(X) = Σ_h μ_{j,h}·A_h(X)."""
        return tuple(
            tuple(sum((x * row[i] for x, row in zip(self.w[j], rows, strict=True)), fmpq(0)) for i in range(self.dim))
            for rows in self.O
        )

    def canonical(self) -> CanonicalForm:
        """Return the canonical form: a ReLU(g) = a g/2 + a |g|/2 for every neuron (`proofs/transformer-canonical`)."""
        half = fmpq(1, 2)
        neurons: Sequence[tuple[fmpq, Blocks]] = [(half * a, self.readouts(j)) for j, a in enumerate(self.a)]
        linear = tuple(
            tuple(sum((a * blocks[h][i] for a, blocks in neurons), fmpq(0)) for i in range(self.dim))
            for h in range(len(self.W))
        )
        return canonical_form(self.W, linear, neurons)
