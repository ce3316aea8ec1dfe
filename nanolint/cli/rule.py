"""``nanolint rule``: the page of a rule, or the list of all rules."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nanolint.cli.parser import Parser, UsageError
from nanolint.cli.streams import printer

if TYPE_CHECKING:
    from nanolint.cli.streams import Streams
    from nanolint.report.printer import Printer
    from nanolint.rule.api import Rule

DESCRIPTION = "Print what a rule reports, and why. Without a rule, list all rules."


def run(arguments: list[str], streams: Streams) -> int:
    """Print what ``arguments`` ask for; returns the exit status."""
    options = parser().parse(arguments, streams)
    if options.all and options.rule:
        raise UsageError("--all prints every page; leave out the rule")
    from nanolint.linting import registry

    loaded = registry.load()
    for problem in loaded.problems:
        streams.warn(f"nanolint: {problem}")
    try:
        rules = (loaded.find(options.rule),) if options.rule else loaded.rules
    except registry.UnknownRule as error:
        raise UsageError(str(error)) from error
    if options.format == "json":
        described = [_described(rule) for rule in rules]
        answer = described[0] if options.rule else described
        streams.stdout.write(json.dumps(answer, indent=2) + "\n")
    elif options.rule or options.all:
        for rule in rules:
            _print_page(rule, printer(streams.stdout, options.color))
    else:
        _print_list(rules, printer(streams.stdout, options.color))
    return 0


def parser() -> Parser:
    """The options of the command."""
    made = Parser("nanolint rule", "[CODE|NAME] [OPTION]...", DESCRIPTION)
    made.add_argument("rule", nargs="?", metavar="CODE|NAME")
    made.add_argument("--all", action="store_true", help="print the page of every rule")
    made.add_argument("--format", choices=("text", "json"), default="text")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    return made


def _described(rule: Rule) -> dict[str, Any]:
    from nanolint.report.results import page_text, page_url

    return {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary,
        "severity": rule.severity.value,
        "fix": rule.fix.value,
        "default": rule.default,
        "explanation": page_text(rule),
        "url": page_url(rule.code),
    }


def _print_page(rule: Rule, out: Printer) -> None:
    from nanolint.report.results import page_text
    from nanolint.report.rule_page import for_terminal

    if not out.color:  # the page is readable as it is
        out.stream.write(f"{page_text(rule).rstrip()}\n\n")
        return
    out.markdown(for_terminal(rule))


def _print_list(rules: tuple[Rule, ...], out: Printer) -> None:
    widest = max((len(rule.name) for rule in rules), default=0)
    for rule in rules:
        off = "" if rule.default else " (off by default)"
        name = f"{rule.name:<{widest}}"
        out.line((rule.code, "bold"), f"  {name}  {rule.severity.value:<7}  {rule.summary}{off}")
