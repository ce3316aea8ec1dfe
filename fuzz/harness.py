"""What the drivers share: atheris, with nanolint's own code watched for coverage."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import atheris

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "rules")]

# So many bytes of input at most: what is larger is refused by bounds that tests hold.
MOST_BYTES = 2_000


def watched() -> object:
    """Inside this context, imports of nanolint are instrumented."""
    return atheris.instrument_imports(include=["nanolint", "nanolint_rules"])


def run(one_input: Callable[[bytes], None]) -> None:
    """Feed ``one_input`` until the arguments of the command line say that it is enough."""
    arguments = [
        sys.argv[0],
        f"-max_len={MOST_BYTES}",
        "-len_control=0",
        "-timeout=20",
        *sys.argv[1:],
    ]
    atheris.Setup(arguments, one_input)
    atheris.Fuzz()


def text_of(data: bytes) -> str:
    """Any text that an editor or a file can hold."""
    return data.decode("utf-8", "replace")
