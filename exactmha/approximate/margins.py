"""Margins of C1–C4, and what they alone promise: the a priori constant and radius of `proofs/stability`, Theorem 2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flint import arb, arb_mat, fmpq

from exactmha.approximate.balls import infinity_norm, largest, least, total
from exactmha.approximate.design import PlannedProfile, TokenDesign
from exactmha.approximate.jacobian import Parameters
from exactmha.approximate.lost import SeparationLost
from exactmha.approximate.match import MOST_PREDICTED, Prediction, orders
from exactmha.approximate.profile import ProfileBox, jacobian
from exactmha.approximate.truth import true_profile

Profiles = Mapping[str, tuple[PlannedProfile, ProfileBox]]


@dataclass(frozen=True, slots=True)
class Margin:
    """One margin and the profile where it is reached; `value` is None when there is nothing to compare."""

    value: arb | None
    where: str


@dataclass(frozen=True, slots=True)
class Margins:
    """How far C1–C4 are from failing."""

    pole_gap: Margin
    """least |λ_h − λ_g|, h ≠ g, over the grid profiles (C2)"""
    residue: Margin
    """least |c_h| over the grid profiles (C3)"""
    match_gap: Margin
    """least misfit of a wrong matching, over the sum profiles (C4); None also for more than 6 heads"""
    cond_b: fmpq
    cond_u: fmpq


def all_profiles(design: TokenDesign, truth: Parameters) -> dict[str, tuple[PlannedProfile, ProfileBox]]:
    """Enclose every true profile of the design, sum profiles too."""
    return {p.name: (p, true_profile(truth, p.name, p.b, p.u)) for p in design.profiles}


def margins(design: TokenDesign, truth: Parameters) -> Margins:
    """Return the margins of the true model."""
    profiles = all_profiles(design, truth)
    grid = {name: box for name, (planned, box) in profiles.items() if not planned.is_sum}
    gaps = {name: pole_gap(box) for name, box in grid.items()}
    residues = {name: least([abs(c) for c in box.residues]) for name, box in grid.items()}
    matches = {p.name: match_gap(profiles, p) for p in design.profiles if p.is_sum}
    return Margins(_least(gaps), _least(residues), _least(matches), *design.condition_numbers())


def _least(values: Mapping[str, arb | None]) -> Margin:
    known = {name: value for name, value in values.items() if value is not None}
    if not known:
        return Margin(None, "")
    return Margin(least(list(known.values())), min(known, key=lambda name: known[name].mid()))


def pole_gap(box: ProfileBox) -> arb | None:
    """Return the least |λ_h − λ_g|, h < g."""
    return least([abs(x - y) for h, x in enumerate(box.logits) for y in box.logits[:h]])


def _parts(profiles: Profiles, both: PlannedProfile) -> tuple[ProfileBox, ProfileBox]:
    """Return the two profiles that `both` is the sum of."""
    first = "(b_1, u_1)" if both.row == 0 else f"(b_1, u_{both.column + 1})"
    return profiles[first][1], profiles[f"(b_{both.row + 1}, u_{both.column + 1})"][1]


def match_gap(profiles: Profiles, both: PlannedProfile) -> arb | None:
    """Return the least misfit of a wrong matching: max_k |predicted − true F_k|, or a difference of residues.

    In later rows a matching also joins residues that must be equal, and the larger of both misfits counts.
    """
    first, other = _parts(profiles, both)
    heads = list(range(len(first.logits)))
    if len(heads) > MOST_PREDICTED:
        return None
    prediction = Prediction(first, other, add_residues=both.row == 0)
    truth = prediction.values(heads)
    gaps = []
    for order in orders([heads] * len(heads)):
        if list(order) == heads:
            continue
        misfits = [abs(x - y) for x, y in zip(prediction.values(order), truth, strict=True)]
        if both.row:
            misfits += [abs(c - other.residues[g]) for c, g in zip(first.residues, order, strict=True)]
        gaps.append(largest(misfits))
    return least(gaps)


# --- a priori: Theorem 2 ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class APriori:
    """For ε ≤ `radius`, models with answers within ε of each other differ by at most `constant`·ε."""

    constant: arb
    radius: arb


def curvature(box: ProfileBox) -> arb:
    """Return K = H(1/2 + (max|c_h| + 1)/(6√3)), a Lipschitz constant of DF where |c − c_0| ≤ 1 (∞-norms)."""
    heads = len(box.residues)
    return heads * (arb(1) / 2 + (largest([abs(c) for c in box.residues]) + 1) / (6 * arb(3).sqrt()))


def inverse_norm(box: ProfileBox) -> arb:
    """Return A = ‖DF(c, λ)^{-1}‖_∞."""
    try:
        return infinity_norm(jacobian(box.residues, box.logits).inv())
    except ZeroDivisionError:
        raise SeparationLost("sensitivity", box.name, "the Jacobian is not proved regular") from None


def a_priori(design: TokenDesign, truth: Parameters) -> APriori | None:
    """Return C_0 and ε_0 of Theorem 2, from A, K and the margins; None for more than 6 heads.

    Errors of y = f − σ: e·ε, e = 2 in the first row and 1 + S below, where s·b_j moves by at most S ε,
    S = max_j |b_j|_1·H·‖U^{-T}‖·4A_1, A_1 = max A over the first row. A profile moves by at most ρ = 2A e ε.
    """
    heads, profiles = len(truth.v), all_profiles(design, truth)
    if heads > MOST_PREDICTED:
        return None
    grid = {name: (p, box) for name, (p, box) in profiles.items() if not p.is_sum}
    u_norm = infinity_norm(arb_mat(design.u_inverse.transpose()))
    b_norm = infinity_norm(arb_mat(design.b_inverse))
    norms = {name: inverse_norm(box) for name, (_, box) in grid.items()}
    first = largest([norms[name] for name, (p, _) in grid.items() if p.row == 0])
    tokens = largest([total([abs(arb(fmpq(x))) for x in b]) for b in design.b[1:]])
    base_moves = tokens * heads * u_norm * 4 * first
    errors = {name: arb(2) if p.row == 0 else 1 + base_moves for name, (p, _) in grid.items()}
    moves = {name: 2 * norms[name] * errors[name] for name in grid}
    constant = largest([u_norm * 4 * first, b_norm * u_norm * largest(list(moves.values()))])
    bounds = [bound for name, (_, box) in grid.items() for bound in _profile_bounds(box, norms[name], errors[name])]
    bounds += [b for p in design.profiles if p.is_sum for b in _match_bound(profiles, p, moves, base_moves)]
    radius = least(bounds)
    return APriori(constant, arb(0) if radius is None else radius)


def _profile_bounds(box: ProfileBox, norm: arb, error: arb) -> list[arb]:
    """Return bounds on ε: a profile moves by at most ρ, its poles stay apart, and its residues stay non-zero."""
    move = 2 * norm * error
    bounds = [1 / (4 * norm**2 * curvature(box) * error), 1 / move]
    residue = least([abs(c) for c in box.residues])
    if residue is not None:
        bounds.append(residue / (2 * move))
    gap = pole_gap(box)
    return bounds if gap is None else [*bounds, gap / (4 * move)]


def _match_bound(profiles: Profiles, both: PlannedProfile, moves: Mapping[str, arb], base_moves: arb) -> list[arb]:
    """Return gap/(2(H(ρ + ρ')(1 + (C + 1)/4) + m)) with ε = 1 in ρ and ρ': below it no wrong matching fits.

    C bounds the predicted residues, m = 2 in the first row and 2 + S below.
    """
    gap = match_gap(profiles, both)
    if gap is None:
        return []
    first, other = _parts(profiles, both)
    top = largest([abs(c) for c in first.residues])
    if both.row == 0:
        top += largest([abs(c) for c in other.residues])
    moved = len(first.logits) * (moves[first.name] + moves[other.name]) * (1 + (top + 1) / 4)
    return [gap / (2 * (moved + (2 + base_moves if both.row else arb(2))))]
