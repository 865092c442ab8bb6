"""Options and parameter types that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import click

from exactmha.errors import InputError
from exactmha.field_names import FIELD_NAMES
from exactmha.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from exactmha.attention import Model

F = TypeVar("F", bound=Callable[..., Any])
_MOST_SEED = 2**64 - 1


class LimitSetting(click.ParamType[tuple[str, int]]):
    """NAME=VALUE for a field of `Limits`."""

    name = "NAME=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Return (name, value)."""
        if isinstance(value, tuple):
            return value
        name, _, number = str(value).partition("=")
        known = [field.name for field in fields(Limits)]
        if name not in known or not re.fullmatch("[0-9]{1,12}", number):
            self.fail(
                f"{value[:60]!r} is not NAME=VALUE with NAME one of {', '.join(known)} and VALUE a number", param, ctx
            )
        return name, int(number)


def _limits(_ctx: click.Context, _param: click.Parameter, settings: tuple[tuple[str, int], ...]) -> Limits:
    return replace(DEFAULT_LIMITS, **dict(settings))


def limit_option(function: F) -> F:
    """Add --limit, which raises (or lowers) a documented bound on inputs."""
    return click.option(
        "--limit",
        "limits",
        type=LimitSetting(),
        multiple=True,
        callback=_limits,
        help="Change a bound on inputs, e.g. number_digits=50000; repeatable. See exactmha/limits.py.",
    )(function)


def seed_option(function: F) -> F:
    """Add --seed."""
    return click.option(
        "--seed", type=click.IntRange(0, _MOST_SEED), default=0, show_default=True, help="Same seed, same bytes out."
    )(function)


def json_option(function: F) -> F:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")(function)


def output_option(function: F) -> F:
    """Add -o / --output."""
    return click.option("-o", "--output", help="Write to this file instead of standard output.")(function)


def field_option(function: F) -> F:
    """Add --field."""
    return click.option(
        "--field",
        "field_name",
        type=click.Choice(FIELD_NAMES),
        default="exponential",
        show_default=True,
        help="Exact field of the random instance.",
    )(function)


def probability(text: str, limits: Limits) -> Fraction:
    """Read a failure bound such as 2^-40 or 1e-12: an exact rational in (0, 1]."""
    from exactmha.forms import parse_rational

    try:
        value = parse_rational(text, limits)
    except InputError as error:
        raise error.located(field="--failure-bound") from None
    if value is None or not 0 < value <= 1 or value.denominator.bit_length() > 4096:
        raise InputError(
            "must be a rational in (0, 1] with at most 4096 bits",
            field="--failure-bound",
            value=text,
            hint="e.g. 2^-40",
        )
    return Fraction(int(value.numerator), int(value.denominator))


def given_options(ctx: click.Context) -> set[str]:
    """Return the names of the parameters that the user gave, whatever their values."""
    return {name for name in ctx.params if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT}


def write_or_print(text: str, output: str | None) -> None:
    """Write `text` to a file, atomically, or to standard output."""
    if output is None:
        click.echo(text, nl=False)
        return
    from exactmha.files import write_atomically

    write_atomically(output, text)


def load_model(path: str, limits: Limits) -> Model:
    """Read an instance file."""
    from exactmha.instance import load

    return load(path, limits)
