"""What stands after ``--``, in nanoGPT's own grammar: config files and ``--key=value``."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from nanolint.cli.parser import UsageError
from nanolint.files.door import is_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nanolint.cli.parser import Parser
    from nanolint.cli.streams import Streams
    from nanolint.run.launch import Launch
    from nanolint.source.values import Value

SEPARATOR = "--"


def split_launch(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments before and after the first ``--``."""
    given = list(arguments)
    if SEPARATOR not in given:
        return given, []
    at = given.index(SEPARATOR)
    return given[:at], given[at + 1 :]


def read_launch(
    sets: Sequence[str], launch: Sequence[str]
) -> tuple[list[str], tuple[tuple[str, Value], ...]]:
    """The config files in ``launch``, and the overrides of ``--set`` and then of ``launch``."""
    if not sets and not launch:
        return [], ()
    from nanolint.run.overrides import parse_launch_arguments, parse_override

    try:
        options = tuple(parse_override(each) for each in sets)
    except ValueError as error:
        raise UsageError(f"--set: {error}") from error
    try:
        configs, overrides = parse_launch_arguments(launch)
    except ValueError as error:
        raise UsageError(f"after --: {error}") from error
    return [str(config) for config in configs], (*options, *overrides)


def read_one_file(
    command: str, parser: Parser, arguments: Sequence[str], streams: Streams
) -> tuple[Namespace, str, tuple[tuple[str, Value], ...]]:
    """The options, the one FILE and the overrides of a command that takes just one."""
    given, launch = split_launch(arguments)
    options = parser.parse(given, streams)
    configs, overrides = read_launch(options.set, launch)
    files = [*options.files, *configs]
    if len(files) != 1:
        parser.error(f"{command} takes one FILE, found {len(files)}")
    return options, files[0], overrides


def launch_options(
    options: Namespace, sets: Sequence[tuple[str, Value]], launch: Launch, script: Path
) -> tuple[Namespace, tuple[tuple[str, Value], ...]]:
    """``options`` with what the launch line says where they are silent, and all overrides.

    ``script`` is where the line's training script lies.
    """
    said = {
        "world_size": launch.world_size,
        "allocator": launch.allocator,
        "train_script": str(script) if is_file(script) else None,
    }
    given = vars(options)
    silent = {name: value for name, value in said.items() if given.get(name) is None}
    return Namespace(**{**given, **silent}), (*sets, *launch.overrides)
