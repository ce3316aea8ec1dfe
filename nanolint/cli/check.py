"""``nanolint check``: judge files, and fix them if asked to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint import __version__
from nanolint.cli.launch import read_launch, split_launch
from nanolint.cli.options import (
    add_rule_options,
    add_settings_options,
    add_target_options,
)
from nanolint.cli.parser import Parser, UsageError

if TYPE_CHECKING:
    from nanolint.cli.streams import Streams

DESCRIPTION = """\
Find what would go wrong in nanoGPT training runs, above all running out of GPU memory, from
their config files alone.

  nanolint config/train_gpt2.py --gpu rtx-4070
  nanolint --fix config/*.py
  nanolint -- config/train_gpt2.py --batch_size=32 --compile=False"""

EPILOG = """\
commands, as the first argument:
  check      judge files (the default)
  explain    where the memory of a run goes
  fit        which micro-batch fits which GPU
  launch     judge a launch line: nanolint launch -- torchrun ... train.py config/x.py
  rule       what a rule looks for, and why
  gpus       the cards that nanolint knows by name
  settings   the settings in force, and where they come from
  version    what matters for a bug report
  server     the language server, for editors
  completion what makes bash, zsh or fish complete options and files

exit status: 0 clean or all fixed, 1 errors or warnings remain, 2 wrong usage or unreadable input"""

USAGE = "[check] [OPTION]... [FILE|DIR|-]..."
STDIN = "-"
FORMATS = ("full", "concise", "json", "sarif", "github")


def run(arguments: list[str], streams: Streams) -> int:
    """Judge what ``arguments`` name; returns the exit status."""
    given, launch = split_launch(arguments)
    options = check_parser("nanolint", USAGE, DESCRIPTION, EPILOG).parse(given, streams)
    configs, overrides = read_launch(options.set, launch)
    paths = [*options.files, *configs]
    if STDIN in paths and len(paths) > 1:
        raise UsageError("- (standard input) cannot be judged together with files")
    if options.add_ignore and (options.fix or options.diff or paths == [STDIN]):
        raise UsageError("--add-ignore goes with files, and with neither --fix nor --diff")
    if options.stdin_filename is not None and paths != [STDIN]:
        raise UsageError("--stdin-filename goes with - (standard input)")
    # Only now is it certain that anything will be judged; what follows imports the engine.
    from nanolint.cli import session
    from nanolint.cli.configuration import Configuration

    configuration = Configuration(options, overrides)
    if paths == [STDIN]:
        return session.check_stdin(configuration, streams)
    return session.check_files(paths or ["."], configuration, streams)


def check_parser(prog: str, usage: str, description: str, epilog: str | None = None) -> Parser:
    """A parser of everything that says what to judge, how, and how to report it."""
    parser = Parser(prog, usage, description, epilog)
    parser.add_argument(
        "files", nargs="*", metavar="FILE|DIR|-", help="what to judge; this folder if none is given"
    )
    parser.add_argument("-V", "--version", action="version", version=f"nanolint {__version__}")
    _add_fix_options(parser)
    add_target_options(parser)
    add_rule_options(parser)
    _add_output_options(parser)
    add_settings_options(parser)
    _add_baseline_options(parser)
    files = parser.add_argument_group("files")
    files.add_argument("--stdin-filename", metavar="PATH", help="the name of what - stands for")
    files.add_argument(
        "--force-exclude", action="store_true", help="leave out excluded files even when named"
    )
    return parser


def _add_fix_options(parser: Parser) -> None:
    group = parser.add_argument_group("fixes")
    group.add_argument("--fix", action="store_true", help="rewrite the files; safe fixes only")
    group.add_argument(
        "--unsafe-fixes",
        action="store_true",
        help="also fixes that change numerics, model, data, or what other files inherit",
    )
    group.add_argument("--diff", action="store_true", help="print what --fix would change")
    group.add_argument(
        "--add-ignore",
        action="store_true",
        help="silence what is found, with comments in the files",
    )
    group.add_argument(
        "--exit-non-zero-on-fix", action="store_true", help="exit with 1 if anything was fixed"
    )


def _add_baseline_options(parser: Parser) -> None:
    group = parser.add_argument_group("known findings")
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--write-baseline", metavar="PATH", help="write down all findings there, and exit with 0"
    )
    either.add_argument(
        "--baseline", metavar="PATH", help="leave out the findings that are written down there"
    )


def _add_output_options(parser: Parser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--output-format", choices=FORMATS)
    group.add_argument("--output-file", metavar="PATH", help="write the report there")
    group.add_argument("--statistics", action="store_true", help="count findings by rule")
    group.add_argument("--exit-zero", action="store_true", help="exit with 0 despite findings")
    group.add_argument("-q", "--quiet", action="store_true", help="print findings only")
    group.add_argument("-v", "--verbose", action="store_true", help="say more on what was skipped")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto")
