"""`import exactmha` stays light, and its public names are the ones listed."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import exactmha

HEAVY = {"sympy", "pydantic", "rich", "pytest", "hypothesis", "mpmath", "numpy"}


def output(*arguments: str) -> str:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True).stdout


def loaded_after(program: str) -> set[str]:
    return set(output("-c", f"import sys\n{program}\nprint('\\n' + ' '.join(sys.modules))").splitlines()[-1].split())


@pytest.mark.parametrize(
    "program",
    [
        "import exactmha",
        "import exactmha.cli.main",
        "from exactmha.cli.main import run; assert run(['--help']) == 0",
        "from exactmha.cli.main import run; assert run(['--version']) == 0",
        "from exactmha.cli.main import run; assert run(['verify', '--help']) == 0",
    ],
)
def test_heavy_packages_stay_out(program: str) -> None:
    loaded = loaded_after(program)
    assert "exactmha" in loaded
    assert not loaded & HEAVY


def test_the_probe_sees_heavy_packages() -> None:
    assert loaded_after("import exactmha; exactmha.load") >= {"exactmha.instance", "pydantic"}


def test_import_costs_little_more_than_flint_and_sympy() -> None:
    program = (
        "import flint, sympy, time\nstart = time.process_time()\n"
        "import exactmha\nprint(time.process_time() - start)\n"
        "from exactmha import *\nprint(time.process_time() - start)"
    )
    alone, with_all_names = map(float, output("-c", program).split())
    assert alone < 0.05
    assert with_all_names < 1


def type_checking_names() -> dict[str, str]:
    """Public name → module, from the block that type checkers read."""
    tree = ast.parse(Path(exactmha.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    names = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert alias.asname == alias.name, "re-exports need `as` with the same name"
            names[alias.name] = str(node.module)
    assert names.pop("explain") == "exactmha"  # a package, and no name for `import *`
    return names


def test_public_names_match_what_type_checkers_see() -> None:
    assert set(exactmha.__all__) == set(type_checking_names())
    assert len(set(exactmha.__all__)) == len(exactmha.__all__)


@pytest.mark.parametrize("name", exactmha.__all__)
def test_public_names_resolve(name: str) -> None:
    assert getattr(exactmha, name) is getattr(import_module(type_checking_names()[name]), name)
    assert name in dir(exactmha)


def test_the_story_can_be_told_without_importing_its_package() -> None:
    program = "import exactmha; assert 'exactmha.explain' not in sys.modules; exactmha.explain.gather"
    loaded = loaded_after(program)
    assert "exactmha.explain.run" in loaded
    assert "matplotlib" not in loaded
    # `tell` is also a module of the package
    output("-c", "import exactmha.explain.tell, exactmha; assert callable(exactmha.explain.tell)")
    assert "explain" in dir(exactmha)


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        exactmha.nothing  # noqa: B018  # the access is the test


def test_no_public_name_is_also_the_name_of_a_module() -> None:
    # importing such a module anywhere would put it in the place of the function
    package = Path(exactmha.__file__).parent
    modules = {path.stem for path in package.glob("*.py")} | {
        path.parent.name for path in package.glob("*/__init__.py")
    }
    assert {"heads", "fields"} <= modules
    assert not modules & set(exactmha.__all__)


def test_functions_stay_functions_after_the_command_line_has_run() -> None:
    program = (
        "import exactmha\n"
        "from exactmha.cli.main import run\n"
        "assert run(['verify', '--heads', '1', '--dim', '1']) == 0\n"
        "assert all(map(callable, (exactmha.verify, exactmha.learn, exactmha.load, exactmha.canonical)))"
    )
    output("-c", program)


def test_star_import_gives_the_public_names() -> None:
    names = output("-c", "from exactmha import *; print(*sorted(n for n in dir() if n[0] != '_'))").split()
    assert names == sorted(exactmha.__all__)


def test_version_is_that_of_the_project() -> None:
    text = (Path(exactmha.__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{exactmha.__version__}"' in text
    assert output("-m", "exactmha", "--version") == f"exactmha, version {exactmha.__version__}\n"


def test_the_package_is_typed() -> None:
    assert (Path(exactmha.__file__).parent / "py.typed").is_file()
