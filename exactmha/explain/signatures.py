"""Signatures, fields and members of public names, as the reference shows them: the same in every process."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from itertools import pairwise
from textwrap import dedent
from typing import Any

WIDTH = 90
_PLAIN = (int, float, str, bool, tuple, type(None))


@dataclass(frozen=True, slots=True)
class Member:
    """A field, an enum member, a property or a method: how it is written, and what is said about it."""

    text: str
    document: str


def signature(name: str, value: object) -> str:
    """Return how a name is called, one line or one parameter a line when that is long."""
    if not isinstance(value, type):
        return parameters(name, value) if callable(value) else name
    shown = f"class {name}"
    if issubclass(value, Enum) or getattr(value, "_is_protocol", False) or not _has_own_init(value):
        return shown
    call = parameters(shown, value, returns=False)
    return shown if is_dataclass(value) and "\n" in call else call  # its fields are listed anyway


def _has_own_init(value: type) -> bool:
    return inspect.isfunction(value.__init__)  # type: ignore[misc]  # of the class, not of an instance


def parameters(name: str, value: Any, *, returns: bool = True) -> str:
    """Return name(parameters) -> annotation; `self` and `cls` are left out."""
    found = inspect.signature(value)
    shown, kinds = [], [parameter.kind for parameter in found.parameters.values()]
    for i, parameter in enumerate(found.parameters.values()):
        if i and kinds[i - 1] is parameter.POSITIONAL_ONLY and parameter.kind is not parameter.POSITIONAL_ONLY:
            shown.append("/")
        if parameter.kind is parameter.KEYWORD_ONLY and (not i or kinds[i - 1] is not parameter.KEYWORD_ONLY):
            shown.append("*")
        if parameter.name not in ("self", "cls"):
            shown.append(_parameter(parameter, value))
    if kinds and kinds[-1] is inspect.Parameter.POSITIONAL_ONLY:
        shown.append("/")
    after = f" -> {annotation(found.return_annotation)}" if returns and _is_given(found.return_annotation) else ""
    line = f"{name}({', '.join(shown)}){after}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {part}," for part in shown), f"){after}"])


def _parameter(parameter: inspect.Parameter, owner: Any) -> str:
    text = parameter.name
    if _is_given(parameter.annotation):
        text += f": {annotation(parameter.annotation)}"
    if parameter.default is inspect.Parameter.empty:
        return text
    return f"{text}{' = ' if ':' in text else '='}{default(parameter.default, owner)}"


def _is_given(value: object) -> bool:
    return value is not inspect.Parameter.empty


def annotation(value: object) -> str:
    """Return an annotation as it stands in the source."""
    return value if isinstance(value, str) else inspect.formatannotation(value)


def default(value: object, owner: Any) -> str:
    """Return a default value: by the name of its constant, function or class where `repr` is long or has an address."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, _PLAIN):
        return repr(value)
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    module = vars(sys.modules[owner.__module__])
    names = [name for name, constant in module.items() if constant is value and name.isupper()]
    if names:
        return names[0]
    text = repr(value)
    return "…" if " at 0x" in text or text == "<factory>" else text


def members(value: type) -> Iterator[Member]:
    """Yield the fields or enum members of a class, then its documented public properties and methods."""
    if issubclass(value, Enum):
        notes = notes_of(value)
        for member in value:
            yield Member(f"{value.__name__}.{member.name} = {member.value!r}", notes.get(member.name, ""))
    if is_dataclass(value):
        yield from _fields(value)
    for name, member in vars(value).items():
        plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        is_value = isinstance(plain, property)
        if name.startswith("_") or not (inspect.isfunction(plain) or is_value) or not inspect.getdoc(plain):
            continue
        yield Member(_property(name, plain) if is_value else parameters(name, plain), inspect.getdoc(plain) or "")


def _property(name: str, value: Any) -> str:
    returned = inspect.signature(value.fget).return_annotation
    return f"{name}: {annotation(returned)}" if _is_given(returned) else name


def _fields(value: type) -> Iterator[Member]:
    notes = {name: note for base in reversed(value.__mro__) for name, note in notes_of(base).items()}
    for field in fields(value):
        text = f"{field.name}: {annotation(field.type)}"
        if field.default is not MISSING:
            text += f" = {default(field.default, value)}"
        yield Member(text, notes.get(field.name, ""))


def notes_of(value: object) -> dict[str, str]:
    """Return the string literals that follow assignments in the source of a class or a module, by the name assigned."""
    try:
        tree = ast.parse(dedent(inspect.getsource(value)))  # type: ignore[arg-type]  # what has none is an error below
    except (OSError, TypeError):
        return {}
    body = tree.body[0].body if isinstance(value, type) and isinstance(tree.body[0], ast.ClassDef) else tree.body
    notes = {}
    for before, after in pairwise(body):
        name = _assigned(before)
        if name and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            notes[name] = inspect.cleandoc(str(after.value.value))
    return notes


def _assigned(statement: ast.stmt) -> str | None:
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    return target.id if isinstance(target, ast.Name) else None


@cache
def _source(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(import_module(module)))


def definition(name: str, module: str) -> str:
    """Return "Token = …" for a name that is assigned in a module, as it stands in the source."""
    for statement in _source(module).body:
        if _assigned(statement) == name:
            return ast.unparse(statement)
    return name


def resolved(name: str, module: str) -> tuple[str, Any] | None:
    """Return (module where it is defined, value) of a name that a module uses, also one that only type checkers see."""
    for statement in ast.walk(_source(module)):
        if isinstance(statement, ast.ImportFrom) and name in {alias.asname or alias.name for alias in statement.names}:
            home = str(statement.module)
            return (home, getattr(import_module(home), name, None)) if home.startswith("exactmha") else None
    value = vars(import_module(module)).get(name)
    return None if value is None else (module, value)
