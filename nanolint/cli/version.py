"""``nanolint version``: what matters for a bug report."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint import __version__
from nanolint.cli.parser import Parser
from nanolint.linting.registry import ENTRY_POINT_GROUP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.cli.streams import Streams

DESCRIPTION = "Print the versions that a bug report needs."
PACKAGES = ("libcst", "pydantic", "rich", "pathspec", "nvidia-ml-py", "pygls")


def run(arguments: list[str], streams: Streams) -> int:
    """Print the versions; returns the exit status."""
    Parser("nanolint version", "", DESCRIPTION).parse(arguments, streams)
    rows = list(_rows())
    widest = max(len(name) for name, _ in rows)
    for name, text in rows:
        streams.stdout.write(f"{name:<{widest}}  {text}\n")
    return 0


def _rows() -> Iterator[tuple[str, str]]:
    yield "nanolint", f"{__version__} ({Path(__file__).parents[1]})"
    yield "python", f"{platform.python_version()} {platform.python_implementation()}"
    yield "system", f"{platform.platform()}, encoding {sys.getfilesystemencoding()}"
    for package in PACKAGES:
        yield package, _version(package)
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        found = entry.dist
        yield "rule pack", f"{entry.name} ({found.name} {found.version})" if found else entry.name
    yield "local card", _local_card()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _local_card() -> str:
    from nanolint.gpus.local import local_gpu
    from nanolint.units import format_bytes

    found = local_gpu()
    if found is None:
        return "none found"
    return f"{found.gpu.name}, {format_bytes(found.gpu.total_bytes)}"
