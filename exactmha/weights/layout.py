"""Which tensors of a file are the projections of one attention layer, and what else belongs to that layer.

Everything that stands beside the projections must be understood: a tensor that could change what the layer
computes is an error that says why the theorem does not cover it (`proofs/real-layers`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from exactmha.errors import InputError
from exactmha.weights.read import READ, Weights

PACKED = "in_proj_weight"
SEPARATE = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
"""`nn.MultiheadAttention` with the queries, keys and values in one matrix, and in three."""
LINEAR = ("q_proj.weight", "k_proj.weight", "v_proj.weight")
OUTPUTS = ("out_proj.weight", "o_proj.weight")
NAMED = "name the tensors with --q --k --v (or --packed) and --out"

REASONS: tuple[tuple[str, str], ...] = (
    (
        "bias_k|bias_v",
        "lets every token also attend to a learned extra position: the weights of the tokens no longer sum to 1",
    ),
    ("norm|layernorm|ln", "normalises queries or keys, so that a logit is no bilinear form x_n^T W x_i"),
    (
        "rotary|rope|inv_freq|freqs",
        "turns queries and keys by their positions: copies of one token are no longer alike, and no single W fits "
        "(see exactmha counterexample position-encoding)",
    ),
    (
        "rel|relative|position|pos|alibi|distance",
        "adds a term that depends on positions: copies of one token are no longer alike "
        "(see exactmha counterexample position-encoding)",
    ),
    ("lora|adapter", "changes the projections; merge it into them first"),
    ("scales?|zeros?|zero_point|qweight|qzeros|absmax|quant", "belongs to a quantisation; undo it first"),
    ("sinks?", "adds a weight to the softmax that belongs to no token, so that the weights no longer sum to 1"),
)
"""What tensors beside the projections would do, by the words in their names."""
_MASK = re.compile(r"mask|^bias$")
"""Names of masks; GPT-2 keeps its own under "bias"."""


@dataclass(frozen=True)
class Layout:
    """The keys of one layer; `q`, `k` and `v` are one packed tensor where they are equal."""

    q: str
    k: str
    v: str
    out: str
    q_bias: str | None = None
    k_bias: str | None = None
    v_bias: str | None = None
    out_bias: str | None = None
    masks: tuple[str, ...] = field(default=())
    """causal masks, which change nothing at the last token"""

    @property
    def is_packed(self) -> bool:
        """True when one tensor holds queries, keys and values, in this order."""
        return self.q == self.k == self.v

    @property
    def prefix(self) -> str:
        """The module of the projections: the dotted prefix that their keys share."""
        return _shared_prefix((self.q, self.k, self.v))


def recognised(weights: Weights, layer: str | None = None) -> Layout:
    """Find the only layer, or the one whose keys start with `layer`, by PyTorch's and Hugging Face's names.

    Raises `InputError` when there is none, or more than one.
    """
    found = {prefix: keys for prefix, keys in _candidates(weights) if layer is None or prefix in (layer, f"{layer}.")}
    if not found:
        where = "" if layer is None else f" under {layer}"
        expected = f"{PACKED} or q_proj, k_proj, v_proj, and out_proj or o_proj"
        raise InputError(f"no attention layer is recognised{where} (expected {expected})", hint=NAMED)
    if len(found) > 1:
        names = ", ".join(sorted(found)[:6]) + (", …" if len(found) > 6 else "")
        raise InputError(f"has {len(found)} attention layers", value=names, hint="choose one with --layer PREFIX")
    ((q, k, v, out),) = found.values()
    return _with_biases(weights, Layout(q, k, v, out))


def _candidates(weights: Weights) -> Iterator[tuple[str, tuple[str, str, str, str]]]:
    """Yield (prefix, (q, k, v, out)) for every module with projections under known names."""
    keys = weights.tensors
    for names in ((PACKED,) * 3, SEPARATE, LINEAR):
        for key in keys:
            if key.endswith(names[0]):
                prefix = key.removesuffix(names[0])
                outputs = [prefix + name for name in OUTPUTS if prefix + name in keys]
                if (not prefix or prefix.endswith(".")) and all(prefix + name in keys for name in names) and outputs:
                    yield prefix, (prefix + names[0], prefix + names[1], prefix + names[2], outputs[0])


def named(weights: Weights, q: str, k: str, v: str, out: str) -> Layout:
    """Return the layout of the given keys, with the biases that stand beside them."""
    for key in (q, k, v, out):
        weights.tensor(key)
    return _with_biases(weights, Layout(q, k, v, out))


def _with_biases(weights: Weights, layout: Layout) -> Layout:
    def bias(key: str, *also: str) -> str | None:
        names = [re.sub(r"weight$", "bias", key), *(layout.prefix + name for name in also)]
        return next((name for name in names if name != key and name in weights.tensors), None)

    # nn.MultiheadAttention keeps one packed bias even where it has three matrices
    q, k, v = (bias(key, "in_proj_bias") for key in (layout.q, layout.k, layout.v))
    return Layout(layout.q, layout.k, layout.v, layout.out, q, k, v, bias(layout.out))


def accounted(weights: Weights, layout: Layout, ignored: Sequence[str] = ()) -> Layout:
    """Check that every tensor of the layer's module is understood; return the layout with its causal masks.

    Raises `InputError` saying why the theorem does not cover what a further tensor does.
    """
    for key in ignored:
        weights.tensor(key)
    known = {layout.q, layout.k, layout.v, layout.out, *ignored}
    known |= {layout.q_bias or "", layout.k_bias or "", layout.v_bias or "", layout.out_bias or ""}
    masks = []
    for key, tensor in weights.tensors.items():
        if key in known or not key.startswith(layout.prefix):
            continue
        if tensor.dtype in READ and _MASK.search(key.removeprefix(layout.prefix)) and _is_causal(weights, key):
            masks.append(key)
            continue
        hint = "if it has no effect here, say so: --ignore KEY"
        raise InputError(f"belongs to this layer and {_effect(key, layout.prefix)}", field=key, hint=hint)
    return Layout(**{**vars(layout), "masks": tuple(masks)})


def _effect(key: str, prefix: str) -> str:
    words = key.removeprefix(prefix).lower()
    for pattern, reason in REASONS:
        if re.search(rf"(^|[._])({pattern})([._]|$)", words):
            return reason
    if "mask" in words:
        return "may hide tokens from the last one, which then does not attend to all"
    return "is not understood, so the instance might not be what the layer computes"


def _is_causal(weights: Weights, key: str) -> bool:
    """True for a square mask that is constant on and below the diagonal: the last token attends to all.

    True may mean "attends" (Hugging Face) or "is hidden" (PyTorch); a token that attends to nothing has no output.
    """
    tensor = weights.tensor(key)
    if len(tensor.shape) < 2 or tensor.shape[-1] != tensor.shape[-2] or any(n != 1 for n in tensor.shape[:-2]):
        return False
    size = tensor.shape[-1]
    if size * size > weights.limits.weights_entries:
        return False
    rows = tensor.array().reshape(size, size).tolist()
    return len({x for i, row in enumerate(rows) for x in row[: i + 1]}) == 1


def _shared_prefix(keys: Sequence[str]) -> str:
    """Return what all keys share up to and including a dot."""
    modules = [key.removesuffix(".weight").split(".")[:-1] for key in keys]
    shared = []
    for parts in zip(*modules, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "".join(f"{part}." for part in shared)
