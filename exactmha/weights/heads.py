"""From projections to heads, exactly: W_h = s·W_{Q,h}ᵀ W_{K,h} and v_h = (eᵀ W_{O,h} W_{V,h})ᵀ.

See `proofs/real-layers`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

from flint import fmpq, fmpq_mat

from exactmha.attention import Model
from exactmha.errors import InputError, LimitError
from exactmha.fields import ExponentialField
from exactmha.forms import Form, radical_root
from exactmha.heads import Head, matrix
from exactmha.weights.layout import Layout
from exactmha.weights.read import Weights

_ORDER = "rows are outputs, as in torch.nn.Linear; give --transposed for matrices stored input × output"


@dataclass(frozen=True)
class Projections:
    """The exact matrices of one layer, rows = outputs, and the shape of its heads.

    `q` is (h·r) × d, `k` is (g·r) × d, `v` is (g·r') × d, `out` is d_out × (h·r'); g divides h, and head number
    i uses keys and values number i // (h/g). A bias is a column, or None.
    """

    q: fmpq_mat
    k: fmpq_mat
    v: fmpq_mat
    out: fmpq_mat
    q_bias: fmpq_mat | None
    v_bias: fmpq_mat | None
    out_bias: fmpq_mat | None
    heads: int
    kv_heads: int

    @property
    def dim(self) -> int:
        """The dimension d of the tokens."""
        return self.q.ncols()

    @property
    def key_dim(self) -> int:
        """The dimension r of one head's queries and keys, an upper bound on the rank of W_h."""
        return self.q.nrows() // self.heads

    @property
    def value_dim(self) -> int:
        """The dimension r' of one head's values."""
        return self.v.nrows() // self.kv_heads


def projections(weights: Weights, layout: Layout, heads: int, *, transposed: bool = False) -> Projections:
    """Read the projections of a layer with `heads` heads; the number of key and value heads follows from the shapes.

    With `transposed`, or where the layout says so, the matrices are stored input × output.

    Raises `InputError` where the shapes do not fit.
    """

    def linear(key: str) -> fmpq_mat:
        found = weights.matrix(key)
        return found.transpose() if transposed or layout.transposed else found

    if not 1 <= heads <= weights.limits.heads:
        problem = f"must lie between 1 and {weights.limits.heads}"
        raise InputError(problem, field="--num-heads", value=heads, hint="see --limit heads")
    out, q = linear(layout.out), linear(layout.q)
    if q.ncols() > weights.limits.dim:
        raise LimitError(f"has dimension above {weights.limits.dim}", field=layout.q, hint="see --limit dim")
    if layout.is_packed:
        own, rest = out.ncols(), q.nrows() - out.ncols()
        if rest < 2 or rest % 2:
            problem = f"{q.nrows()} rows are no queries, keys and values for an output projection of {own} columns"
            raise InputError(problem, field=layout.q, hint=_ORDER)
        half = rest // 2
        q, k, v = _rows(q, 0, own), _rows(q, own, half), _rows(q, own + half, half)
    else:
        k, v = linear(layout.k), linear(layout.v)
    kv_heads = _kv_heads(layout, q, k, v, out, heads)
    # the key bias adds to a logit what is the same for all tokens; it is read only to be sure that it is finite
    q_bias, _, v_bias = _biases(weights, layout, (q.nrows(), k.nrows(), v.nrows()))
    out_bias = None if layout.out_bias is None else _bias(weights, layout.out_bias, out.nrows())
    return Projections(q, k, v, out, q_bias, v_bias, out_bias, heads, kv_heads)


def _biases(weights: Weights, layout: Layout, sizes: tuple[int, int, int]) -> list[fmpq_mat | None]:
    """Return the biases of queries, keys and values: three tensors, or one that holds all three."""
    keys = (layout.q_bias, layout.k_bias, layout.v_bias)
    if keys[0] is not None and len(set(keys)) == 1:
        whole = _bias(weights, keys[0], sum(sizes))
        return [_rows(whole, sum(sizes[:i]), sizes[i]) for i in range(3)]
    return [None if key is None else _bias(weights, key, size) for key, size in zip(keys, sizes, strict=True)]


def _bias(weights: Weights, key: str, size: int) -> fmpq_mat:
    found = weights.vector(key)
    if found.nrows() != size:
        raise InputError(f"this bias needs {size} entries", field=key, value=found.nrows(), hint="check the file")
    return found


def _kv_heads(layout: Layout, q: fmpq_mat, k: fmpq_mat, v: fmpq_mat, out: fmpq_mat, heads: int) -> int:
    """Return g, the number of key and value heads, from the shapes."""
    if q.nrows() % heads:
        problem = f"{q.nrows()} outputs cannot be shared by {heads} heads"
        raise InputError(problem, field=layout.q, hint=f"check --num-heads; {_ORDER}")
    key_dim = q.nrows() // heads
    kv_heads = k.nrows() // key_dim
    if k.nrows() != kv_heads * key_dim or not kv_heads or heads % kv_heads:
        problem = f"{k.nrows()} outputs are no keys of {key_dim} for a number of heads that divides {heads}"
        raise InputError(problem, field=layout.k, hint=f"check --num-heads; {_ORDER}")
    for key, found in ((layout.k, k), (layout.v, v)):
        if found.ncols() != q.ncols():
            problem = f"takes inputs of dimension {found.ncols()}, but the queries {q.ncols()}: this is cross-attention"
            raise InputError(problem, field=key, hint="the theorem is about a layer whose tokens attend to one another")
    if v.nrows() % kv_heads or out.ncols() != v.nrows() // kv_heads * heads:
        problem = f"takes {out.ncols()} inputs, which are not the values of {heads} heads ({v.nrows()} value outputs)"
        raise InputError(problem, field=layout.out, hint=_ORDER)
    return kv_heads


def _rows(whole: fmpq_mat, start: int, count: int) -> fmpq_mat:
    return fmpq_mat(count, whole.ncols(), whole.entries()[start * whole.ncols() : (start + count) * whole.ncols()])


def _columns(whole: fmpq_mat, start: int, count: int) -> fmpq_mat:
    return _rows(whole.transpose(), start, count).transpose()


def softmax_scale(key_dim: int) -> Form:
    """Return 1/√r exactly."""
    coefficient, radical = radical_root(fmpq(1, key_dim), 2)
    return Form({radical: coefficient})


def model_of(layer: Projections, readout: fmpq_mat, scale: Form) -> Model:
    """Return the layer as an exact model: the scalar output is readout·(output at the last token), less `constant`.

    With the h-th block of rows of W_Q, W_K, W_V and of columns of W_O,
    W_h = s·W_{Q,h}ᵀ W_{K,h} (logits x_nᵀ W_h x_i) and v_h = (eᵀ W_{O,h} W_{V,h})ᵀ.

    `readout` is a column with one entry for every output. Raises `InputError` for a bias of the queries that moves a
    logit of a head which has an effect, and for a scale that is no rational multiple of one square root.
    """
    r, r_v, sharing = layer.key_dim, layer.value_dim, layer.heads // layer.kv_heads
    factor, radicand = _over_one_root(scale)
    e = readout.transpose()
    pairs = []
    for h in range(layer.heads):
        g = h // sharing
        keys = _rows(layer.k, g * r, r)
        W = factor * (_rows(layer.q, h * r, r).transpose() * keys)
        v = e * _columns(layer.out, h * r_v, r_v) * _rows(layer.v, g * r_v, r_v)
        pairs.append((W, v))
    _check_query_bias(layer, pairs)
    denominator = lcm(1, *(int(W.numer_denom()[1]) for W, _ in pairs))
    is_zero = not any(x for W, _ in pairs for x in W.entries())
    field = ExponentialField(1 if is_zero else radicand, denominator)
    heads = tuple(Head((matrix(W.tolist()),), tuple((x,) for x in v.entries())) for W, v in pairs)
    return Model(field, layer.dim, heads)


def _over_one_root(scale: Form) -> tuple[fmpq, int]:
    """Return (c, n) with scale = c·√n, n squarefree."""
    if len(scale.radicals) == 1 and not scale.logs:
        ((radical, coefficient),) = scale.radicals.items()
        if all(2 * e == 1 for _, e in radical):
            radicand = 1
            for p, _ in radical:
                radicand *= p
            return coefficient, radicand
    raise InputError(
        "must be a rational multiple of one square root, and not 0", field="--scale", hint="e.g. 1/sqrt(64)"
    )


def _check_query_bias(layer: Projections, pairs: list[tuple[fmpq_mat, fmpq_mat]]) -> None:
    """Collect the heads by W and w = W_K^T b_Q; one with w ≠ 0 whose v do not sum to 0 makes the layer no model."""
    if layer.q_bias is None:
        return
    r, sharing = layer.key_dim, layer.heads // layer.kv_heads
    collected: dict[tuple[tuple[fmpq, ...], ...], tuple[int, fmpq_mat]] = {}
    for h, (W, v) in enumerate(pairs):
        w = (_rows(layer.k, h // sharing * r, r).transpose() * _rows(layer.q_bias, h * r, r)).entries()
        if any(w):
            key = tuple(W.entries()), tuple(w)
            first, total = collected.get(key, (h, 0 * v))
            collected[key] = first, total + v
    for first, total in collected.values():
        if any(total.entries()):
            raise InputError(
                f"the bias of the queries moves the logits of head {first + 1}: (W_Q x_n + b_Q)·W_K x_i has the term "
                "b_Q·W_K x_i, which does not depend on the last token, and the theorem's x_n^T W x_i has no such term",
                hint="only a layer without query bias is covered (proofs/real-layers)",
            )


def constant(layer: Projections, readout: fmpq_mat) -> fmpq:
    """Return e·(W_O b_V + b_O), the part of the output that no token changes: the weights of a head sum to 1.

    A value head's bias is used once by every head that shares it.
    """
    total = fmpq(0)
    e = readout.transpose()
    if layer.v_bias is not None:
        sharing, r_v = layer.heads // layer.kv_heads, layer.value_dim
        blocks = [_rows(layer.v_bias, h // sharing * r_v, r_v).entries() for h in range(layer.heads)]
        stacked = fmpq_mat(layer.out.ncols(), 1, [x for block in blocks for x in block])
        total += (e * layer.out * stacked)[0, 0]
    if layer.out_bias is not None:
        total += (e * layer.out_bias)[0, 0]
    return total


def unit_readout(outputs: int, index: int) -> fmpq_mat:
    """Return e_index, 1 ≤ index ≤ outputs, as a column; raises `InputError` outside."""
    if not 1 <= index <= outputs:
        problem = f"the layer has the outputs e_1 to e_{outputs}"
        raise InputError(problem, field="--readout", value=f"e_{index}", hint="choose one of them")
    return fmpq_mat(outputs, 1, [int(i == index) for i in range(1, outputs + 1)])
