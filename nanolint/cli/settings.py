"""``nanolint settings``: every setting in force for a file, and where it came from."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanolint.cli.configuration import Configuration
from nanolint.cli.options import add_rule_options, add_settings_options, add_target_options
from nanolint.cli.parser import Parser, UsageError
from nanolint.cli.streams import printer
from nanolint.files.door import exists
from nanolint.settings.schema import DEFAULT, Sourced

if TYPE_CHECKING:
    from nanolint.cli.streams import Streams
    from nanolint.linting.plan import Plan
    from nanolint.report.printer import Printer

DESCRIPTION = "Print every setting in force for a file, and where each comes from."


def run(arguments: list[str], streams: Streams) -> int:
    """Print the settings; returns the exit status."""
    options = parser().parse(arguments, streams)
    configuration = Configuration(options)
    path: Path = options.file
    if not exists(path):
        raise UsageError(f"no such file or folder: {path}")
    folder = path if path.is_dir() else path.parent
    sourced = configuration.settings_of(folder)
    plan = configuration.plan_of(folder)
    rows = [_row(key.name, sourced, plan) for key in fields(sourced.settings)]
    if options.format == "json":
        answer = {key: {"value": value, "origin": origin} for key, value, origin in rows}
        streams.stdout.write(json.dumps(answer, indent=2) + "\n")
    else:
        _print_table(rows, printer(streams.stdout, options.color))
    return 0


def parser() -> Parser:
    """The options of the command."""
    made = Parser("nanolint settings", "[FILE|DIR] [OPTION]...", DESCRIPTION)
    made.add_argument("file", nargs="?", type=Path, default=Path(), metavar="FILE|DIR")
    add_target_options(made)
    add_rule_options(made)
    add_settings_options(made)
    made.add_argument("--format", choices=("text", "json"), default="text")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    return made


def _row(name: str, sourced: Sourced, plan: Plan) -> tuple[str, Any, str]:
    """A key, its value and its origin. The GPU is told as it was found."""
    key = name.replace("_", "-")
    if key == "gpu":
        labels = [target.label for target in plan.chosen.targets]
        return key, labels, _shown_origin(plan.chosen.origin)
    if key == "target":
        tables = [asdict(table) for table in sourced.settings.target]
        return key, tables, _shown_origin(sourced.origin(key))
    return key, getattr(sourced.settings, name), _shown_origin(sourced.origin(key))


def _shown_origin(origin: str) -> str:
    """A file below the working folder by its relative name."""
    here = f"{Path.cwd()}{os.sep}"
    return origin.removeprefix(here)


def _print_table(rows: list[tuple[str, Any, str]], out: Printer) -> None:
    widest = max(len(key) for key, _, _ in rows)
    for key, value, origin in rows:
        shown = json.dumps(value, ensure_ascii=False) if value is not None else "not set"
        where = "" if origin == DEFAULT else f"  # {origin}"
        head = f"{key:<{widest}}  "
        out.paragraph((head, "bold"), text=f"{shown}{where}", indent=" " * len(head))
