"""``nanolint launch``: judge the run that a launch line starts."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from nanolint.cli.launch import launch_options, read_launch, split_launch
from nanolint.cli.options import check_parser
from nanolint.cli.parser import UsageError

if TYPE_CHECKING:
    from nanolint.cli.streams import Streams

DESCRIPTION = """\
Judge the run that a launch line starts: its world size, script, config, overrides and allocator.

  nanolint launch --gpu a100-40gb -- torchrun --nproc_per_node=8 train.py config/train_gpt2.py
  nanolint run.sh    judges the launch lines in a shell script"""


def run(arguments: list[str], streams: Streams) -> int:
    """Judge the launch line behind ``--``; returns the exit status."""
    given, words = split_launch(arguments)
    parser = check_parser("nanolint launch", "[OPTION]... -- COMMAND...", DESCRIPTION)
    options = parser.parse(given, streams)
    if options.files or not words:
        raise UsageError(
            "the launch line stands after --, as in: "
            "nanolint launch -- torchrun --nproc_per_node=8 train.py config/x.py"
        )
    from nanolint.cli import session
    from nanolint.cli.configuration import Configuration
    from nanolint.run.launch import NotALaunch, read_launch_line

    try:
        launch = read_launch_line(shlex.split(words[0]) if len(words) == 1 else words)
    except ValueError as error:  # NotALaunch, or a quote that is not closed
        wrong = "" if isinstance(error, NotALaunch) else "cannot split the launch line: "
        raise UsageError(f"after --: {wrong}{error}") from error
    for remark in () if options.quiet else launch.remarks:
        streams.warn(f"nanolint: {remark}")
    _, sets = read_launch(options.set, ())
    launched, overrides = launch_options(options, sets, launch, launch.script)
    if launched.train_script is None and not options.quiet:
        streams.warn(f"nanolint: {launch.script}: no such file; judged as nanoGPT's own train.py")
    paths = [str(path) for path in launch.configs or (launch.script,)]
    configuration = Configuration(launched, overrides)
    return session.check_files(paths, configuration, streams, as_runs=True)
