"""Every kind of certificate, by its format, with the independent checker of it."""

from __future__ import annotations

from typing import Any

from exactmha.certificates import budget_checker, checker, transformer_checker

KINDS: dict[str, Any] = {
    **checker.KINDS,
    transformer_checker.FORMAT: transformer_checker.TransformerChecker,
    budget_checker.FORMAT: budget_checker.BudgetChecker,
}


def check_text(text: str, name: str = "certificate") -> None:
    """Check a certificate before it is written; raises `Rejected` or `Unreadable` as `exactmha check` would say."""
    checker.opened(text.encode(), name, KINDS).check()
