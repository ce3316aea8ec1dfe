"""What stands after ``--``, in nanoGPT's own grammar: config files and ``--key=value``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.cli.parser import UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from nanolint.cli.parser import Parser
    from nanolint.cli.streams import Streams
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
