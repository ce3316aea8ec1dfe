"""Asking an oracle about configs, and writing down what it says as a table."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


def ask(oracle: Path, nanogpt: Path, options: Mapping[str, object]) -> dict[str, Any]:
    """What the script ``oracle`` says when called with ``options``; True is an option alone."""
    command = [sys.executable, str(oracle), str(nanogpt)]
    for key, value in options.items():
        if value is True:
            command.append(f"--{key}")
        elif value is not False:
            command += [f"--{key}", str(value)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def write(table: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write ``rows`` as JSON, one a line."""
    lines = ",\n".join(json.dumps(row) for row in rows)
    table.write_text(f"[\n{lines}\n]\n")
