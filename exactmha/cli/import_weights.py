"""`exactmha import`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from exactmha.cli.options import limit_option, output_option, write_or_print
from exactmha.errors import InputError, LimitError, shorten
from exactmha.limits import Limits

if TYPE_CHECKING:
    from flint import fmpq, fmpq_mat

    from exactmha.attention import Model
    from exactmha.forms import Form
    from exactmha.weights.heads import Projections
    from exactmha.weights.layout import Layout
    from exactmha.weights.read import Weights

UNSEEN = (
    "rotary positions, masks, normalised queries, logit caps or an added zero token that only code applies; the "
    "instance is the layer without them, asked at the last token"
)
_UNIT = re.compile("e_?([0-9]{1,6})")
"""The readout of one output."""


@click.command("import")
@click.argument("file")
@click.option("--num-heads", type=int, required=True, help="Number of heads of the layer.")
@click.option("--layer", help="Prefix of the layer's keys, where the file has several layers.")
@click.option("--q", help="Key of the query projection.")
@click.option("--k", help="Key of the key projection.")
@click.option("--v", help="Key of the value projection.")
@click.option("--packed", help="Key of one matrix with queries, keys and values, in this order.")
@click.option("--out", help="Key of the output projection.")
@click.option("--readout", default="e_1", show_default=True, help="Scalar output: e_i, or a file with one vector.")
@click.option(
    "--scale",
    default="auto",
    show_default=True,
    help="1/sqrt(head dimension), or exactly this number, e.g. 1/sqrt(64).",
)
@click.option("--transposed", is_flag=True, help="Matrices are stored input × output (Conv1D, Flax).")
@click.option("--subtract-constant", is_flag=True, help="Leave out the constant that value and output biases add.")
@click.option("--ignore", multiple=True, help="Key of a tensor that has no effect in this layer; repeatable.")
@output_option
@limit_option
def command(
    file: str,
    num_heads: int,
    layer: str | None,
    q: str | None,
    k: str | None,
    v: str | None,
    packed: str | None,
    out: str | None,
    readout: str,
    scale: str,
    transposed: bool,
    subtract_constant: bool,
    ignore: tuple[str, ...],
    output: str | None,
    limits: Limits,
) -> None:
    """Write the attention layer in FILE (.safetensors or .npz) as an exact instance.

    Every float is a dyadic rational, so W_h = s·W_Q^T W_K and v_h = (e^T W_O W_V)^T are exact. The names
    of nn.MultiheadAttention and of Llama, BERT, ViT, DistilBERT, GPT-2, Phi-3 and T5 in Hugging Face are recognised.
    """
    from exactmha.files import check_writable
    from exactmha.instance import to_text
    from exactmha.weights import heads
    from exactmha.weights.layout import accounted
    from exactmha.weights.read import open_weights

    if output is not None:
        check_writable(output, file, *([] if _UNIT.fullmatch(readout) else [readout]))
    weights = open_weights(file, limits)
    try:
        layout = accounted(weights, _layout(weights, layer, (q, k, v), packed, out), ignore)
        found = heads.projections(weights, layout, num_heads, transposed=transposed)
        e = _readout(readout, found.out.nrows(), limits)
        constant = heads.constant(found, e)
        if constant and not subtract_constant:
            raise InputError(
                "the biases of values and outputs add a constant to every output; f(0) = 0 for every model (W, v)",
                field=layout.out_bias or layout.v_bias,
                hint="take it off with --subtract-constant: a learner sees it as the answer to the token 0",
            )
        if scale == "auto" and layout.is_unscaled:
            problem = "must be given: layers with these names (T5) do not divide their logits by the root of anything"
            raise InputError(problem, field="--scale", hint="--scale 1")
        chosen = heads.softmax_scale(found.key_dim) if scale == "auto" else _scale(scale, limits)
        model = heads.model_of(found, e, chosen)
    except InputError as error:
        raise error.located(file=file) from None
    text = to_text(model)
    if len(text) > limits.file_bytes:
        raise LimitError(f"the instance has more than {limits.file_bytes} bytes", hint="see --limit file_bytes")
    write_or_print(text, output)
    for line in _summary(model, found, layout, constant):
        click.echo(line, err=output is None)


def _layout(
    weights: Weights, layer: str | None, separate: Sequence[str | None], packed: str | None, out: str | None
) -> Layout:
    """Return the layout that the options name, or the one that the names of the tensors show."""
    from exactmha.weights.layout import named, recognised

    given = [key for key in (*separate, packed, out) if key is not None]
    if not given:
        return recognised(weights, layer)
    if layer is not None:
        raise InputError("is for layers that are recognised", field="--layer", value=layer, hint="give keys or --layer")
    options = "--q --k --v --packed --out"
    q, k, v = (packed,) * 3 if packed is not None else separate
    if q is None or k is None or v is None or out is None or (packed is not None and len(given) > 2):
        raise InputError(
            "not all projections are named", field=options, hint="give --q --k --v or --packed, and always --out"
        )
    return named(weights, q, k, v, out)


def _readout(text: str, outputs: int, limits: Limits) -> fmpq_mat:
    """Read e_i, or a file with one vector: .json with integers or exact numbers as strings, .safetensors or .npz."""
    from flint import fmpq_mat

    from exactmha.files import parse_json, read_bytes
    from exactmha.weights.heads import unit_readout
    from exactmha.weights.read import open_weights

    if match := _UNIT.fullmatch(text):
        return unit_readout(outputs, int(match[1]))
    if re.fullmatch("-?[0-9]+", text):
        hint = f"for one output write --readout e_{'1' if text.startswith('-') else text[:6]}"
        raise InputError("is neither e_i nor a file", field="--readout", value=text, hint=hint)
    if text.endswith(".json"):
        entries = parse_json(read_bytes(text, limits), file=text, limits=limits)
        if not isinstance(entries, list) or not all(type(entry) in (str, int) for entry in entries):
            problem = "must be a list of integers, or of exact numbers as strings"
            raise InputError(problem, file=text, hint='e.g. [1, "-1/2"]')
        vector = fmpq_mat(len(entries), 1, [_rational(str(entry), text, limits) for entry in entries])
    else:
        weights = open_weights(text, limits)
        if len(weights.tensors) != 1:
            raise InputError("must hold one vector", file=text, value=f"{len(weights.tensors)} tensors")
        vector = weights.vector(*weights.tensors)
    if vector.nrows() != outputs:
        raise InputError(f"needs {outputs} entries", file=text, value=vector.nrows(), hint="one for every output")
    return vector


def _rational(entry: str, file: str, limits: Limits) -> fmpq:
    from exactmha.forms import parse_rational

    value = parse_rational(entry, limits)
    if value is None:
        raise InputError("a readout is rational", file=file, value=entry, hint='e.g. [1, "-1/2"]')
    return value


def _scale(text: str, limits: Limits) -> Form:
    from exactmha.expressions import evaluate, parse
    from exactmha.forms import FormAlgebra

    try:
        return evaluate(parse(text, limits), FormAlgebra(limits))
    except InputError as error:
        if error.problem == "unknown name":
            hint = "write the number, e.g. 1/sqrt(64) for heads of dimension 64"
            raise InputError(error.problem, field="--scale", value=error.value, hint=hint) from None
        raise error.located(field="--scale") from None


def _summary(model: Model, layer: Projections, layout: Layout, constant: fmpq) -> Iterator[str]:
    """Yield what was imported, and what was not."""
    from flint import fmpq

    sharing = f" sharing {layer.kv_heads} keys and values" if layer.kv_heads < layer.heads else ""
    rank = min(layer.key_dim, model.dim)
    yield f"Layer        d = {model.dim}, {layer.heads} heads{sharing}, W_h of rank at most {rank}"
    yield f"Weights      {', '.join(map(shorten, dict.fromkeys((layout.q, layout.k, layout.v, layout.out))))}"
    if layout.transposed:
        yield "Stored       input × output, as the names and the shape show"
    if layout.outside:
        yield f"After it     {', '.join(map(shorten, layout.outside))}: not part of the layer"
    count, bits = len(model.canonical().heads), model.field.denominator.bit_length()
    unit = model.field.log_text([fmpq(1)])
    yield f"Instance     H = {count} canonical heads, W in multiples of {unit}/N, N of {bits} bits"
    if layout.k_bias is not None:
        yield "Key bias     adds the same to the logits of all tokens, so that it cancels in the softmax"
    if constant:
        yield f"Constant     the instance is the layer's output less {constant}"
    if layout.masks:
        yield f"Mask         {', '.join(map(shorten, layout.masks))}: hides nothing from the last token"
    yield f"Not in file  {UNSEEN}"
