"""``nanolint launch``: judge the run that a launch line starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.cli.launch import as_line, launches_in, read_sets, split_launch
from nanolint.cli.options import check_parser
from nanolint.cli.parser import UsageError

if TYPE_CHECKING:
    from nanolint.cli.parser import Parser
    from nanolint.cli.runs import Run
    from nanolint.cli.streams import Streams

NAME = "<launch line>"  # under which findings stand in it
DESCRIPTION = """\
Check the run that a launch line starts: its processes, script, config,
overrides and allocator.

  nanolint launch --gpu a100-40gb -- \\
    torchrun --nproc_per_node=8 train.py config/train_gpt2.py
  nanolint run.sh    checks the launch lines of a shell script"""


def parser() -> Parser:
    """The options of the command."""
    return check_parser("nanolint launch", "[OPTION]... -- COMMAND...", DESCRIPTION)


def run(arguments: list[str], streams: Streams) -> int:
    """Judge the launch line behind ``--``; returns the exit status."""
    given, words = split_launch(arguments)
    options = parser().parse(given, streams)
    if options.files or not words:
        raise UsageError(
            "put the launch line after --, as in: "
            "nanolint launch -- torchrun --nproc_per_node=8 train.py config/x.py"
        )
    from nanolint.cli import session
    from nanolint.cli.configuration import Configuration
    from nanolint.cli.runs import Source, runs_of
    from nanolint.report.printer import printable

    sets = read_sets(options.set)
    runs: list[Run] = []
    line = Source(NAME, as_line(words))
    for launched in launches_in(line.text):
        for remark in () if options.quiet else launched.remarks:
            streams.warn(f"nanolint: {printable(remark)}")
        runs += runs_of(launched, Configuration(options, sets, launched), line)
    configuration = Configuration(options, sets)
    return session.check_runs(runs, [], configuration, streams, refuse=True)
