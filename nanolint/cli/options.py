"""The options that check, explain and settings share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.cli.parser import comma_separated, positive, version

if TYPE_CHECKING:
    from nanolint.cli.parser import Parser


def add_target_options(parser: Parser) -> None:
    """The options that describe the run and the machine: for check and explain alike."""
    group = parser.add_argument_group("the run and its machine")
    group.add_argument(
        "--gpu",
        action="append",
        metavar="NAME|SIZE|auto",
        help="target GPU: rtx-4070, 8xA100-40GB, 12GB, 11.69GiB; repeatable, each is judged",
    )
    group.add_argument("--in-use", metavar="SIZE", help="memory that other programs hold: 2GiB")
    group.add_argument("--world-size", type=positive, metavar="N", help="number of processes")
    group.add_argument("--train-script", metavar="PATH", help="the train.py that runs the config")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a key, as nanoGPT's --key=value does; repeatable",
    )
    group.add_argument("--torch-version", type=version, metavar="X.Y")
    group.add_argument("--platform", choices=("linux", "windows", "wsl", "macos"))
    group.add_argument("--allocator", choices=("default", "expandable"))


def add_settings_options(parser: Parser) -> None:
    """Which settings file counts."""
    group = parser.add_argument_group("settings")
    group.add_argument("--config", metavar="PATH", help="use this settings file")
    group.add_argument("--isolated", action="store_true", help="use no settings file")


def add_rule_options(parser: Parser) -> None:
    """Which rules run. Selectors are codes, prefixes of codes, names, or ALL."""
    group = parser.add_argument_group("rules: codes, prefixes of codes, names, or ALL")
    for option, text in (
        ("--select", "run these rules only"),
        ("--ignore", "leave these rules out"),
        ("--extend-select", "run these rules too"),
    ):
        group.add_argument(
            option, action="append", type=comma_separated, metavar="RULES", help=text
        )
    group.add_argument(
        "--per-file-ignores",
        action="append",
        type=comma_separated,
        metavar="PATTERN:RULE",
        help="leave a rule out for files that match a pattern",
    )
