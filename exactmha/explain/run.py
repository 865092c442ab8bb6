"""One run of the learner, with its numbers as terms of formulas."""

from __future__ import annotations

from dataclasses import dataclass, field

from flint import fmpq

from exactmha.attention import Model
from exactmha.conditions import Grid
from exactmha.errors import InputError
from exactmha.explain.equation import FalseEquation, Forms, Ratios, Values
from exactmha.explain.formula import Fraction, Matrix, Number, Term, column, matrix, number, parsed, plus, times
from exactmha.fields.interface import Exponent, Scalar, dot
from exactmha.fields.values import ExactValue
from exactmha.heads import Canonical, Head
from exactmha.limits import DEFAULT_LIMITS, Limits
from exactmha.recover.learn import Recovery, Sampled
from exactmha.recover.sample import IntToken
from exactmha.recover.sample import add as added
from exactmha.verification import Verification, verify

MOST_HEADS, MOST_DIM = 4, 6
"""Larger runs are no story for a reader; from 5 heads on equations in Q(t) also pass the size budget of that field."""
_LONG = 132
"""Bits of an integer of about 40 digits, from which on it is shortened (see `exactmha.explain.notation`)."""
GRID = Grid(7, 9)
"""Tokens with small coordinates, so that a reader can follow the numbers; the conditions are checked all the same."""


@dataclass
class _Kept:
    """Keeps what the final proof of a run uses."""

    profiles: dict[str, Sampled] = field(default_factory=dict)

    def profile(self, sampled: Sampled) -> None:
        """Keep one accepted profile under its name, such as "(b_1, u_1)"."""
        self.profiles[sampled.profile.name] = sampled

    def restart(self) -> None:
        """Forget all."""
        self.profiles.clear()


@dataclass(frozen=True)
class Run:
    """A finished run: what was asked, answered, proved and recovered, and the model behind it.

    Heads are numbered as the learner numbered them, 0 to H − 1, in every method.
    """

    verification: Verification
    recovery: Recovery
    profiles: dict[str, Sampled]
    forms: Forms
    ratios: Ratios
    values: Values

    @property
    def model(self) -> Model:
        """The model behind the oracle."""
        return self.verification.model

    @property
    def canonical(self) -> Canonical:
        """Its canonical form."""
        return self.verification.canonical

    @property
    def heads(self) -> range:
        """The numbers of the heads."""
        return range(self.recovery.head_count)

    @property
    def dim(self) -> int:
        """The dimension d."""
        return self.model.dim

    # --- what the learner saw and found ------------------------------------------------------------

    def sampled(self, b: str, u: str) -> Sampled:
        """Return a profile by the names of its tokens, such as "b_1" and "u_1+u_2"."""
        return self.profiles[f"({b}, {u})"]

    def exact_answer(self, sampled: Sampled, k: int) -> ExactValue:
        """Return f_k, the answer to k copies; for k = 0 the base value."""
        value = sampled.answers[k - 1] if k else sampled.base
        if not isinstance(value, ExactValue):
            raise TypeError("the oracle of a story answers with exact values")
        return value

    def answer(self, sampled: Sampled, k: int) -> Term:
        """Return f_k as a term."""
        return parsed(str(self.exact_answer(sampled, k)))

    def pole(self, sampled: Sampled, h: int) -> Term:
        """Return r_h."""
        return parsed(str(self.model.field.monomial(sampled.profile.exponents[h])))

    def log_pole(self, sampled: Sampled, h: int) -> Term:
        """Return log r_h, the exact logarithm of the monomial."""
        units = self.model.field.denominator
        return parsed(self.model.field.log_text([fmpq(e, units) for e in sampled.profile.exponents[h]]))

    def residue(self, sampled: Sampled, h: int) -> Term:
        """Return c_h."""
        return self.scalar(sampled.profile.residues[h])

    def exact(self, side: Term) -> Term:
        """Return the value of a number in K, written out."""
        ((value,),) = self.values.rows(side)
        return parsed(str(value))

    def needs_decimal(self, side: Term) -> bool:
        """Tell whether a number is hard to read in its exact form: no rational, or one that is shortened."""
        if not isinstance(side, Number):
            return True
        return max(abs(side.value.numerator), side.value.denominator).bit_length() > _LONG

    def scalar(self, scalar: Scalar) -> Term:
        """Return a number of the coefficient field."""
        return parsed(self.model.field.scalar_text(scalar))

    def readout(self, h: int) -> Matrix:
        """Return v_h as a column."""
        return self.vector(self.recovery.labelled_heads[h].v)

    def vector(self, entries: tuple[Scalar, ...]) -> Matrix:
        """Return a column of scalars."""
        return column(map(self.scalar, entries))

    def weights(self, head: Head) -> Matrix:
        """Return W."""
        rows = range(self.dim)
        text = self.model.field.log_text
        return Matrix(tuple(tuple(parsed(text([unit[i][j] for unit in head.W])) for j in rows) for i in rows))

    def finals(self) -> Matrix:
        """Return B, with the tokens b_j as rows."""
        return matrix(self.recovery.b)

    def displacements(self) -> Matrix:
        """Return U, with the tokens u_i as columns."""
        return matrix(list(zip(*self.recovery.u, strict=True)))

    # --- behind the curtain ------------------------------------------------------------------------

    def hidden(self, h: int) -> Head:
        """Return the canonical head of the instance that the learner numbered h; they share W."""
        W = self.recovery.labelled_heads[h].W
        for head in self.canonical.heads:
            if head.W == W:
                return head
        raise FalseEquation(f"the recovered head {h + 1} is no head of the instance")

    def canonical_number(self, h: int) -> int:
        """Return the number, from 1, that `exactmha verify` gives to the head that the learner numbered h."""
        return self.canonical.heads.index(self.hidden(h)) + 1

    def hidden_ratio(self, sampled: Sampled, h: int) -> Term:
        """Return r_h = exp(b^T W_h u), from the hidden W_h."""
        return parsed(str(self.model.field.monomial(self.exponent(self.hidden(h), sampled.b, sampled.u))))

    def hidden_residue(self, sampled: Sampled, h: int) -> Term:
        """Return c_h = v_h·u, from the hidden v_h."""
        return self.scalar(dot(self.hidden(h).v, sampled.u))

    def softmax(self, sampled: Sampled, copies: int) -> Term:
        """Return f(X) for "copies of b + u, then b", spelled out with the hidden heads' weights relative to b."""
        token, terms = added(sampled.b, sampled.u), []
        for h in self.heads:
            v, weight = self.hidden(h).v, times(number(copies), self.hidden_ratio(sampled, h))
            top = plus(times(weight, self.scalar(dot(v, token))), self.scalar(dot(v, sampled.b)))
            terms.append(Fraction(top, plus(weight, number(1))))
        return plus(*terms)

    def exponent(self, head: Head, b: IntToken, u: IntToken) -> Exponent:
        """Return the exponent of the monomial exp(b^T W u)."""
        units = [_bilinear(unit, b, u) * self.model.field.denominator for unit in head.W]
        return tuple(int(x.numerator) for x in units)


def _bilinear(W: tuple[tuple[fmpq, ...], ...], b: IntToken, u: IntToken) -> fmpq:
    return sum((x * w * y for x, row in zip(b, W, strict=True) for w, y in zip(row, u, strict=True)), fmpq(0))


def gather(model: Model, grid: Grid = GRID, seed: int = 0, limits: Limits = DEFAULT_LIMITS) -> Run:
    """Run the learner on a model, told H, and keep what a story needs.

    Asks 4Hd² − 2H + 1 queries, plus those of tokens drawn again. Raises `InputError` for a model without
    heads or too large for a reader, and when the run does not recover it.
    """
    heads = len(model.canonical().heads)
    if heads == 0:
        raise InputError(
            "there is nothing to tell: all heads cancel, so this layer is the zero function",
            hint="see exactmha canonical",
        )
    if not 1 <= heads <= MOST_HEADS or model.dim > MOST_DIM:
        raise InputError(
            f"a story needs 1 to {MOST_HEADS} canonical heads and a dimension of at most {MOST_DIM}",
            value=f"H = {heads}, d = {model.dim}",
            hint="exactmha verify takes larger instances",
        )
    kept = _Kept()
    result = verify(model, grid=grid, seed=seed, recorder=kept, limits=limits)
    if result.recovery is None or result.recovery.heads != result.canonical.heads:
        raise InputError(f"there is nothing to explain: {result.failure}", hint="try another --seed or --grid")
    return Run(result, result.recovery, kept.profiles, Forms(), Ratios(), Values(model.field))
