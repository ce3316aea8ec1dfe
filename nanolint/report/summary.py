"""The lines below the findings: how many, what was fixed, what can be, what was skipped."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from nanolint.diagnostics import Safety, Severity
from nanolint.report import runs
from nanolint.report.printer import printable
from nanolint.rule.api import Need
from nanolint.run.trust import Trust
from nanolint.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.diagnostics import Diagnostic
    from nanolint.report.printer import Printer
    from nanolint.report.results import FileResult, Results

# Rules that a file gives no occasion to run are no news; these needs the user can do something
# about. A missing target is told once for all files, on stderr.
TELLING = (Need.RUN, Need.TRAIN_SCRIPT, Need.GPU)


def render(
    results: Results, printer: Printer, *, verbose: bool = False, told: bool = False
) -> None:
    """Write the summary. ``told``: the verdict on a single run stands above the findings."""
    _fixed(results, printer, verbose=verbose)
    if verbose:
        _skipped(results.files, printer)
    judged = [file for file in results.files if file.error is None]
    runs.answers(judged, printer, verbose=verbose, told=told)
    if results.known:
        printer.line(
            f"{results.known} finding{'s' if results.known != 1 else ''} hidden by the baseline."
        )
    if results.findings:
        printer.line((f"Found {_counts(results)} in {_files(judged)}.", "bold"))
        _fixable(results, printer)
    elif any(run.trust != Trust.UNKNOWN for file in judged for run in file.runs):
        new = "new " if results.known else ""
        left = "left " if results.applied else ""
        printer.line((f"No {new}findings {left}in {_files(judged)}.", "bold green"))
    if judged or not results.files:
        runs.render(judged, printer, verbose=verbose)
    for remark in dict.fromkeys(remark for file in judged for remark in file.cards):
        printer.line((printable(remark), "dim"))


def _fixed(results: Results, printer: Printer, *, verbose: bool) -> None:
    for file in results.files:
        if file.ignored:
            counts = _by_rule(file.ignored)
            printer.line(("Silenced ", "yellow"), f"{printable(file.name)}: {counts}")
        if not file.applied:
            continue
        counts, where = _by_rule(file.applied), printable(", ".join(_changed(file)))
        printer.line(("Fixed ", "green"), f"{where}: {counts}")
        if verbose:
            for diagnostic in file.applied:
                if diagnostic.fix is not None:
                    printer.line(f"  {diagnostic.code}: {printable(diagnostic.fix.title)}")


def _changed(file: FileResult) -> Iterator[str]:
    """The names of the files that the fixes of one have changed."""
    if not file.others or file.text != file.before:
        yield file.name
    yield from (each.name for each in file.others)


def _by_rule(diagnostics: Iterable[Diagnostic]) -> str:
    counts = Counter((each.code, each.name) for each in diagnostics)
    return ", ".join(f"{count} × {code} ({name})" for (code, name), count in counts.items())


def _skipped(files: Iterable[FileResult], printer: Printer) -> None:
    """Group the rules that did not run by the reason: which rules, in which files."""
    rules: dict[str, dict[str, None]] = defaultdict(dict)
    names: dict[str, dict[str, None]] = defaultdict(dict)
    for file in files:
        for skip in file.skipped:
            if skip.need in TELLING:
                rules[skip.reason][skip.code] = None
                names[skip.reason][file.name] = None
    for reason, codes in rules.items():
        where = printable(", ".join(names[reason]))
        printer.line(("Skipped ", "yellow"), f"{', '.join(codes)} in {where}: {reason}")


def _fixable(results: Results, printer: Printer) -> None:
    safe, unsafe = results.fixable(Safety.SAFE), results.fixable(Safety.UNSAFE)
    if results.unsafe_fixes:
        safe, unsafe = safe + unsafe, 0
        option = "--fix --unsafe-fixes"
    else:
        option = "--fix"
    if safe and unsafe:
        printer.line(f"{safe} fixable with {option}, {unsafe} more with --unsafe-fixes.")
    elif safe:
        printer.line(f"{safe} fixable with {option}.")
    elif unsafe:
        printer.line(f"{unsafe} fixable with --fix --unsafe-fixes.")


def _counts(results: Results) -> str:
    """``2 errors, 1 warning and 3 infos``."""
    counted = [
        f"{count} {severity.value}{'s' if count != 1 else ''}"
        for severity in Severity
        if (count := results.severities[severity])
    ]
    return listed(counted)


def _files(files: list[FileResult]) -> str:
    count = len({file.name for file in files})  # a file may be part of several runs
    return f"{count} file{'s' if count != 1 else ''}"
