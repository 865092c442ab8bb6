"""Runs the notebooks of the course and compares, or rewrites, their outputs.

    python tests/notebooks/rerun.py            run all notebooks and write their outputs
    python tests/notebooks/rerun.py --check    run them and fail where an output differs from the committed one

Outputs are exact, so text and LaTeX are compared byte by byte; images and widgets are left out. An image must appear,
though, wherever a cell ends with a picture.
"""

import json
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
KEPT = ("text/plain", "text/latex")
WIDGET = "application/vnd.jupyter.widget-view+json"
IMAGE = "image/png"


def executed(path: Path) -> Any:
    """Return a notebook after running it in a fresh kernel, with what is kept of its outputs."""
    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=place).execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            if cell.source.splitlines()[-1].startswith("picture("):
                assert any(IMAGE in output.get("data", {}) for output in cell.outputs), f"no image: {cell.source}"
            cell.outputs = joined([kept(output) for output in cell.outputs if is_text(output)])
    return notebook


def is_text(output: Any) -> bool:
    return output.output_type == "stream" or WIDGET not in output.data


def kept(output: Any) -> Any:
    if output.output_type != "stream":
        output.data = {kind: value for kind, value in output.data.items() if kind in KEPT}
    return output


def joined(found: list[Any]) -> list[Any]:
    """Join neighbouring pieces of one stream: where the kernel cuts it is a matter of time."""
    result: list[Any] = []
    for output in found:
        last = result[-1] if result else None
        if last is not None and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            result.append(output)
    return result


def outputs(notebook: Any) -> list[Any]:
    """Return the outputs of every code cell."""
    return [json.loads(json.dumps(cell.outputs)) for cell in notebook.cells if cell.cell_type == "code"]


def differences(path: Path) -> list[str]:
    """Run a notebook and name the code cells whose outputs are not the committed ones."""
    old, new = outputs(nbformat.read(path, as_version=4)), outputs(executed(path))
    return [
        f"{path.name}, code cell {i}: committed {before}, now {after}"
        for i, (before, after) in enumerate(zip(old, new, strict=True), 1)
        if before != after
    ]


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    paths = [Path(a) for a in arguments if a != "--check"] or sorted(NOTEBOOKS.glob("*.ipynb"))
    found = []
    for path in paths:
        if check:
            found += differences(path)
        else:
            nbformat.write(executed(path), path)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
