"""W_h = s·W_Q^T W_K and v_h = (e^T W_O W_V)^T by hand, and what the theorem covers.

d = 2, two heads of dimension 1: W_Q = [[1, 2], [3, 4]], W_K = [[5, 6], [7, 8]], W_V = [[1, 0], [2, −1]] and
W_O = [[1, 3], [−1, 2]], so that with 1/√1 = 1
W_1 = (1, 2)^T (5, 6) = [[5, 6], [10, 12]],  W_2 = (3, 4)^T (7, 8) = [[21, 24], [28, 32]];
e_1: v_1 = 1·(1, 0), v_2 = 3·(2, −1) = (6, −3);  e_2: v_1 = −1·(1, 0), v_2 = 2·(2, −1) = (4, −2).
The transposes of W_1 and W_2 are different matrices, so a wrong order of the factors would show.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from flint import fmpq, fmpq_mat
from weights.weight_files import floats, npy, npz, safetensors, vector, written

from exactmha.attention import Model
from exactmha.errors import InputError
from exactmha.expressions import evaluate, parse
from exactmha.fields import ExponentialField
from exactmha.forms import Form, FormAlgebra
from exactmha.instance import load, save
from exactmha.weights.heads import constant, model_of, projections, softmax_scale, unit_readout
from exactmha.weights.layout import Layout, accounted, named, recognised
from exactmha.weights.read import open_weights

Q, K, V, OUT = [[1, 2], [3, 4]], [[5, 6], [7, 8]], [[1, 0], [2, -1]], [[1, 3], [-1, 2]]
W = ([[5, 6], [10, 12]], [[21, 24], [28, 32]])
HAND = {
    "q_proj.weight": floats(Q),
    "k_proj.weight": floats(K),
    "v_proj.weight": floats(V),
    "out_proj.weight": floats(OUT),
}
PACKED = {"in_proj_weight": floats([*Q, *K, *V]), "out_proj.weight": floats(OUT)}


def transpose(rows: list[list[int]]) -> list[list[int]]:
    return [list(column) for column in zip(*rows, strict=True)]


def imported(
    tmp_path: Path, tensors: dict[str, tuple[str, list[int], bytes]], heads: int = 2, index: int = 1, **options: bool
) -> Model:
    weights = open_weights(written(tmp_path, safetensors(tensors)))
    layer = projections(weights, accounted(weights, recognised(weights)), heads, **options)
    return model_of(layer, unit_readout(layer.out.nrows(), index), softmax_scale(layer.key_dim))


def matrices(model: Model) -> list[list[list[fmpq]]]:
    assert isinstance(model.field, ExponentialField)
    return [[list(row) for row in head.W[0]] for head in model.heads]


@pytest.mark.parametrize("tensors", [HAND, PACKED], ids=["separate", "packed"])
@pytest.mark.parametrize(("index", "readouts"), [(1, ([1, 0], [6, -3])), (2, ([-1, 0], [4, -2]))])
def test_by_hand(
    tensors: dict[str, tuple[str, list[int], bytes]], index: int, readouts: tuple[list[int], list[int]], tmp_path: Path
) -> None:
    model = imported(tmp_path, tensors, index=index)
    assert matrices(model) == list(W)
    assert [[x for (x,) in head.v] for head in model.heads] == list(readouts)
    assert (model.field.radicand, model.field.denominator) == (1, 1)


@pytest.mark.parametrize("packed", [False, True])
def test_matrices_stored_input_by_output(packed: bool, tmp_path: Path) -> None:
    q, k, v, out = map(transpose, (Q, K, V, OUT))
    whole = [[*q[i], *k[i], *v[i]] for i in range(2)]
    names = ("q_proj.weight", "k_proj.weight", "v_proj.weight")
    tensors = {"in_proj_weight": floats(whole)} if packed else dict(zip(names, map(floats, (q, k, v)), strict=True))
    assert imported(tmp_path, {**tensors, "out_proj.weight": floats(out)}, transposed=True) == imported(tmp_path, HAND)


def test_one_head_of_dimension_two(tmp_path: Path) -> None:
    # W_Q^T W_K = [[5 + 21, 6 + 24], [10 + 28, 12 + 32]]; 1/√2 = √2/2; e_1^T W_O W_V = (1 + 6, −3)
    model = imported(tmp_path, PACKED, heads=1)
    assert matrices(model) == [[[13, 15], [19, 22]]]
    assert (model.field.radicand, model.field.denominator) == (2, 1)
    assert [x for (x,) in model.heads[0].v] == [7, -3]


def test_shared_keys_and_values(tmp_path: Path) -> None:
    # one key and value head: W_h = q_h^T (5, 6), v_h = O_{1,h}·(1, 0)
    tensors = {**HAND, "k_proj.weight": floats(K[:1]), "v_proj.weight": floats(V[:1])}
    model = imported(tmp_path, tensors)
    assert matrices(model) == [[[5, 6], [10, 12]], [[15, 18], [20, 24]]]
    assert [[x for (x,) in head.v] for head in model.heads] == [[1, 0], [3, 0]]
    packed = {"in_proj_weight": floats([*Q, K[0], V[0]]), "out_proj.weight": floats(OUT)}
    assert imported(tmp_path, packed) == model


def test_two_groups_of_two_heads(tmp_path: Path) -> None:
    # heads 1, 2 use the first key and value head, heads 3, 4 the second
    q, out = [[1, 0], [0, 1], [1, 1], [2, 0]], [[1, 10, 100, 1000], [0, 0, 0, 0]]
    tensors = {**HAND, "q_proj.weight": floats(q), "out_proj.weight": floats(out)}
    model = imported(tmp_path, tensors, heads=4)
    assert matrices(model) == [[[5, 6], [0, 0]], [[0, 0], [5, 6]], [[7, 8], [7, 8]], [[14, 16], [0, 0]]]
    assert [[x for (x,) in head.v] for head in model.heads] == [[1, 0], [10, 0], [200, -100], [2000, -1000]]


@pytest.mark.parametrize(
    ("text", "radicand", "factor"),
    [("1", 1, fmpq(1)), ("1/sqrt(8)", 2, fmpq(1, 4)), ("-3/4", 1, fmpq(-3, 4)), ("sqrt(6)", 6, fmpq(1))],
)
def test_scales(text: str, radicand: int, factor: fmpq, tmp_path: Path) -> None:
    # W is written in units of √n, n squarefree: 1/√8 = √2/4
    weights = open_weights(written(tmp_path, safetensors(HAND)))
    layer = projections(weights, recognised(weights), 2)
    model = model_of(layer, unit_readout(2, 1), evaluate(parse(text), FormAlgebra()))
    assert model.field.radicand == radicand
    assert matrices(model) == [[[factor * x for x in row] for row in matrix] for matrix in W]


@pytest.mark.parametrize("text", ["0", "1+sqrt(2)", "log(2)", "root(2,3)"])
def test_scales_outside_the_field(text: str, tmp_path: Path) -> None:
    weights = open_weights(written(tmp_path, safetensors(HAND)))
    layer = projections(weights, recognised(weights), 2)
    with pytest.raises(InputError, match=r"--scale: must be a rational multiple of one square root"):
        model_of(layer, unit_readout(2, 1), evaluate(parse(text), FormAlgebra()))


@pytest.mark.parametrize(("dim", "form"), [(1, Form({(): fmpq(1)})), (16, Form({(): fmpq(1, 4)}))])
def test_the_usual_scale(dim: int, form: Form) -> None:
    assert softmax_scale(dim) == form


def test_a_model_is_the_same_after_writing_and_reading(tmp_path: Path) -> None:
    zero = {**PACKED, "in_proj_weight": floats([[0, 0]] * 4 + V)}
    for tensors, heads in ((PACKED, 2), (PACKED, 1), (zero, 1), (zero, 2)):
        model = imported(tmp_path, tensors, heads)
        save(model, tmp_path / "instance.json")
        assert load(tmp_path / "instance.json") == model


# --- biases ----------------------------------------------------------------------------------------------------------


def with_biases(tmp_path: Path, **biases: list[float]) -> tuple[Model, fmpq]:
    tensors = {**HAND, **{f"{name}_proj.bias": vector(numbers) for name, numbers in biases.items()}}
    weights = open_weights(written(tmp_path, safetensors(tensors)))
    layer = projections(weights, accounted(weights, recognised(weights)), 2)
    e = unit_readout(2, 1)
    return model_of(layer, e, softmax_scale(1)), constant(layer, e)


def test_a_key_bias_changes_nothing(tmp_path: Path) -> None:
    assert with_biases(tmp_path, k=[3.5, -7]) == (imported(tmp_path, HAND), 0)


def test_value_and_output_biases_are_a_constant(tmp_path: Path) -> None:
    # e_1·(W_O b_V + b_O) = 1·2 + 3·5 + 0.25
    model, c = with_biases(tmp_path, v=[2, 5], out=[0.25, 100])
    assert (model, c) == (imported(tmp_path, HAND), fmpq(69, 4))
    assert with_biases(tmp_path, v=[3, -1])[1] == 0  # 1·3 + 3·(−1): this readout does not see it


def test_a_query_bias_is_refused_unless_it_moves_no_logit(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the bias of the queries moves the logits of head 2"):
        with_biases(tmp_path, q=[0, 1e-300])
    tensors = {**HAND, "k_proj.weight": floats([[5, 6], [0, 0]]), "q_proj.bias": vector([0, 1])}
    assert matrices(imported(tmp_path, tensors))[1] == [[0, 0], [0, 0]]


def test_a_query_bias_of_heads_without_effect_is_exact(tmp_path: Path) -> None:
    """Heads with v = 0, and heads with the same W and the same w whose v sum to 0, are dropped with their bias."""
    out = {**HAND, "out_proj.weight": floats([[0, 3], [-1, 2]])}  # e_1 does not read head 1
    assert imported(tmp_path, {**out, "q_proj.bias": vector([1, 0])}) == imported(tmp_path, out)
    with pytest.raises(InputError, match="moves the logits of head 2"):
        imported(tmp_path, {**out, "q_proj.bias": vector([1, 1])})
    with pytest.raises(InputError, match="moves the logits of head 1"):
        imported(tmp_path, {**out, "q_proj.bias": vector([1, 0])}, index=2)
    opposite = {
        "q_proj.weight": floats([Q[0]] * 2),
        "k_proj.weight": floats([K[0]] * 2),
        "v_proj.weight": floats([V[0]] * 2),
        "out_proj.weight": floats([[2, -2]]),
    }
    model = imported(tmp_path, {**opposite, "q_proj.bias": vector([3, 3])})
    assert model.canonical().heads == ()
    for bias in ([3, 4], [3, 0]):  # the same W, but not the same w
        with pytest.raises(InputError, match="moves the logits of head 1"):
            imported(tmp_path, {**opposite, "q_proj.bias": vector(bias)})


def test_packed_biases_are_cut_like_the_matrix(tmp_path: Path) -> None:
    tensors = {**PACKED, "in_proj_bias": vector([0, 0, 8, 9, 2, 5])}
    weights = open_weights(written(tmp_path, safetensors(tensors)))
    layer = projections(weights, accounted(weights, recognised(weights)), 2)
    assert constant(layer, unit_readout(2, 1)) == 17
    with pytest.raises(InputError, match="in_proj_bias: this bias needs 6 entries"):
        imported(tmp_path, {**PACKED, "in_proj_bias": vector([0] * 5)})


def test_a_bias_must_be_finite_even_where_it_cancels(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"k_proj.bias: entry 0 .* is no number"):
        with_biases(tmp_path, k=[float("nan"), 0])


# --- the readout and shapes ------------------------------------------------------------------------------------------


def test_the_readout_is_linear(tmp_path: Path) -> None:
    weights = open_weights(written(tmp_path, safetensors(HAND)))
    layer = projections(weights, recognised(weights), 2)
    model = model_of(layer, fmpq_mat([[fmpq(1, 2)], [fmpq(3)]]), softmax_scale(1))
    assert [[x for (x,) in head.v] for head in model.heads] == [[fmpq(-5, 2), 0], [15, fmpq(-15, 2)]]
    with pytest.raises(InputError, match="the layer has the outputs e_1 to e_2"):
        unit_readout(2, 3)


WRONG_SHAPES = {
    "queries not shared by the heads": (PACKED, 3, "2 outputs cannot be shared by 3 heads"),
    "no heads": (PACKED, 0, "must lie between 1 and 512"),
    "keys of another dimension": ({**HAND, "k_proj.weight": floats([[1]] * 2)}, 2, "this is cross-attention"),
    "values of another dimension": ({**HAND, "v_proj.weight": floats([[1, 2, 3]] * 2)}, 2, "this is cross-attention"),
    "no keys for a divisor": ({**HAND, "k_proj.weight": floats([[1, 2]] * 3)}, 2, "3 outputs are no keys of 1"),
    "output too wide": ({**HAND, "out_proj.weight": floats([[1, 2, 3]] * 2)}, 2, "takes 3 inputs"),
    "packed too short": ({**PACKED, "in_proj_weight": floats(Q)}, 2, "2 rows are no queries, keys and values"),
}


@pytest.mark.parametrize(("tensors", "heads", "message"), WRONG_SHAPES.values(), ids=WRONG_SHAPES)
def test_wrong_shapes(
    tensors: dict[str, tuple[str, list[int], bytes]], heads: int, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        imported(tmp_path, tensors, heads)


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["", "h.3.attn.", "model.layers.0.self_attn."])
@pytest.mark.parametrize("output", ["out_proj.weight", "o_proj.weight"])
@pytest.mark.parametrize(
    "names",
    [("in_proj_weight",) * 3, ("q_proj_weight", "k_proj_weight", "v_proj_weight"), tuple(HAND)[:3]],
    ids=["packed", "three", "linear"],
)
def test_known_names(names: tuple[str, str, str], output: str, prefix: str, tmp_path: Path) -> None:
    parts = [*Q, *K, *V] if len(set(names)) == 1 else None
    tensors = {prefix + name: floats(parts or rows) for name, rows in zip(names, (Q, K, V), strict=True)}
    tensors |= {prefix + output: floats(OUT), "elsewhere.norm.weight": vector([1.0])}
    if not prefix:
        del tensors["elsewhere.norm.weight"]
    assert imported(tmp_path, tensors) == imported(tmp_path, HAND)


def layers(tmp_path: Path) -> tuple[dict[str, tuple[str, list[int], bytes]], Path]:
    tensors = {f"layers.{i}.attn.{name}": tensor for i in (0, 1, 10) for name, tensor in HAND.items()}
    return tensors, written(tmp_path, safetensors(tensors))


def test_one_layer_of_several(tmp_path: Path) -> None:
    weights = open_weights(layers(tmp_path)[1])
    with pytest.raises(InputError, match=r"has 3 attention layers .*choose one with --layer"):
        recognised(weights)
    for layer in ("layers.1.attn", "layers.1.attn."):
        assert recognised(weights, layer).q == "layers.1.attn.q_proj.weight"
    with pytest.raises(InputError, match=r"no attention layer is recognised under layers.1"):
        recognised(weights, "layers.1")


def test_no_layer(tmp_path: Path) -> None:
    for tensors in ({}, {"q_proj.weight": floats(Q)}, {**HAND, "out_proj.weight": vector([1]), "k_proj.weight": None}):
        given = {key: tensor for key, tensor in tensors.items() if tensor}
        with pytest.raises(InputError, match="no attention layer is recognised"):
            recognised(open_weights(written(tmp_path, safetensors(given))))


FURTHER = {
    "bias_k": "learned extra position",
    "q_norm.weight": "normalises queries or keys",
    "k_layernorm.weight": "normalises queries or keys",
    "rotary_emb.inv_freq": "turns queries and keys by their positions",
    "relative_attention_bias.weight": "depends on positions",
    "pos_embed": "depends on positions",
    "q_proj.lora_A.weight": "merge it into them first",
    "q_proj.scales": "undo it first",
    "sinks": "belongs to no token",
    "attn_mask": "may hide tokens",
    "gate": "is not understood",
    "q_proj.inferno": "is not understood",
}


@pytest.mark.parametrize(("name", "reason"), FURTHER.items())
@pytest.mark.parametrize("prefix", ["", "block.attn."])
def test_further_tensors_of_the_layer(name: str, reason: str, prefix: str, tmp_path: Path) -> None:
    tensors = {prefix + key: tensor for key, tensor in {**HAND, name: vector([0.0])}.items()}
    weights = open_weights(written(tmp_path, safetensors(tensors)))
    layout = recognised(weights)
    with pytest.raises(InputError, match=f"{prefix}{name}: belongs to this layer and .*{reason}"):
        accounted(weights, layout)
    assert accounted(weights, layout, [prefix + name]) == layout
    with pytest.raises(InputError, match="there is no such tensor"):
        accounted(weights, layout, ["nothing"])


WHOLE_LAYER = [
    ("attn.qkv.proj.weight", "attn.o.weight"),  # the packed matrix lies deeper than the output
    ("attn.qkv.weight", "attn.out.proj.weight"),
    ("attn/qkv/kernel", "attn/out/kernel"),
    ("attn.qkv", "attn.out"),
]


@pytest.mark.parametrize(("packed", "out"), WHOLE_LAYER)
@pytest.mark.parametrize(
    ("name", "reason"), [("q_norm.weight", "normalises"), ("sinks", "no token"), ("out.lora_A.weight", "merge it")]
)
def test_further_tensors_beside_any_of_the_projections(
    packed: str, out: str, name: str, reason: str, tmp_path: Path
) -> None:
    key = packed[:5] + name
    tensors = {packed: floats([*Q, *K, *V]), out: floats(OUT), "other.gate": vector([1])}
    for further in ({}, {key: vector([1])}):
        weights = open_weights(written(tmp_path, safetensors({**tensors, **further})))
        layout = named(weights, packed, packed, packed, out)
        if further:
            with pytest.raises(InputError, match=f"{key}: belongs to this layer and .*{reason}"):
                accounted(weights, layout)
        else:
            assert accounted(weights, layout) == layout


def test_tensors_beside_the_output_projection_of_a_recognised_layer(tmp_path: Path) -> None:
    for name in ("attention.output.dense.lora_A.weight", "attention.output.gate", "attention.self.sinks"):
        tensors = {f"x.{key}": tensor for key, tensor in (FAMILIES["BERT"] | {name: vector([1])}).items()}
        weights = open_weights(written(tmp_path, safetensors(tensors)))
        with pytest.raises(InputError, match=f"x.{name}: belongs to this layer"):
            accounted(weights, recognised(weights))


@pytest.mark.parametrize(
    ("form", "bias"),
    [
        ("a.{}.weight", "a.{}.bias"),
        ("a/{}/kernel", "a/{}/bias"),
        ("a.{}.kernel", "a.{}.bias"),
        ("a.{}.w", "a.{}.b"),
        ("a.{}.matrix", "a.{}.bias"),
        ("a.{}_weight", "a.{}_bias"),
        ("a.{}_kernel", "a.{}_bias"),
        ("{}_w", "{}_b"),
        ("{}", "{}_bias"),
        ("a.{}", "a.{}.bias"),
    ],
)
def test_biases_beside_every_kind_of_name(form: str, bias: str, tmp_path: Path) -> None:
    names = ("query", "key", "value", "out")
    tensors = {form.format(name): floats(rows) for name, rows in zip(names, (Q, K, V, OUT), strict=True)}
    tensors |= {bias.format(name): vector([n, 9]) for n, name in enumerate(names)}
    weights = open_weights(written(tmp_path, safetensors(tensors)))
    layout = accounted(weights, named(weights, *map(form.format, names)))
    found = (layout.q_bias, layout.k_bias, layout.v_bias, layout.out_bias)
    assert found == tuple(map(bias.format, names))


def conv1d(rows: list[list[int]]) -> tuple[str, list[int], bytes]:
    return floats(transpose(rows))


def family(form: str, names: str, out: str) -> dict[str, tuple[str, list[int], bytes]]:
    parts = zip(names.split(), (Q, K, V), strict=True)
    return {**{form.format(name): floats(rows) for name, rows in parts}, out: floats(OUT)}


FAMILIES = {
    "BERT": family("attention.self.{}.weight", "query key value", "attention.output.dense.weight")
    | {"attention.output.LayerNorm.weight": vector([1, 2]), "attention.output.LayerNorm.bias": vector([1, 2])},
    "ViT": family("attention.attention.{}.weight", "query key value", "attention.output.dense.weight"),
    "DistilBERT": family("attention.{}_lin.weight", "q k v", "attention.out_lin.weight"),
    "T5": family("layer.0.SelfAttention.{}.weight", "q k v", "layer.0.SelfAttention.o.weight"),
    "GPT-2": {"attn.c_attn.weight": conv1d([*Q, *K, *V]), "attn.c_proj.weight": conv1d(OUT)},
    "Phi-3": {"self_attn.qkv_proj.weight": floats([*Q, *K, *V]), "self_attn.o_proj.weight": floats(OUT)},
}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("prefix", ["", "encoder.layer.0."])
def test_families_of_names(name: str, prefix: str, tmp_path: Path) -> None:
    tensors = {prefix + key: tensor for key, tensor in FAMILIES[name].items()}
    tensors |= {"mlp.norm.weight": vector([1])} if prefix or name != "T5" else {}
    assert imported(tmp_path, tensors) == imported(tmp_path, HAND)
    weights = open_weights(written(tmp_path, safetensors(tensors)))
    assert recognised(weights).is_unscaled == (name == "T5")


def test_a_packed_matrix_of_gpt2_that_is_no_conv1d_is_not_guessed(tmp_path: Path) -> None:
    tensors = {"c_attn.weight": floats([*Q, *K, *V]), "c_proj.weight": floats(OUT)}
    with pytest.raises(InputError, match="no attention layer is recognised"):
        imported(tmp_path, tensors)


def test_cross_attention_is_told_by_its_name(tmp_path: Path) -> None:
    for module in ("crossattention.", "layers.0.encoder_attn.", "cross_attn."):
        names = ("BERT", "attention.") if module == "crossattention." else ("", "")
        tensors = FAMILIES[names[0]] if names[0] else HAND
        given = {module + key.removeprefix(names[1]): tensor for key, tensor in tensors.items()}
        with pytest.raises(InputError, match="is cross-attention"):
            imported(tmp_path, given)


@pytest.mark.parametrize(
    "key", ["encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", "rotary_emb.inv_freq"]
)
def test_tables_of_another_module_that_all_layers_use(key: str, tmp_path: Path) -> None:
    tensors = {f"encoder.block.3.{name}": tensor for name, tensor in FAMILIES["T5"].items()}
    weights = open_weights(written(tmp_path, safetensors({**tensors, key: vector([1])})))
    with pytest.raises(InputError, match=f"{key}: may belong to all layers and .*position"):
        accounted(weights, recognised(weights))
    assert accounted(weights, recognised(weights), [key])


@pytest.mark.parametrize("packed", ["h.0.attn.query_key_value.weight", "attention.linear_qkv.weight"])
def test_a_matrix_packed_head_by_head_is_refused(packed: str, tmp_path: Path) -> None:
    weights = open_weights(written(tmp_path, safetensors({packed: floats([*Q, *K, *V]), "o": floats(OUT)})))
    with pytest.raises(InputError, match=f"{packed}: holds the queries, keys and values of one head after"):
        named(weights, packed, packed, packed, "o")


def mask(*rows: str) -> tuple[str, list[int], bytes]:
    return "BOOL", [1, 1, len(rows), len(rows)], bytes(int(x) for row in rows for x in row)


@pytest.mark.parametrize("name", ["bias", "causal_mask"])
def test_causal_masks_hide_nothing_from_the_last_token(name: str, tmp_path: Path) -> None:
    def layout(of: tuple[str, list[int], bytes]) -> Layout:
        weights = open_weights(written(tmp_path, safetensors({**HAND, name: of})))
        return accounted(weights, recognised(weights))

    assert layout(mask("100", "110", "111")).masks == (name,)  # True: attends
    assert layout(mask("011", "001", "000")).masks == (name,)  # True: is hidden
    for rows in (("100", "110", "011"), ("100", "010", "111"), ("010", "111", "111")):
        with pytest.raises(InputError, match="belongs to this layer and"):
            layout(mask(*rows))
    with pytest.raises(InputError, match="belongs to this layer and"):
        layout(("BOOL", [2, 3], b"\1" * 6))


def test_npz_and_safetensors_give_the_same_model(tmp_path: Path) -> None:
    arrays = {f"{name}.npy": npy("<f8", shape, data) for name, (_, shape, data) in PACKED.items()}
    weights = open_weights(written(tmp_path, npz(arrays), "layer.npz"))
    layer = projections(weights, accounted(weights, recognised(weights)), 2)
    assert model_of(layer, unit_readout(2, 1), softmax_scale(1)) == imported(tmp_path, PACKED)
