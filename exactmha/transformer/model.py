"""The model: heads (W_h, O_h) and a bias-free network (w_j, a_j), as a person writes them down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

    def slopes(self, form: CanonicalForm) -> tuple[fmpq, ...]:
        """Return Σ a c/2 over the neurons a·ReLU(c⟨ν, A⟩) on each line of the canonical form.

        Built from these, the lines need no more neurons than this Transformer has.
        """
        found = {line.nu: fmpq(0) for line in form.lines}
        zero = (fmpq(0),) * self.dim
        for j, a in enumerate(self.a):
            readouts, half = self.readouts(j), a / 2
            alone = canonical_form(self.W, [tuple(half * x for x in block) for block in readouts], [(half, readouts)])
            for line in alone.lines:  # one, or none where the neuron does nothing
                nu = dict(zip(alone.W, line.nu, strict=True))
                key = tuple(nu.get(W, zero) for W in form.W)
                if set(alone.W) <= set(form.W) and key in found:
                    entry, slope = next((x, y) for x, y in _entries(line.nu, alone.linear) if x != 0)
                    found[key] += slope / entry
        return tuple(found.values())


def _entries(left: Blocks, right: Blocks) -> Iterator[tuple[fmpq, fmpq]]:
    """Yield the entries of two block vectors side by side."""
    for one, other in zip(left, right, strict=True):
        yield from zip(one, other, strict=True)
