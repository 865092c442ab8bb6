"""Which tensors of a file are the projections of one attention layer, and what else belongs to that layer.

Everything that stands beside the projections must be understood: a tensor that could change what the layer
computes is an error that says why the theorem does not cover it (`proofs/real-layers`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from exactmha.errors import InputError
from exactmha.weights.read import READ, Weights


@dataclass(frozen=True)
class Naming:
    """The names of the projections within their module, in one family of layers."""

    qkv: tuple[str, ...]
    """the names of q, k and v, or of the one packed tensor"""
    out: str
    is_conv1d: bool = False
    """stored input × output, which the shape of the packed tensor must confirm"""
    is_unscaled: bool = False
    """logits are not divided by √r"""
    outside: tuple[str, ...] = ()
    """names in the module of what works on the output after this layer"""

    def keys(self, prefix: str) -> tuple[str, str, str, str]:
        """Return the keys of q, k, v and out in the module `prefix`."""
        q, k, v = self.qkv * (3 // len(self.qkv))
        return prefix + q, prefix + k, prefix + v, prefix + self.out


def _linear(form: str, names: str) -> tuple[str, ...]:
    return tuple(form.format(name) for name in names.split())


_MHA = _linear("{}_proj_weight", "q k v")
_PROJ = _linear("{}_proj.weight", "q k v")
NAMINGS = (
    *(
        Naming(names, out)
        for names in (("in_proj_weight",), _MHA, _PROJ)
        for out in ("out_proj.weight", "o_proj.weight")
    ),
    Naming(("qkv_proj.weight",), "o_proj.weight"),  # Phi-3
    Naming(("c_attn.weight",), "c_proj.weight", is_conv1d=True),  # GPT-2
    Naming(  # BERT, RoBERTa
        _linear("self.{}.weight", "query key value"),
        "output.dense.weight",
        outside=_linear("output.LayerNorm.{}", "weight bias gamma beta"),
    ),
    Naming(_linear("attention.{}.weight", "query key value"), "output.dense.weight"),  # ViT
    Naming(_linear("{}_lin.weight", "q k v"), "out_lin.weight"),  # DistilBERT
    Naming(_linear("SelfAttention.{}.weight", "q k v"), "SelfAttention.o.weight", is_unscaled=True),  # T5
)
"""The layers that are recognised: PyTorch's own, Llama's, BART's and CLIP's first.

A norm that follows the output is no part of the layer.
"""
_CROSS = re.compile(r"(^|[._/])(cross_?att\w*|encoder_attn|encdec\w*)[._/]", re.IGNORECASE)
"""Modules whose keys and values come from other tokens."""
_INTERLEAVED = re.compile(r"query_key_value|linear_qkv")
"""Packed tensors of GPT-NeoX, BLOOM, Falcon and Megatron, in which every head has its queries, keys and values."""
_FOR_ALL = re.compile(r"(^|[._/])(relative_attention_bias|rotary\w*|inv_freq)([._/]|$)")
"""Tensors that change the logits of every layer, wherever in the file they stand: T5 keeps its table in layer 0."""
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
    masks: tuple[str, ...] = ()
    """causal masks, which change nothing at the last token"""
    outside: tuple[str, ...] = ()
    """what stands in the same module and works on the output after this layer"""
    transposed: bool = False
    """True when the matrices are known to be stored input × output"""
    is_unscaled: bool = False
    """True when the logits of this family are not divided by √r"""

    @property
    def is_packed(self) -> bool:
        """True when one tensor holds queries, keys and values, in this order."""
        return self.q == self.k == self.v

    @property
    def prefix(self) -> str:
        """The deepest module that holds all four projections, as the beginning of their keys."""
        return _shared_prefix((self.q, self.k, self.v, self.out))


def recognised(weights: Weights, layer: str | None = None) -> Layout:
    """Find the only layer, or the one whose keys start with `layer`, by PyTorch's and Hugging Face's names.

    Raises `InputError` when there is none, or more than one.
    """
    found: dict[str, Naming] = {}
    for prefix, naming in _candidates(weights):
        if layer is None or prefix in (layer, f"{layer}.", f"{layer}/"):
            found.setdefault(prefix, naming)
    if not found:
        where = "" if layer is None else f" under {layer}"
        expected = "in_proj_weight, or q_proj, k_proj, v_proj, and out_proj or o_proj, or names in README"
        raise InputError(f"no attention layer is recognised{where} (expected {expected})", hint=NAMED)
    if len(found) > 1:
        names = ", ".join(sorted(found)[:6]) + (", …" if len(found) > 6 else "")
        raise InputError(f"has {len(found)} attention layers", value=names, hint="choose one with --layer PREFIX")
    ((prefix, naming),) = found.items()
    return _described(weights, Layout(*naming.keys(prefix), transposed=naming.is_conv1d), naming, prefix)


def _candidates(weights: Weights) -> Iterator[tuple[str, Naming]]:
    """Yield (prefix, naming) for every module with projections under known names."""
    keys = weights.tensors
    for naming in NAMINGS:
        for key in keys:
            prefix = key.removesuffix(naming.qkv[0])
            if prefix == key or prefix[-1:] not in ("", ".", "/") or not all(k in keys for k in naming.keys(prefix)):
                continue
            if naming.is_conv1d and keys[key].shape[1:] != tuple(3 * n for n in keys[key].shape[:1]):
                continue
            yield prefix, naming


def named(weights: Weights, q: str, k: str, v: str, out: str) -> Layout:
    """Return the layout of the given keys, with the biases that stand beside them.

    Raises `InputError` for a packed tensor that is known to hold its rows in another order.
    """
    for key in (q, k, v, out):
        weights.tensor(key)
    if q == k == v and _INTERLEAVED.search(q):
        raise InputError(
            "holds the queries, keys and values of one head after those of another, as in GPT-NeoX and BLOOM, and not "
            "all queries first",
            field=q,
            hint="write its rows into three tensors and name them with --q --k --v",
        )
    for naming in NAMINGS:
        prefix = q.removesuffix(naming.qkv[0])
        if naming.keys(prefix) == (q, k, v, out):
            return _described(weights, Layout(q, k, v, out), naming, prefix)
    return _with_biases(weights, Layout(q, k, v, out))


def _described(weights: Weights, layout: Layout, naming: Naming, prefix: str) -> Layout:
    """Return the layout with its biases and with what is known of its family; raises `InputError` otherwise."""
    if _CROSS.search(layout.q):
        problem = "is cross-attention: its keys and values come from other tokens than its queries"
        raise InputError(problem, field=layout.q, hint="choose a layer whose tokens attend to one another")
    outside = tuple(prefix + name for name in naming.outside if prefix + name in weights.tensors)
    return replace(_with_biases(weights, layout), is_unscaled=naming.is_unscaled, outside=outside)


def _with_biases(weights: Weights, layout: Layout) -> Layout:
    # nn.MultiheadAttention keeps one packed bias even where it has three matrices
    packed = f"{layout.prefix}in_proj_bias"

    def bias(key: str, *also: str) -> str | None:
        names = (*_bias_names(key, layout.prefix), *also)
        return next((name for name in names if name != key and name in weights.tensors), None)

    q, k, v = (bias(key, packed) for key in (layout.q, layout.k, layout.v))
    return replace(layout, q_bias=q, k_bias=k, v_bias=v, out_bias=bias(layout.out))


def _bias_names(key: str, prefix: str) -> list[str]:
    """Return where the bias of a projection may stand: q.bias beside q.weight, q.kernel, …; q_bias beside q_weight.

    A "bias" in the module that holds all four projections is none of these: GPT-2 keeps its mask there.
    """
    parts = _parts(key)
    module, name = "".join(parts[:-1]), parts[-1]
    names = [module + flat for flat in (re.sub("(weight|kernel)$", "bias", name), re.sub("w$", "b", name))]
    inside = [f"{module}bias", f"{module}b"] if module != prefix else [f"{key}_bias", f"{key}.bias"]
    return [found for found in (*names, *inside) if found not in (key, f"{prefix}bias", f"{prefix}b")]


def accounted(weights: Weights, layout: Layout, ignored: Sequence[str] = ()) -> Layout:
    """Check that every tensor in the module that holds all projections is understood; return the layout with its masks.

    Raises `InputError` saying why the theorem does not cover what a further tensor does.
    """
    for key in ignored:
        weights.tensor(key)
    known = {layout.q, layout.k, layout.v, layout.out, *layout.outside, *ignored}
    known |= {layout.q_bias or "", layout.k_bias or "", layout.v_bias or "", layout.out_bias or ""}
    masks = []
    for key, tensor in weights.tensors.items():
        if key in known or not (key.startswith(layout.prefix) or _FOR_ALL.search(key)):
            continue
        if tensor.dtype in READ and _MASK.search(key.removeprefix(layout.prefix)) and _is_causal(weights, key):
            masks.append(key)
            continue
        hint = "if it has no effect here, say so: --ignore KEY"
        whose = "belongs to this layer" if key.startswith(layout.prefix) else "may belong to all layers"
        raise InputError(f"{whose} and {_effect(key, layout.prefix)}", field=key, hint=hint)
    return replace(layout, masks=tuple(masks))


def _effect(key: str, prefix: str) -> str:
    words = key.removeprefix(prefix).lower()
    for pattern, reason in REASONS:
        if re.search(rf"(^|[._/])({pattern})([._/]|$)", words):
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
    """Return what the modules of all keys share."""
    shared = []
    for parts in zip(*(_parts(key)[:-1] for key in keys), strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "".join(shared)


def _parts(key: str) -> list[str]:
    """Split a key after the dots of PyTorch and the slashes of Flax."""
    return re.split("(?<=[./])", key)
