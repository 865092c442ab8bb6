"""From profiles to parameters: v, s, W, and their derivative in the samples, stage by stage (`proofs/stability`).

    v_h = U^{-T} c_h,  s = Σ_h v_h,  σ_j = s·b_j,  (c, λ)_{ji} = Φ(σ_j, f_{ji}),  W_h = B^{-1} Λ_h U^{-1}.

Everything is an `arb_mat` over the vector of grid samples (f(b_1), then f_{ji,1..2H} row by row), so the
same code gives the first-order constant, from exact profiles, and certified bounds, from boxes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flint import arb, arb_mat, fmpq_mat

from exactmha.approximate.balls import decimal_exponent, infinity_norm, largest, row_norms, total
from exactmha.approximate.design import TokenDesign
from exactmha.approximate.profile import ProfileBox

Grid = Mapping[tuple[int, int], ProfileBox]
"""(row j, column i), from 0 → profile (b_j, u_i), all heads in one order."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Balls for v (heads × d) and W (heads × d × d), in one order of the heads."""

    v: tuple[tuple[arb, ...], ...]
    W: tuple[tuple[tuple[arb, ...], ...], ...]

    def entries(self) -> list[arb]:
        """Return all parameters: v of every head, then W of every head, row by row."""
        return [x for v in self.v for x in v] + [x for W in self.W for row in W for x in row]

    def head(self, h: int) -> list[arb]:
        """Return the parameters of one head: v, then W, row by row."""
        return [*self.v[h], *(x for row in self.W[h] for x in row)]

    @property
    def radius(self) -> arb:
        """The largest radius."""
        return largest([x.rad() for x in self.entries()])


@dataclass(frozen=True, slots=True)
class Jacobian:
    """∂(v, W)/∂(grid samples) and the derivatives of what is computed on the way."""

    design: TokenDesign
    heads: int
    residues: arb_mat
    """∂c_{h,i}, first row: rows i, then h"""
    first_logits: arb_mat
    """∂λ of the first row: rows i, then h"""
    v: arb_mat
    """rows h, then coordinate"""
    bases: arb_mat | None
    """∂(s·b_j), j = 2..d"""
    later_logits: arb_mat | None
    W: arb_mat
    """rows h, then row and column of W"""

    @property
    def parameters(self) -> arb_mat:
        """∂(v, W), rows as in `Parameters.entries`."""
        return arb_mat(self.v.tolist() + self.W.tolist())

    @property
    def constant(self) -> arb:
        """max over the parameters of Σ over the samples |∂ parameter/∂ sample|."""
        return infinity_norm(self.parameters)


def readouts(design: TokenDesign, residues: Sequence[Sequence[arb]]) -> list[list[arb]]:
    """Return v_h = U^{-T} (c_{h,i})_i from residues[i][h]."""
    product = arb_mat(fmpq_mat(design.u_inverse.transpose())) * arb_mat([list(row) for row in residues])
    return [list(column) for column in product.transpose().tolist()]


def weights(design: TokenDesign, logits: Sequence[Sequence[arb]]) -> list[list[arb]]:
    """Return W = B^{-1} Λ U^{-1} for one head."""
    product = arb_mat(design.b_inverse) * arb_mat([list(row) for row in logits]) * arb_mat(design.u_inverse)
    rows: list[list[arb]] = product.tolist()
    return rows


def parameters(design: TokenDesign, grid: Grid) -> Parameters:
    """Return v and W from profiles in one order of the heads."""
    dim, heads = design.dim, len(grid[0, 0].logits)
    v = readouts(design, [grid[0, i].residues for i in range(dim)])
    W = [weights(design, [[grid[j, i].logits[h] for i in range(dim)] for j in range(dim)]) for h in range(heads)]
    return Parameters(tuple(map(tuple, v)), tuple(tuple(map(tuple, rows)) for rows in W))


def base_value(design: TokenDesign, v: Sequence[Sequence[arb]], row: int) -> arb:
    """Return s·b_row (row from 0)."""
    return total([x * arb(y) for readout in v for x, y in zip(readout, design.b[row], strict=True)])


@dataclass(frozen=True, slots=True)
class FirstRow:
    """Derivatives of what the first row gives, as rows over all grid samples."""

    residues: list[list[arb]]
    """∂c, rows (i, h)"""
    logits: list[list[list[arb]]]
    """∂λ, [i][h]"""
    v: list[list[arb]]
    """rows (h, coordinate)"""
    bases: list[list[arb]]
    """∂(s·b_j), j = 1..d"""


def first_row(design: TokenDesign, row: Sequence[ProfileBox]) -> FirstRow:
    """Return the derivatives of c, λ, v and s·b_j from the profiles (b_1, u_i)."""
    heads = len(row[0].logits)
    unit = [arb(1)] + [arb(0)] * (design.grid_samples(heads) - 1)  # ∂f(b_1)
    placed = [_placed(design, box, 0, i, unit) for i, box in enumerate(row)]
    residues = [line for lines in placed for line in lines[:heads]]
    v = _readout_derivative(design, residues, heads)
    return FirstRow(residues, [lines[heads:] for lines in placed], v, _base_derivative(design, v, heads))


def assemble(design: TokenDesign, grid: Grid) -> Jacobian:
    """Return the derivative of all parameters, from the derivatives of the profiles, by the chain rule."""
    dim, heads = design.dim, len(grid[0, 0].logits)
    first = first_row(design, [grid[0, i] for i in range(dim)])
    logits = {(0, i): first.logits[i] for i in range(dim)}
    for j in range(1, dim):
        for i in range(dim):
            logits[j, i] = _placed(design, grid[j, i], j, i, first.bases[j])[heads:]
    W = [row for h in range(heads) for row in _weight_derivative(design, logits, h)]
    later = [row for (j, _), rows in logits.items() if j for row in rows]
    return Jacobian(
        design,
        heads,
        residues=arb_mat(first.residues),
        first_logits=arb_mat([row for i in range(dim) for row in logits[0, i]]),
        v=arb_mat(first.v),
        bases=arb_mat(first.bases[1:]) if dim > 1 else None,
        later_logits=arb_mat(later) if later else None,
        W=arb_mat(W),
    )


def _placed(design: TokenDesign, box: ProfileBox, row: int, column: int, base: Sequence[arb]) -> list[list[arb]]:
    """Return ∂(c, λ) of one profile over all grid samples: S_σ·∂σ, plus S_k at the profile's own samples."""
    heads = len(box.logits)
    start = design.position(row, column, heads)
    if box.sensitivity is None:
        raise ValueError("the profile was enclosed without its derivative")
    placed = []
    for sigma, *own in box.sensitivity.tolist():
        derivative = [sigma * x for x in base]
        for k, x in enumerate(own):
            derivative[start + k] += x
        placed.append(derivative)
    return placed


def _readout_derivative(design: TokenDesign, residues: list[list[arb]], heads: int) -> list[list[arb]]:
    """Return ∂v, rows (h, coordinate), from ∂c, rows (i, h)."""
    inverse = arb_mat(fmpq_mat(design.u_inverse.transpose()))
    rows = []
    for h in range(heads):
        rows += (inverse * arb_mat(residues[h::heads])).tolist()
    return rows


def _base_derivative(design: TokenDesign, v: list[list[arb]], heads: int) -> list[list[arb]]:
    """Return ∂(s·b_j), j = 1..d."""
    dim = design.dim
    total_rows = [[total([v[h * dim + a][m] for h in range(heads)]) for m in range(len(v[0]))] for a in range(dim)]
    return [[total([arb(b[a]) * total_rows[a][m] for a in range(dim)]) for m in range(len(v[0]))] for b in design.b]


def _weight_derivative(
    design: TokenDesign, logits: Mapping[tuple[int, int], list[list[arb]]], h: int
) -> list[list[arb]]:
    """Return ∂W_h = (B^{-1} ⊗ U^{-T}) ∂Λ_h, rows of W_h one after the other."""
    dim = design.dim
    left, right = design.b_inverse.tolist(), design.u_inverse.tolist()
    kronecker = arb_mat(
        [
            [arb(left[a][j] * right[i][c]) for j in range(dim) for i in range(dim)]
            for a in range(dim)
            for c in range(dim)
        ]
    )
    stacked = arb_mat([logits[j, i][h] for j in range(dim) for i in range(dim)])
    rows: list[list[arb]] = (kronecker * stacked).tolist()
    return rows


# --- which stage and which profile dominate ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StageNorm:
    """One stage of the learner: the ∞-norm of ∂(its results)/∂(samples), and where it is reached."""

    stage: str
    norm: arb
    where: str
    growth: float
    """log10 of the norm, less that of the stages whose results it uses (the largest of these; 0 for the answers)"""


def stage_norms(jacobian: Jacobian, grid: Grid, order: Sequence[int]) -> list[StageNorm]:
    """Return the norms in the order of the learner: q, r, c, log r of the first row, v, s·b_j, q, r, log r below, W.

    `order` gives the number (from 0) under which the reader knows each head.
    """
    dim = jacobian.design.dim
    names = [f"head {h + 1}" for h in order]
    stages = _profile_stages("first row", [grid[0, i] for i in range(dim)], jacobian.first_logits, 0.0)
    poles, logits = stages[1], stages[2]
    places = [grid[0, i].name for i in range(dim)]
    residues = _stage("residues c, first row", jacobian.residues, places, poles)
    readout = _stage("readouts v", jacobian.v, names, residues)
    stages[2:] = [residues, logits, readout]
    if jacobian.bases is not None and jacobian.later_logits is not None:
        bases = _stage("computed base values s·b_j", jacobian.bases, [f"b_{j + 1}" for j in range(1, dim)], readout)
        boxes = [grid[j, i] for j in range(1, dim) for i in range(dim)]
        later = _profile_stages("later rows", boxes, jacobian.later_logits, max(0.0, decimal_exponent(bases.norm)))
        stages += [bases, *later]
        logits = max(logits, later[-1], key=lambda stage: stage.norm.mid())
    return [*stages, _stage("weights W", jacobian.W, names, logits)]


def _profile_stages(rows: str, boxes: Sequence[ProfileBox], logits: arb_mat, before: float) -> list[StageNorm]:
    """Return the stages q, r and log r of some profiles, whose ∂λ are the rows of `logits`."""
    poles = _pole_derivative(boxes, logits)
    polynomials = _pole_polynomial_derivative(boxes, poles)
    places = [box.name for box in boxes]
    first = _stage(f"interpolation: pole polynomial, {rows}", polynomials, places, before)
    second = _stage(f"poles r, {rows}", poles, places, first)
    return [first, second, _stage(f"logarithms log r, {rows}", logits, places, second)]


def _stage(name: str, matrix: arb_mat, places: Sequence[str], before: StageNorm | float) -> StageNorm:
    norms = row_norms(matrix)
    worst = max(range(len(norms)), key=lambda i: norms[i].mid())
    norm = largest(norms)
    earlier = before if isinstance(before, float) else decimal_exponent(before.norm)
    return StageNorm(name, norm, places[worst * len(places) // len(norms)], decimal_exponent(norm) - earlier)


def _pole_derivative(boxes: Sequence[ProfileBox], logits: arb_mat) -> arb_mat:
    """Return ∂r = r·∂λ."""
    poles = [x.exp() for box in boxes for x in box.logits]
    return arb_mat([[r * x for x in row] for r, row in zip(poles, logits.tolist(), strict=True)])


def _pole_polynomial_derivative(boxes: Sequence[ProfileBox], poles: arb_mat) -> arb_mat:
    """Return ∂q_m = Σ_h e_{m−1}(r without r_h)·∂r_h, q_m the elementary symmetric functions of the r_h."""
    heads = len(boxes[0].logits)
    derivatives = poles.tolist()
    rows = []
    for i, box in enumerate(boxes):
        r = [x.exp() for x in box.logits]
        others = [_elementary([x for g, x in enumerate(r) if g != h]) for h in range(heads)]
        block = arb_mat(derivatives[i * heads : (i + 1) * heads])
        rows += (arb_mat([[others[h][m] for h in range(heads)] for m in range(heads)]) * block).tolist()
    return arb_mat(rows)


def _elementary(values: Sequence[arb]) -> list[arb]:
    """Return e_0..e_n of n numbers."""
    result = [arb(1)] + [arb(0)] * len(values)
    for count, x in enumerate(values, 1):
        for m in range(count, 0, -1):
            result[m] += x * result[m - 1]
    return result


@dataclass(frozen=True, slots=True)
class Dominant:
    """The parameter whose row has the largest norm, and the profile whose samples contribute most to it."""

    parameter: str
    row: int
    profile: str
    share: arb
    """the part of the row's norm that comes from the profile's samples"""


def dominant(jacobian: Jacobian, order: Sequence[int]) -> Dominant:
    """Say which parameter and which profile's samples dominate the constant; `order` as in `stage_norms`."""
    rows = jacobian.parameters.tolist()
    norms = row_norms(jacobian.parameters)
    worst = max(range(len(norms)), key=lambda i: norms[i].mid())
    design, heads = jacobian.design, jacobian.heads
    shares = {"f(b_1)": abs(rows[worst][0])}
    for j in range(design.dim):
        for i in range(design.dim):
            start = design.position(j, i, heads)
            samples = [abs(x) for x in rows[worst][start : start + 2 * heads]]
            shares[f"(b_{j + 1}, u_{i + 1})"] = total(samples)
    profile = max(shares, key=lambda name: shares[name].mid())
    return Dominant(parameter_name(worst, order, design.dim), worst, profile, shares[profile] / norms[worst])


def parameter_name(index: int, order: Sequence[int], dim: int) -> str:
    """Return the name of entry `index` of `Parameters.entries`, such as W_2[1,3] or v_1[2]."""
    heads = len(order)
    if index < heads * dim:
        return f"v_{order[index // dim] + 1}[{index % dim + 1}]"
    head, place = divmod(index - heads * dim, dim * dim)
    return f"W_{order[head] + 1}[{place // dim + 1},{place % dim + 1}]"
