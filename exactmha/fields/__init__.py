"""The exact fields: where equality is decidable."""

from __future__ import annotations

from exactmha.fields.exponential import ExponentialField, ExponentialValue
from exactmha.fields.radical import RadicalField, RadicalValue
from exactmha.fields.rational import RationalField, RationalValue

ExactField = RationalField | RadicalField | ExponentialField
FIELD_NAMES = ("rational", "radical", "exponential")

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
