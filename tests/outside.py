"""Tests that need an outside tool skip where it is missing; with EXACTMHA_REQUIRE_ALL=1 they fail instead."""

import importlib.util
import os

import pytest


def require_module(name: str) -> None:
    """Skip the calling test (or module) when a module is missing, or fail when everything is required."""
    if importlib.util.find_spec(name) is not None:
        return
    reason = f"needs the Python package {name}"
    if os.environ.get("EXACTMHA_REQUIRE_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason, allow_module_level=True)
