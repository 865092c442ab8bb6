"""The names of the exact fields, importable without FLINT, so that `--help` is fast."""

FIELD_NAMES = ("rational", "radical", "exponential")
