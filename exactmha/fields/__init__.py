"""The exact fields: where equality is decidable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactmha.field_names import FIELD_NAMES
from exactmha.fields.exponential import ExponentialField, ExponentialValue
from exactmha.fields.interface import Value
from exactmha.fields.model_field import ExactField
from exactmha.fields.radical import RadicalField, RadicalValue
from exactmha.fields.rational import RationalField, RationalValue

if TYPE_CHECKING:  # witnesses: each type satisfies its protocol
    _fields: tuple[type[ExactField], ...] = (RationalField, RadicalField, ExponentialField)
    _values: tuple[type[Value], ...] = (RationalValue, RadicalValue, ExponentialValue)

__all__ = [
    "FIELD_NAMES",
    "ExactField",
    "ExponentialField",
    "ExponentialValue",
    "RadicalField",
    "RadicalValue",
    "RationalField",
    "RationalValue",
]
