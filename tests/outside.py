"""Tests that need an outside tool skip where it is missing; with EXACTMHA_REQUIRE_ALL=1 they fail instead."""

import importlib.util
import os
import shutil
from typing import NoReturn

import pytest


def require_module(name: str) -> None:
    """Skip the calling test (or module) when a module is missing, or fail when everything is required."""
    if importlib.util.find_spec(name) is None:
        _missing(f"needs the Python package {name}")


def require_program(*names: str) -> str:
    """Return the path of the first of these programs that is installed; skip or fail as above when none is."""
    for name in names:
        path = shutil.which(name)
        if path is not None:
            return path
    return _missing(f"needs the program {' or '.join(names)}")


def _missing(reason: str) -> NoReturn:
    if os.environ.get("EXACTMHA_REQUIRE_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason, allow_module_level=True)
