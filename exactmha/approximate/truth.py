"""What only the model's side knows: true profiles, true parameters, and answers of the exact oracle as balls."""

from __future__ import annotations

from dataclasses import replace

from flint import arb, fmpq

from exactmha.approximate.balls import total
from exactmha.approximate.design import TokenDesign
from exactmha.approximate.jacobian import Grid, Jacobian, Parameters, assemble
from exactmha.approximate.profile import ProfileBox, derivative, separated
from exactmha.attention import Model
from exactmha.errors import InputError
from exactmha.sequences import Token


def true_parameters(model: Model) -> Parameters:
    """Enclose v and W of the canonical heads, at the working precision."""
    units = unit_logs(model)
    v, W = [], []
    for head in model.canonical().heads:
        v.append(tuple(model.field.embed(x).ball() for x in head.v))
        places = range(model.dim)
        W.append(
            tuple(
                tuple(total([arb(m[i][j]) * unit for m, unit in zip(head.W, units, strict=True)]) for j in places)
                for i in places
            )
        )
    return Parameters(tuple(v), tuple(W))


def unit_logs(model: Model) -> list[arb]:
    """Enclose the logarithmic units of W: √n, or log β, or log p for each base number."""
    field = model.field
    exponents = [tuple(int(g == place) for g in range(field.rank)) for place in range(field.rank)]
    return [field.monomial(exponent).ball().log() * field.denominator for exponent in exponents]


def true_profile(truth: Parameters, name: str, b: Token, u: Token) -> ProfileBox:
    """Enclose c_h = v_h·u and λ_h = b^T W_h u, in the order of the heads of `truth`."""
    x, y = [arb(fmpq(t)) for t in b], [arb(fmpq(t)) for t in u]
    residues = [total([a * t for a, t in zip(v, y, strict=True)]) for v in truth.v]
    logits = [
        total([s * w * t for s, row in zip(x, W, strict=True) for w, t in zip(row, y, strict=True)]) for W in truth.W
    ]
    return ProfileBox(name, tuple(residues), tuple(logits))


def true_grid(design: TokenDesign, truth: Parameters) -> Grid:
    """Enclose all grid profiles with their derivatives; raises `SeparationLost` where C2 or C3 is not seen to hold."""
    grid = {}
    for planned in design.profiles:
        if planned.is_sum:
            continue
        box = true_profile(truth, planned.name, planned.b, planned.u)
        separated(box)  # C2 and C3
        grid[planned.row, planned.column] = replace(box, sensitivity=derivative(box))
    return grid


def first_order(model: Model, design: TokenDesign) -> tuple[Jacobian, Grid]:
    """Return ∂(v, W)/∂(samples) at the exact answers, enclosed at the working precision.

    Heads are in the order of increasing λ in the profile (b_1, u_1), as in certified runs.
    Raises `InputError` for a model without heads, `SeparationLost` where C2 or C3 is not seen to hold.
    """
    truth = ordered_truth(model, design)
    grid = true_grid(design, truth)
    return assemble(design, grid), grid


def ordered_truth(model: Model, design: TokenDesign) -> Parameters:
    """Return the true parameters, heads in the order of increasing λ in the profile (b_1, u_1)."""
    truth = true_parameters(model)
    order = _order(truth, design)
    return Parameters(tuple(truth.v[h] for h in order), tuple(truth.W[h] for h in order))


def head_order(model: Model, design: TokenDesign) -> list[int]:
    """Return the number (from 0) of every head of `ordered_truth` in the canonical form."""
    return _order(true_parameters(model), design)


def _order(truth: Parameters, design: TokenDesign) -> list[int]:
    if not truth.v:
        raise InputError("a model without heads has no parameters that an error could move", field="INSTANCE")
    first = true_profile(truth, "(b_1, u_1)", design.b[0], design.u[0])
    return sorted(range(len(truth.v)), key=lambda h: first.logits[h].mid())
