"""The options of the commands that judge, and what several commands share of them."""

from __future__ import annotations

from nanolint import __version__
from nanolint.cli.parser import Parser, comma_separated, positive, version
from nanolint.settings.formats import FORMATS

FAIL_ON = ("never", "error", "warning", "unknown")  # each with all before it


def add_one_file(parser: Parser) -> None:
    """The one file that a command is about, or standard input."""
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE|-",
        help="a config, a train.py, or a launch script (run.sh:12); - is standard input",
    )
    parser.add_argument(
        "--stdin-filename", metavar="PATH", help="name of the file on standard input"
    )


def add_target_options(parser: Parser) -> None:
    """The options that describe the run and the machine: for check and explain alike."""
    group = parser.add_argument_group("the run and its machine")
    group.add_argument(
        "--gpu",
        action="append",
        metavar="NAME|SIZE|auto",
        help="target GPU: rtx-4070, 8xA100-40GB, 12GB, 11.69GiB; repeat it to check several",
    )
    group.add_argument(
        "--in-use",
        metavar="SIZE|auto",
        help="memory already used on the card, such as 2GiB; auto asks the local card",
    )
    group.add_argument("--world-size", type=positive, metavar="N", help="number of processes")
    group.add_argument("--train-script", metavar="PATH", help="the train.py that runs the config")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a key, like nanoGPT's --key=value; repeat it for several",
    )
    group.add_argument(
        "--torch-version",
        type=version,
        metavar="X.Y",
        help="PyTorch release (default: pinned or installed by the project, else the newest)",
    )
    group.add_argument(
        "--platform",
        choices=("linux", "windows", "wsl", "macos"),
        help="system of the run (default: windows on Windows, else linux)",
    )
    group.add_argument(
        "--allocator",
        choices=("default", "expandable"),
        help="expandable: as PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True does",
    )


def add_settings_options(parser: Parser) -> None:
    """Which settings file counts."""
    group = parser.add_argument_group("settings")
    either = group.add_mutually_exclusive_group()
    either.add_argument("--config", metavar="PATH", help="use this settings file")
    either.add_argument("--isolated", action="store_true", help="use no settings file")


def add_rule_options(parser: Parser) -> None:
    """Which rules run. Selectors are codes, prefixes of codes, names, or ALL."""
    group = parser.add_argument_group("rules: codes, prefixes of codes, names, or ALL")
    for option, text in (
        ("--select", "run only these rules"),
        ("--ignore", "do not run these rules"),
        ("--extend-select", "run these rules, too"),
    ):
        group.add_argument(
            option, action="append", type=comma_separated, metavar="RULES", help=text
        )
    group.add_argument(
        "--per-file-ignores",
        action="append",
        type=comma_separated,
        metavar="PATTERN:RULE",
        help="do not run a rule on files that match a pattern",
    )


def check_parser(prog: str, usage: str, description: str, epilog: str | None = None) -> Parser:
    """A parser of everything that says what to judge, how, and how to report it."""
    parser = Parser(prog, usage, description, epilog)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE|DIR|-",
        help="files and folders to check (default: this folder)",
    )
    parser.add_argument("-V", "--version", action="version", version=f"nanolint {__version__}")
    _add_fix_options(parser)
    add_target_options(parser)
    add_rule_options(parser)
    _add_output_options(parser)
    add_settings_options(parser)
    _add_baseline_options(parser)
    files = parser.add_argument_group("files")
    files.add_argument(
        "--stdin-filename", metavar="PATH", help="name of the file on standard input"
    )
    files.add_argument(
        "--force-exclude", action="store_true", help="skip excluded files even if they are named"
    )
    files.add_argument(
        "--exclude",
        action="append",
        type=comma_separated,
        metavar="PATTERNS",
        help="skip files that match, in addition to those that the settings exclude",
    )
    files.add_argument(
        "--show-files",
        action="store_true",
        help="list the files and what each contains, without a check",
    )
    files.add_argument("--watch", action="store_true", help="check again after each change")
    return parser


def _add_fix_options(parser: Parser) -> None:
    group = parser.add_argument_group("fixes")
    group.add_argument("--fix", action="store_true", help="apply the safe fixes")
    group.add_argument(
        "--unsafe-fixes",
        action="store_true",
        help="apply unsafe fixes, too: they change numerics, model, data, or other runs",
    )
    group.add_argument(
        "--diff", action="store_true", help="print the changes of --fix, and write none"
    )
    group.add_argument(
        "--add-ignore",
        action="store_true",
        help="write a comment that silences each finding",
    )


def _add_baseline_options(parser: Parser) -> None:
    group = parser.add_argument_group("baseline: findings accepted earlier")
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--write-baseline",
        metavar="PATH",
        help="save the findings of today to PATH, and exit with 0",
    )
    either.add_argument("--baseline", metavar="PATH", help="hide the findings that PATH contains")


def _add_output_options(parser: Parser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output-format", choices=tuple(FORMATS), help="format of the report (default: full)"
    )
    group.add_argument("--output-file", metavar="PATH", help="write the report to PATH")
    group.add_argument(
        "--statistics", action="store_true", help="count the findings of each rule, too"
    )
    group.add_argument(
        "--min-severity",
        choices=("info", "warning", "error"),
        default="info",
        help="hide findings below this severity",
    )
    group.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        default="warning",
        help="exit with 1 from this severity on; unknown: also for runs without a number "
        "(default: warning)",
    )
    group.add_argument("-q", "--quiet", action="store_true", help="print findings only")
    group.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="add details, and list skipped files with the reason",
    )
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto")
