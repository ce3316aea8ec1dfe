"""Write what was found in the format that was asked for, and turn it into an exit status."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from nanolint.cli import bugs
from nanolint.cli.parser import UsageError
from nanolint.cli.streams import printer
from nanolint.diagnostics import Safety, Severity
from nanolint.files.door import reason
from nanolint.linting import registry
from nanolint.report import statistics, summary
from nanolint.report.excerpt import without_copies
from nanolint.rule.api import NO_TARGET
from nanolint.settings.formats import FOR_PROGRAMS, FORMATS

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from nanolint.cli.configuration import Configuration
    from nanolint.cli.streams import Streams
    from nanolint.report.results import FileResult, Results

CLEAN, FINDINGS, FAILURE = 0, 1, 2
FULL = "full"  # the format for people, which begins with the verdict

NAME_A_TARGET = (
    "no target GPU, so the memory and GPU rules are off; name one with --gpu rtx-4070 "
    '(`nanolint gpus` lists them), NANOLINT_GPU, or gpu = "rtx-4070" under [tool.nanolint]'
)


def report(results: Results, configuration: Configuration, streams: Streams) -> int:
    """Report ``results``; returns the exit status."""
    options = configuration.options
    if options.write_baseline is not None:
        return _write_baseline(results, configuration, streams)
    if options.baseline is not None:
        from nanolint.cli.baseline import without_known

        results = without_known(results, Path(options.baseline))
    results = without_copies(_severe(results, options.min_severity))
    name = configuration.settings_of(Path()).settings.output_format
    style = "diff" if options.diff else name
    module = import_module(FORMATS.get(style, f"nanolint.report.{style}"))
    with _output(options, streams) as out:
        writer = printer(out, options.color)
        module.render(results, writer)
        if options.statistics and not options.diff and style not in FOR_PROGRAMS:
            statistics.render(results, writer)
        if not (options.quiet or options.diff or style in FOR_PROGRAMS):
            summary.render(results, writer, verbose=options.verbose, told=style == FULL)
    if options.statistics and style in FOR_PROGRAMS:
        statistics.render(results, printer(streams.stderr, options.color))
    _tell(results, streams, configuration)
    return _status(results, options)


def _severe(results: Results, least: str) -> Results:
    """``results`` without the findings that are less than ``least``."""
    order = list(Severity)  # the worst first
    kept = order[: order.index(Severity(least)) + 1]
    if len(kept) == len(order):
        return results
    files = [
        replace(file, diagnostics=tuple(d for d in file.diagnostics if d.severity in kept))
        for file in results.files
    ]
    return replace(results, files=files)


def _write_baseline(results: Results, configuration: Configuration, streams: Streams) -> int:
    options = configuration.options
    from nanolint.cli.baseline import write_baseline

    write_baseline(Path(options.write_baseline), results)
    _tell(results, streams, configuration)
    if not options.quiet:
        count = _number(len(results.findings), "known finding")
        streams.warn(f"Wrote {count} to {options.write_baseline}.")
    failed = any(file.error is not None for file in results.files)
    return FAILURE if failed else CLEAN


@contextlib.contextmanager
def _output(options: Namespace, streams: Streams) -> Iterator[TextIO]:
    path = options.output_file
    if path is None:
        yield streams.stdout
        return
    how: dict[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace", "newline": "\n"}
    try:
        with Path(path).open("w", **how) as file:
            yield file
    except OSError as error:
        raise UsageError(f"--output-file: {path}: {reason(error)}") from error


def _tell(results: Results, streams: Streams, configuration: Configuration) -> None:
    """What the user must know beside the findings, on stderr."""
    options = configuration.options
    streams.stdout.flush()  # the answer comes first
    traced = bugs.wants_traceback(verbose=options.verbose)
    for file in results.files:
        if file.error is not None:
            streams.warn(f"nanolint: {file.name}: {file.error}")
        if file.trace and traced:
            streams.warn_as_is(file.trace.rstrip())
        for dropped in file.dropped:
            code = dropped.diagnostic.code
            streams.warn(f"nanolint: {file.name}: left out the fix of {code}: {dropped.reason}")
    if any(file.trace for file in results.files) and not traced:
        streams.warn(bugs.HINT)
    if options.quiet:
        return
    problems = dict.fromkeys(registry.load().problems)
    problems |= dict.fromkeys(remark for file in results.files for remark in file.remarks)
    for problem in problems:
        streams.warn(f"nanolint: {problem}")
    without = [f for f in results.files if any(skip.reason == NO_TARGET for skip in f.skipped)]
    if without:
        streams.warn(f"nanolint: {_no_target(without, configuration)}")
    if options.diff:
        fixed, files = len(results.applied), sum(bool(file.applied) for file in results.files)
        if fixed:
            streams.warn(f"Would fix {_number(fixed, 'finding')} in {_number(files, 'file')}.")
        elif not options.unsafe_fixes and results.fixable(Safety.UNSAFE):
            streams.warn("Nothing to fix safely; --unsafe-fixes shows the other changes.")
        else:
            streams.warn("Nothing to fix.")


def _no_target(files: Sequence[FileResult], configuration: Configuration) -> str:
    """Why ``files`` are judged for no GPU: nobody named one, or only for other files."""
    first = files[0].name
    sourced = configuration.settings_of(Path(first).parent)
    if not sourced.settings.target:
        return NAME_A_TARGET
    patterns = ", ".join(pattern for table in sourced.settings.target for pattern in table.files)
    others = f" and {_number(len(files) - 1, 'other file')}" if len(files) > 1 else ""
    return (
        f"no target GPU for {first}{others}, so the memory and GPU rules are off: the "
        f"targets in {sourced.origin('target')} apply only to files that match {patterns}"
    )


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'s' if count != 1 else ''}"


def _status(results: Results, options: Namespace) -> int:
    """The exit status: see the table of docs/trust.md."""
    if any(file.error is not None for file in results.files):
        return FAILURE
    if options.fail_on == "never":
        return CLEAN
    if options.diff:
        return FINDINGS if results.applied else CLEAN
    failing = results.severities[Severity.ERROR]
    if options.fail_on != "error":
        failing += results.severities[Severity.WARNING]
    if options.fail_on == "unknown":
        failing += len(results.unknown)
    return FINDINGS if failing else CLEAN
