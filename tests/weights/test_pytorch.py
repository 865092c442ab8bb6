"""The exact oracle against PyTorch's own outputs, on committed files and, where PyTorch is installed, on new layers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from flint import arb, ctx, fmpq
from mpmath import mp

import exactmha
from exactmha.attention import Attention, Model
from exactmha.cli.main import run
from exactmha.outcome import Outcome
from exactmha.verification import verify

DATA = Path(__file__).parent / "data"
CASES = json.loads((DATA / "outputs.json").read_text("utf-8"))["cases"]
LAYERS = {case["file"]: case["heads"] for case in CASES}
TOLERANCE = fmpq(1, 10**12)
WITHOUT_TORCH = "new layers need PyTorch, which is too large to ask for; the committed layers are always tested"
Rows = Sequence[Sequence[float]]


def imported(tmp_path: Path, file: Path, heads: int, readout: str = "e_1") -> Path:
    instance = tmp_path / f"{file.stem}-{readout}.json"
    assert run(["import", str(file), "--num-heads", str(heads), "--readout", readout, "-o", str(instance)]) == 0
    return instance


def exact(x: float) -> fmpq:
    return fmpq(*x.as_integer_ratio())


def distance(model: Model, tokens: Rows, output: float) -> fmpq:
    """An upper bound on |f(X) − output|, f evaluated exactly and enclosed."""
    value = Attention(model)([tuple(exact(x) for x in token) for token in tokens])
    with ctx.workprec(256):
        gap: arb = abs(value.enclosure(40) - arb(exact(output)))
        return gap.upper().fmpq()


def test_the_committed_outputs_cover_the_layers() -> None:
    assert sorted(LAYERS.items()) == [
        ("grouped_bfloat16.safetensors", 4),
        ("trained_d8_h2.safetensors", 2),
        ("trained_d8_h4.safetensors", 4),
    ]
    assert {len(case["tokens"]) for case in CASES} == {1, 2, 3, 5, 9}


@pytest.mark.parametrize("file", LAYERS)
@pytest.mark.parametrize("output", [1, 5, 8])
def test_committed_layers_agree_with_pytorch(file: str, output: int, tmp_path: Path) -> None:
    model = exactmha.load(imported(tmp_path, DATA / file, LAYERS[file], f"e_{output}"))
    for case in (case for case in CASES if case["file"] == file):
        tokens = [[float.fromhex(x) for x in token] for token in case["tokens"]]
        assert distance(model, tokens, float.fromhex(case["output"][output - 1])) <= TOLERANCE


def test_the_comparison_notices_a_wrong_layer(tmp_path: Path) -> None:
    """The transposed weights, another number of heads and another scale are all seen at once."""
    file = DATA / "trained_d8_h4.safetensors"
    case = next(case for case in CASES if case["file"] == file.name and len(case["tokens"]) == 5)
    tokens = [[float.fromhex(x) for x in token] for token in case["tokens"]]
    for heads, options in ((2, []), (4, ["--scale", "1/sqrt(8)"]), (4, ["--readout", "e_2"])):
        instance = tmp_path / "wrong.json"
        assert run(["import", str(file), "--num-heads", str(heads), *options, "-o", str(instance)]) == 0
        assert distance(exactmha.load(instance), tokens, float.fromhex(case["output"][0])) > fmpq(1, 1000)


@pytest.mark.parametrize("file", LAYERS)
def test_committed_layers_are_verified_and_certified(file: str, tmp_path: Path) -> None:
    instance, certificate = imported(tmp_path, DATA / file, LAYERS[file]), tmp_path / "certificate.json"
    assert run(["verify", str(instance), "--certificate", str(certificate)]) == 0
    assert run(["check", str(certificate), "--instance", str(instance)]) == 0


def test_weights_have_the_rank_of_the_head_dimension(tmp_path: Path) -> None:
    from flint import fmpq_mat

    for file, heads in (("trained_d8_h2", 2), ("trained_d8_h4", 4)):
        model = exactmha.load(imported(tmp_path, DATA / f"{file}.safetensors", heads))
        assert [fmpq_mat([list(row) for row in head.W[0]]).rank() for head in model.heads] == [8 // heads] * heads


# --- with PyTorch ----------------------------------------------------------------------------------------------------


def torch_layer(dim: int, heads: int, *, bias: bool = False, seed: int = 0) -> Any:
    torch = pytest.importorskip("torch", reason=WITHOUT_TORCH)
    torch.manual_seed(seed)
    layer = torch.nn.MultiheadAttention(dim, heads, bias=bias, batch_first=True, dtype=torch.float64)
    return layer.requires_grad_(False)


def last_output(layer: Any, tokens: Rows) -> list[float]:
    import torch

    x = torch.tensor([tokens], dtype=torch.float64)
    found, _ = layer(x[:, -1:], x, x, need_weights=False)
    return [float(number) for number in found[0, -1]]


def saved(layer: Any, tmp_path: Path, *, as_npz: bool = False) -> Path:
    if as_npz:
        import numpy

        numpy.savez(tmp_path / "layer.npz", **{key: value.numpy() for key, value in layer.state_dict().items()})
        return tmp_path / "layer.npz"
    from safetensors.torch import save_file

    save_file(layer.state_dict(), tmp_path / "layer.safetensors")
    return tmp_path / "layer.safetensors"


def random_tokens(length: int, dim: int) -> list[list[float]]:
    import torch

    return [[float(x) for x in row] for row in torch.randn(length, dim, dtype=torch.float64)]


@pytest.mark.parametrize(("dim", "heads"), [(1, 1), (2, 2), (6, 2), (8, 8), (12, 3), (16, 4)])
@pytest.mark.parametrize("as_npz", [False, True])
def test_query_agrees_with_pytorch(
    dim: int, heads: int, as_npz: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layer = torch_layer(dim, heads, seed=dim)
    instance = imported(tmp_path, saved(layer, tmp_path, as_npz=as_npz), heads)
    for length in (1, 2, 4, 7):
        tokens = random_tokens(length, dim)
        written = json.dumps([[str(exact(x)) for x in token] for token in tokens])
        capsys.readouterr()
        assert run(["query", str(instance), "--tokens", written, "--json"]) == 0
        decimal = fmpq(
            *Fraction(json.loads(capsys.readouterr().out)["decimal"].split(" +/- ")[0].strip("[")).as_integer_ratio()
        )
        assert abs(decimal - exact(last_output(layer, tokens)[0])) <= TOLERANCE


def test_biases_that_the_theorem_covers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Keys, values and outputs with biases: the layer is the instance plus the printed constant."""
    layer = torch_layer(4, 2, bias=True)
    import torch

    torch.nn.init.normal_(layer.in_proj_bias)
    torch.nn.init.normal_(layer.out_proj.bias)
    layer.in_proj_bias[:4] = 0
    file, instance = saved(layer, tmp_path), tmp_path / "layer.json"
    options = ["import", str(file), "--num-heads", "2", "-o", str(instance)]
    assert run(options) == 2
    assert "take it off with --subtract-constant" in capsys.readouterr().err
    assert run([*options, "--subtract-constant"]) == 0
    printed = capsys.readouterr().out
    assert "Key bias     adds the same to the logits of all tokens" in printed
    (line,) = [line for line in printed.splitlines() if line.startswith("Constant")]
    constant = Fraction(line.split()[-1])
    zero = [[0.0] * 4]
    assert abs(constant - Fraction(last_output(layer, zero)[0])) < Fraction(1, 10**15)
    model = exactmha.load(instance)
    tokens = random_tokens(5, 4)
    found = Attention(model)([tuple(exact(x) for x in token) for token in tokens]).enclosure(40)
    with ctx.workprec(256):
        gap = abs(found + arb(fmpq(*constant.as_integer_ratio())) - arb(exact(last_output(layer, tokens)[0])))
        assert gap < arb(TOLERANCE)


def test_a_query_bias_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layer = torch_layer(4, 2, bias=True)
    layer.in_proj_bias[0] = 1
    assert run(["import", str(saved(layer, tmp_path)), "--num-heads", "2"]) == 2
    assert "the bias of the queries moves the logits of head 1" in capsys.readouterr().err


def test_extra_positions_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch = pytest.importorskip("torch", reason=WITHOUT_TORCH)
    layer = torch.nn.MultiheadAttention(4, 2, add_bias_kv=True, dtype=torch.float64)
    assert run(["import", str(saved(layer, tmp_path)), "--num-heads", "2"]) == 2
    assert "bias_k: belongs to this layer and lets every token also attend" in capsys.readouterr().err


def test_a_pytorch_checkpoint_is_never_loaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layer = torch_layer(2, 1)
    import torch

    for new_format in (True, False):
        torch.save(layer.state_dict(), tmp_path / "layer.pt", _use_new_zipfile_serialization=new_format)
        assert run(["import", str(tmp_path / "layer.pt"), "--num-heads", "1"]) == 2
        message = capsys.readouterr().err
        assert "pickle" in message
        assert "never loaded" in message
        assert message.count("\n") == 1


# --- the other direction: learning from the layer as a black box -----------------------------------------------------


def black_box(layer: Any) -> Any:
    return lambda tokens: last_output(layer, [[float(x) for x in token] for token in tokens])[0]


def largest_error(estimate: Any, model: Model) -> float:
    """The largest error of an entry of any W, each head compared with the nearest true one."""
    truth = [[[x * model_unit(model) for x in row] for row in head.W[0]] for head in model.heads]
    errors = [
        min(
            max(
                abs(arb(x) - y).upper()
                for row, true in zip(W, other, strict=True)
                for x, y in zip(row, true, strict=True)
            )
            for other in truth
        )
        for W in estimate.W
    ]
    return float(max(errors))


def model_unit(model: Model) -> arb:
    return arb(model.field.radicand).sqrt()


@pytest.mark.parametrize(("dim", "heads", "tolerance"), [(2, 1, 1e-10), (2, 2, 1e-8), (4, 2, 1e-7)])
def test_learning_a_pytorch_layer_in_float64(dim: int, heads: int, tolerance: float, tmp_path: Path) -> None:
    layer = torch_layer(dim, heads)
    found = exactmha.learn_numeric(black_box(layer), dim, heads, scale=8)
    assert found.queries == 4 * heads * dim**2 - 2 * heads + 1
    assert found.estimate is not None
    model = exactmha.load(imported(tmp_path, saved(layer, tmp_path), heads))
    with ctx.workprec(200):
        assert largest_error(found.estimate, model) < tolerance


def mpmath_box(file: Path, heads: int, digits: int) -> Any:
    """The layer computed by mpmath from the floats in the file: W_Q x and W_K x, then their product."""
    from safetensors.numpy import load_file

    tensors = {key: value.tolist() for key, value in load_file(file).items()}
    packed, out = tensors["in_proj_weight"], tensors["out_proj.weight"][0]
    dim = len(out)
    rank = dim // heads

    def answer(tokens: list[list[Fraction]]) -> Any:
        with mp.workdps(digits + 10):
            points = [[mp.mpf(x.numerator) / x.denominator for x in token] for token in tokens]
            projected = [[mp.fdot(row, x) for row in packed] for x in points]
            total = mp.mpf(0)
            for h in range(heads):
                part = slice(h * rank, (h + 1) * rank)
                query = projected[-1][:dim][part]
                weights = [mp.exp(mp.fdot(query, y[dim : 2 * dim][part]) / mp.sqrt(rank)) for y in projected]
                values = [mp.fdot(out[part], y[2 * dim :][part]) for y in projected]
                total += mp.fdot(weights, values) / mp.fsum(weights)
            return +total

    return answer


def test_learning_a_layer_with_mpmath(tmp_path: Path) -> None:
    """With 100 digits everything is certified, and the proved boxes hold the exact parameters."""
    heads = 2
    file = DATA / f"trained_d8_h{heads}.safetensors"
    found = exactmha.learn_numeric(mpmath_box(file, heads, 100), 8, heads, epsilon="1e-100", scale=1)
    assert found.outcome is Outcome.HOLDS
    boxes = found.run.enclosure.parameters
    model = exactmha.load(imported(tmp_path, file, heads))
    with ctx.workprec(600):
        assert boxes.radius < arb("1e-70")
        for W, v in zip(boxes.W, boxes.v, strict=True):
            assert any(
                all(
                    box.contains(x * model_unit(model))
                    for row, true in zip(W, head.W[0], strict=True)
                    for box, x in zip(row, true, strict=True)
                )
                and all(box.contains(x) for box, (x,) in zip(v, head.v, strict=True))
                for head in model.heads
            )


# --- sizes and exponents ---------------------------------------------------------------------------------------------


def test_a_layer_with_equal_and_zero_heads(tmp_path: Path) -> None:
    """Heads 1 and 2 equal, the keys of head 3 zero, the values of head 4 zero: W of rank 1 and 0 remain."""
    import struct

    from weights.weight_files import safetensors, written

    def matrix(*rows: Sequence[int]) -> tuple[str, list[int], bytes]:
        return "F32", [len(rows), 4], struct.pack(f"<{4 * len(rows)}f", *(x for row in rows for x in row))

    q, k = (1, 2, -1, 3), (2, 0, 1, 1)
    file = written(
        tmp_path,
        safetensors(
            {
                "q_proj.weight": matrix(q, q, q, (1, 1, 1, 1)),
                "k_proj.weight": matrix(k, k, (0, 0, 0, 0), k),
                "v_proj.weight": matrix((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 0)),
                "o_proj.weight": matrix((1, 1, 1, 1)),
            }
        ),
    )
    model = exactmha.load(imported(tmp_path, file, 4))
    truth = model.canonical()
    assert sorted(len(group) for group in truth.groups) == [1, 2]
    assert truth.discarded == ((3,),)
    result = verify(model)
    assert result.outcome is Outcome.HOLDS
    assert result.recovery is not None
    assert result.recovery.heads == truth.heads


def test_the_largest_and_the_smallest_floats(tmp_path: Path) -> None:
    """float64 from 2^−1074 to nearly 2^1024 in all matrices: W spans 4,194 binary digits."""
    from weights.weight_files import floats, safetensors, written

    tiny, huge = 2.0**-1074, float.fromhex("0x1.fffffffffffffp+1023")
    rows = [[tiny, huge, 3 * tiny], [huge, 0.1, -tiny], [5 * tiny, -huge, huge]]
    names = ("q_proj.weight", "k_proj.weight", "v_proj.weight", "out_proj.weight")
    file = written(tmp_path, safetensors({name: floats(rows) for name in names}))
    model = exactmha.load(imported(tmp_path, file, 3))
    sizes = [x.height_bits() for head in model.heads for row in head.W[0] for x in row]
    assert max(sizes) > 2100
    result = verify(model)
    assert result.outcome is Outcome.HOLDS
