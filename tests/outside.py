"""Tests that need an outside tool skip where it is missing; with EXACTMHA_REQUIRE_ALL=1 they fail instead."""

import importlib.util
import os
import shutil

import pytest


def require_module(name: str) -> None:
    """Skip the calling test (or module) when a module is missing, or fail when everything is required."""
    if importlib.util.find_spec(name) is not None:
        return
    _missing(f"needs the Python package {name}")


def require_program(name: str) -> None:
    """The same for a program."""
    if shutil.which(name) is None:
        _missing(f"needs the program {name}")


def _missing(reason: str) -> None:
    if os.environ.get("EXACTMHA_REQUIRE_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason, allow_module_level=True)
