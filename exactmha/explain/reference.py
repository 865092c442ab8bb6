"""A reference of the public names, from their docstrings, as one HTML page in the style of the stories."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from importlib import import_module
from inspect import getdoc
from typing import Any

import exactmha
from exactmha.explain.page import page
from exactmha.explain.prose import words
from exactmha.explain.signatures import Member, definition, members, notes_of, resolved, signature


@dataclass(frozen=True, slots=True)
class Task:
    """What someone wants to do, the names for it, and an example that runs."""

    title: str
    names: tuple[str, ...]
    example: str


TASKS = (
    Task(
        "Build a layer",
        ("Model", "Head", "canonical", "random_model", "load", "save", "equivalent", "to_sympy"),
        """
        >>> import exactmha, tempfile
        >>> from pathlib import Path
        >>> text = '''{"format": "exactmha/instance/1", "field": "rational",
        ...     "dim": 1, "heads": [{"W": [["log(2)"]], "v": ["3"]}]}'''
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "layer.json"
        ...     _ = path.write_text(text)
        ...     mine = exactmha.load(path)
        ...     exactmha.save(mine, path)
        ...     again = exactmha.load(path)
        >>> exactmha.equivalent(mine, again)
        <Outcome.HOLDS: 'holds'>
        """,
    ),
    Task(
        "Ask",
        ("Attention", "Oracle", "TokenSequence"),
        """
        >>> model = exactmha.random_model(heads=2, dim=2, field="rational", seed=0)
        >>> layer = exactmha.Attention(model)
        >>> oracle = exactmha.Oracle(layer, model.field, model.dim)
        >>> one, many = oracle.ask([(3, 1)]), oracle.ask([(3, 1)] * 4)
        >>> one.equals(many)  # copies of one token answer like the token
        <Outcome.HOLDS: 'holds'>
        >>> oracle.queries, oracle.max_length
        (2, 4)
        """,
    ),
    Task(
        "Learn and verify",
        ("learn", "Recovery", "verify", "Verification", "Claim", "Outcome", "Evidence", "Grid"),
        """
        >>> recovery = exactmha.learn(oracle, heads=2)
        >>> recovery.heads == model.canonical().heads
        True
        >>> recovery.queries == 4*2*2**2 - 2*2 + 1  # 4Hd² − 2H + 1
        True
        >>> exactmha.verify(model).outcome
        <Outcome.HOLDS: 'holds'>
        """,
    ),
    Task(
        "Fields",
        ("RationalField", "RadicalField", "ExponentialField"),
        """
        >>> field = exactmha.RationalField((2, 3))  # W is made of log 2 and log 3
        >>> str(field.monomial((1, -1)))  # exp(log 2 − log 3)
        '2/3'
        """,
    ),
    Task(
        "Approximate",
        ("double_oracle", "learn_numeric"),
        """
        >>> small = exactmha.random_model(heads=2, dim=1, field="rational", seed=0)
        >>> doubles = exactmha.double_oracle(small)
        >>> found = exactmha.learn_numeric(doubles, dim=1, heads=2)
        >>> found.outcome, found.queries == 4*2*1**2 - 2*2 + 1
        (<Outcome.HOLDS: 'holds'>, True)
        """,
    ),
    Task(
        "Explain",
        tuple(f"explain.{name}" for name in ("gather", "tell", "as_text", "as_html", "as_latex", "figure")),
        """
        >>> run = exactmha.explain.gather(model)
        >>> story = exactmha.explain.tell(run)
        >>> print(exactmha.explain.as_text(story, only=3))  # doctest: +ELLIPSIS
        Step 3 of ...
          Purpose    ...
        """,
    ),
    Task(
        "Errors and limits",
        ("ExactMHAError", "InputError", "Limits"),
        """
        >>> try:
        ...     exactmha.random_model(heads=2, dim=2, field="real", seed=0)
        ... except exactmha.InputError as error:
        ...     print(error)
        --field: unknown field (given: real); choose from rational, radical, exponential
        """,
    ),
)
"""The examples are one session: each goes on with the names of those before."""
__test__ = {"the examples of the reference": "".join(task.example for task in TASKS)}

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_QUOTED = re.compile(r"`([^`]+)`")


def as_html() -> str:
    """Return the page: every public name by task, with its signature, docstring and members, then what these name."""
    public = {name: _value(name) for task in TASKS for name in task.names}
    also = _also_named(public)
    links = {name.rpartition(".")[2]: name for name in (*public, *also)}
    entry = partial(_entry, links=links)
    body = "".join(_task(task, "".join(entry(name, *public[name]) for name in task.names)) for task in TASKS)
    body += f'<h2 id="{_anchor(ALSO)}">{ALSO}</h2>' + "".join(entry(name, *also[name]) for name in sorted(also))
    return page(
        "exactmha: public names",
        f"Version {escape(exactmha.__version__)}. Everything but the last part is imported from <code>exactmha</code>; "
        "the examples are one session.",
        [(_anchor(title), title) for title in (*(task.title for task in TASKS), ALSO)],
        body,
        "Made from the docstrings by <code>exactmha reference</code>.",
    )


ALSO = "Also named"
"""The title of the part with names that are no public ones, but stand in signatures or docstrings of these."""


def _value(name: str) -> tuple[str, Any]:
    """Return (module, value) of a public name."""
    value: Any = exactmha
    for part in name.split("."):
        value = getattr(value, part)
    return value.__module__, value


def _also_named(public: Mapping[str, tuple[str, Any]]) -> dict[str, tuple[str, Any]]:
    """Return what signatures, fields and docstrings of the public names name, by name."""
    known = {name.rpartition(".")[2] for name in public}
    found: dict[str, tuple[str, Any]] = {}
    for name, (module, value) in public.items():
        for wanted in _named(name, value) - known - found.keys():
            place = resolved(wanted, module) or resolved(wanted, "exactmha.errors")
            if place and place[0].startswith("exactmha") and wanted[0].isupper():
                found[wanted] = place
    return found


def _named(name: str, value: object) -> set[str]:
    """Return the identifiers in the signatures of a name, and in the backticks of its docstrings."""
    inner = list(members(value)) if isinstance(value, type) else []
    signatures = [signature(name, value), *(member.text for member in inner)]
    documents = [getdoc(value) or "", *(member.document for member in inner)]
    quoted = [text for document in documents for text in _QUOTED.findall(document)]
    return {word for text in (*signatures, *quoted) for word in _IDENTIFIER.findall(text)}


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _task(task: Task, entries: str) -> str:
    example = "\n".join(
        line.strip(" ") if ">>>" in line else line[8:] for line in task.example.strip("\n").splitlines()
    )
    example = re.sub(r"\s*# doctest: .*", "", example).rstrip()
    names = ", ".join(f'<a href="#{name}">{name}</a>' for name in task.names)
    return (
        f'<h2 id="{_anchor(task.title)}">{task.title}</h2><p>{names}</p>'
        f'<pre tabindex="0">{escape(example)}</pre>{entries}'
    )


def _entry(name: str, module: str, value: object, links: Mapping[str, str]) -> str:
    short = name.rpartition(".")[2]
    is_alias = not (isinstance(value, type) or hasattr(value, "__code__"))
    shown = definition(name, module) if is_alias else signature(name, value)
    document = _alias_note(name, module) if is_alias else getdoc(value) or ""
    inner = "".join(_member(member, links) for member in members(value)) if isinstance(value, type) else ""
    return (
        f'<section id="{name}" aria-labelledby="title-{name}"><h3 id="title-{name}">{name}</h3>'
        f'<pre tabindex="0">{_linked(shown, links, {short})}</pre>{_document(document, links)}'
        + (f"<dl>{inner}</dl>" if inner else "")
        + "</section>"
    )


def _alias_note(name: str, module: str) -> str:
    return notes_of(import_module(module)).get(name, "")


def _member(member: Member, links: Mapping[str, str]) -> str:
    return f"<dt><code>{_linked(member.text, links, ())}</code></dt><dd>{_document(member.document, links)}</dd>"


def _linked(text: str, links: Mapping[str, str], own: Collection[str]) -> str:
    """Return code as HTML, with links to the entries of the names in it."""

    def link(found: re.Match[str]) -> str:
        word = found[0]
        if word not in links or word in own or not word[0].isupper():
            return escape(word)
        return f'<a href="#{links[word]}">{word}</a>'

    return "".join(
        _IDENTIFIER.sub(link, part) if i % 2 == 0 else escape(part)  # every other part is a string literal
        for i, part in enumerate(re.split(r"('[^']*')", text.replace("->", "→")))
    ).replace("→", "-&gt;")


def _document(text: str, links: Mapping[str, str]) -> str:
    """Return a docstring as HTML: paragraphs, examples and indented formulas as they stand."""
    return "".join(_block(block, links) for block in filter(None, re.split(r"\n\s*\n", text)))


def _block(text: str, links: Mapping[str, str]) -> str:
    if text.startswith((">>>", "    ")):
        return f'<pre tabindex="0">{escape(text)}</pre>'
    parts: Iterator[str] = (
        f"<code>{_linked(part, links, ())}</code>" if i % 2 else words(part)
        for i, part in enumerate(_QUOTED.split(text))
    )
    return f"<p>{''.join(parts)}</p>"
