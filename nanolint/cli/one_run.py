"""The one run that ``explain`` and ``fit`` are about, however it is named."""

from __future__ import annotations

from nanolint.cli.launch import as_line, launches_in, read_launch, split_launch, starts_script
from nanolint.cli.parser import UsageError

TYPE_CHECKING = False  # `typing` takes longer to import than `--help` takes
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from nanolint.cli.launched import Launched
    from nanolint.cli.parser import Parser
    from nanolint.cli.streams import Streams


def _one_launch(words: Sequence[str], streams: Streams) -> Launched | None:
    """The run that a program among ``words`` starts; None where they begin with a config."""
    if not starts_script(words):
        return None
    found = launches_in(as_line(words))
    if len(found) != 1:
        raise UsageError(f"after --: {len(found) or 'no'} runs; give one")
    _remark(found[0], streams)
    return found[0]


def read_one_run(
    command: str, parser: Parser, arguments: Sequence[str], streams: Streams
) -> tuple[Namespace, str, Launched]:
    """The options, the file and the launch of a command that takes one run.

    The file is the one that is read last, with all that the run reads in its order.
    """
    from dataclasses import replace
    from pathlib import Path

    given, words = split_launch(arguments)
    options = parser.parse(given, streams)
    started = _one_launch(words, streams) if words and not options.files else None
    if started is not None:
        return options, str(started.files[-1]), started
    if len(options.files) == 1 and _may_be_launch_file(options.files[0]):
        from nanolint.cli.chosen_run import only_run

        named = only_run(command, options.files[0], words, options, streams)
        if named is not None:
            _remark(named, streams)
            return options, str(named.files[-1]), named
    launch = read_launch(words, options.files)
    if len(options.files) > 1 or not (options.files or launch.files):
        parser.error(f"{command} takes one FILE, found {len(options.files)}")
    if not launch.files:
        return options, options.files[0], launch
    first = tuple(map(Path, options.files))
    launch = replace(launch, arguments=(*first, *launch.arguments))
    return options, str(launch.files[-1]), launch


def _may_be_launch_file(given: str) -> bool:
    """Cheaply: whether ``given`` is no config or script."""
    return not given.endswith(".py") and given != "-"


def _remark(launched: Launched, streams: Streams) -> None:
    from nanolint.report.printer import printable

    for remark in launched.remarks:
        streams.warn(f"nanolint: {printable(remark)}")
