"""What to say when nanolint itself fails."""

from __future__ import annotations

import os

ISSUES = "https://github.com/nanolint/nanolint/issues"
VARIABLE = "NANOLINT_TRACEBACK"
NO_MEMORY = "this machine has too little memory (RAM) for it"
HINT = f"nanolint: that is a bug; please report it at {ISSUES} with the output of {VARIABLE}=1"


def describe(error: Exception) -> str:
    """The error in one line."""
    return " ".join(f"internal error: {type(error).__name__}: {error}".split())


def wants_traceback(*, verbose: bool) -> bool:
    """Whether to print where it happened rather than how to report it."""
    return verbose or bool(os.environ.get(VARIABLE))
