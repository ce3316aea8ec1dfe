"""What stands after ``--``, in nanoGPT's own grammar: config files and ``--key=value``."""

from __future__ import annotations

from nanolint.cli.parser import UsageError

TYPE_CHECKING = False  # as in main.py: importing typing takes a while
if TYPE_CHECKING:
    from collections.abc import Sequence

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
