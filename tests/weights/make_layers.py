"""Make the committed layers and their outputs with real PyTorch: python tests/weights/make_layers.py

Writes into tests/weights/data, for each layer, a safetensors file as PyTorch's own tools write it, and `outputs.json`:
random sequences (exact hexadecimal floats) and what PyTorch gives for them at the last token in float64, the weights
upcast exactly. PyTorch's random numbers may differ between versions; the files as committed are what tests use.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

DATA = Path(__file__).parent / "data"
DIM = 8
LENGTHS = (1, 2, 3, 5, 9)


def trained(heads: int) -> torch.nn.MultiheadAttention:
    """A float32 layer trained for a moment: answer the token that points most in the direction of the last one."""
    torch.manual_seed(heads)
    layer = torch.nn.MultiheadAttention(DIM, heads, bias=False, batch_first=True)
    optimiser = torch.optim.Adam(layer.parameters(), lr=1e-2)
    for _ in range(300):
        x = torch.randn(64, 6, DIM)
        best = (x @ x[:, -1, :, None]).argmax(dim=1)
        goal = torch.gather(x, 1, best[:, :, None].expand(-1, -1, DIM))
        found, _ = layer(x[:, -1:], x, x)
        optimiser.zero_grad()
        (found - goal).square().mean().backward()
        optimiser.step()
    return layer


def last_output(layer: torch.nn.MultiheadAttention, tokens: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        found, _ = layer(tokens[None, -1:], tokens[None], tokens[None], need_weights=False)
    return found[0, -1]


def grouped() -> dict[str, torch.Tensor]:
    """A bfloat16 layer with Hugging Face's names: 4 heads of dimension 2, 2 key and value heads, a key bias."""
    torch.manual_seed(11)
    prefix = "model.layers.0.self_attn."
    linear = {"q_proj": (8, DIM), "k_proj": (4, DIM), "v_proj": (4, DIM), "o_proj": (DIM, 8)}
    layer = {f"{prefix}{name}.weight": torch.randn(shape).to(torch.bfloat16) for name, shape in linear.items()}
    layer[f"{prefix}k_proj.bias"] = torch.randn(4).to(torch.bfloat16)
    layer["model.layers.0.input_layernorm.weight"] = torch.ones(DIM, dtype=torch.bfloat16)
    return layer


def grouped_output(layer: dict[str, torch.Tensor], tokens: torch.Tensor) -> torch.Tensor:
    def get(name: str) -> torch.Tensor:
        return layer[f"model.layers.0.self_attn.{name}"].double()

    q = (tokens[-1:] @ get("q_proj.weight").T).view(1, 4, 2).transpose(0, 1)
    k = (tokens @ get("k_proj.weight").T + get("k_proj.bias")).view(-1, 2, 2).transpose(0, 1)
    v = (tokens @ get("v_proj.weight").T).view(-1, 2, 2).transpose(0, 1)
    mixed = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], enable_gqa=True)
    return mixed[0].transpose(0, 1).reshape(8) @ get("o_proj.weight").T


def hexadecimal(numbers: torch.Tensor) -> list[str]:
    return [x.hex() for x in numbers.tolist()]


def main() -> None:
    DATA.mkdir(exist_ok=True)
    cases = []
    for heads in (2, 4):
        layer, file = trained(heads), f"trained_d8_h{heads}.safetensors"
        save_file(layer.state_dict(), DATA / file)
        layer = layer.double()
        for length in LENGTHS:
            tokens = torch.randn(length, DIM, dtype=torch.float64)
            output = hexadecimal(last_output(layer, tokens))
            cases.append({"file": file, "heads": heads, "tokens": [hexadecimal(t) for t in tokens], "output": output})
    weights, file = grouped(), "grouped_bfloat16.safetensors"
    save_file(weights, DATA / file)
    for length in LENGTHS:
        tokens = torch.randn(length, DIM, dtype=torch.float64) / 2
        output = hexadecimal(grouped_output(weights, tokens))
        cases.append({"file": file, "heads": 4, "tokens": [hexadecimal(t) for t in tokens], "output": output})
    document = {"torch": str(torch.__version__), "cases": cases}
    (DATA / "outputs.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
