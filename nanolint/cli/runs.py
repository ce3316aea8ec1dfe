"""The runs that a command judges: a file, and the configuration to judge it by."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.diagnostics import FlagSpan, Span
from nanolint.frozen import dataclass
from nanolint.linting.discovery import Candidate
from nanolint.linting.suppressing import unsuppressed_flags
from nanolint.report.results import FileResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nanolint.cli.configuration import Configuration
    from nanolint.cli.launch_text import LaunchText
    from nanolint.cli.launched import Launched
    from nanolint.diagnostics import Diagnostic
    from nanolint.run.flags import Flag


@dataclass(frozen=True, slots=True)
class Source:
    """A text that launch lines stand in, under the name that the user knows it by."""

    name: str
    text: str
    fixer: LaunchText | None = None  # where the text can be rewritten


@dataclass(frozen=True, slots=True)
class Run:
    """A file to judge, and the configuration to judge it by: that of a launch line, if any.

    Each config of a launch line is judged as a part of the one run that the line starts.
    """

    candidate: Candidate
    configuration: Configuration
    source: Source | None = None  # where the launch line stands
    place: str | None = None  # in the source, for people
    is_part: bool = False  # of a run that is counted with a later file of the line

    @property
    def is_open(self) -> bool:
        """Whether a word of the launch line is only known to its shell."""
        line = self.configuration.launch.line
        return any(each.unknown is not None for each in (*line.flags, *line.variables))

    @property
    def words(self) -> tuple[Flag, ...]:
        """What the launch line gives the script, without the variables in front of it."""
        line = self.configuration.launch.line
        return (*line.flags, *line.assigned)

    def placed(self, result: FileResult) -> tuple[FileResult, tuple[Diagnostic, ...]]:
        """What is found in the file, and what is found in the text of the launch line.

        Each finding has a note on the other of the two.
        """
        in_file: list[Diagnostic] = []
        in_line: list[Diagnostic] = []
        for each in result.diagnostics:
            if isinstance(each.span, FlagSpan):
                span = Span(each.span.start, each.span.end)
                notes = (*each.notes, f"the run of {self.candidate.name}")
                in_line.append(replace(each, span=span, related=(), notes=notes))
            elif self.place is not None:
                notes = (*each.notes, f"as launched in {self.place}")
                in_file.append(replace(each, notes=notes))
            else:
                in_file.append(each)
        if self.is_part:
            result = replace(result, runs=(), is_launch=True)
        return replace(result, diagnostics=tuple(in_file), launch=self.place), tuple(in_line)


def runs_of(
    launched: Launched,
    configuration: Configuration,
    source: Source | None = None,
    place: str | None = None,
) -> Iterator[Run]:
    """What there is to judge of the run that ``launched`` starts."""
    for path in launched.files:
        candidate = Candidate(path, str(path), explicit=True)
        is_part = path != launched.files[-1]
        yield Run(candidate, configuration, source, place, is_part)


def place_all(runs: Sequence[Run], results: Iterable[FileResult]) -> list[FileResult]:
    """The results of ``runs``, with what was found in launch lines under the names of those."""
    found: dict[Source, dict[Diagnostic, None]] = {}
    files: list[FileResult] = []
    for run, result in _told_apart(zip(runs, results, strict=True)):
        file, in_line = run.placed(result)
        files.append(file)
        if run.source is not None:
            found.setdefault(run.source, {}).update(dict.fromkeys(in_line))
    for source, each in found.items():
        found[source] = _checked(source, each)
    lines = [
        FileResult(
            source.name,
            text=source.text,
            diagnostics=tuple(sorted(each, key=_order)),
            is_launch=True,
        )
        for source, each in found.items()
        if each
    ]
    return [*lines, *files]


def _told_apart(
    judged: Iterable[tuple[Run, FileResult]],
) -> Iterator[tuple[Run, FileResult]]:
    """The runs without those that are another's: of two of one line that differ in a value which
    only the shell has (``$WANDB_RUN``, or what it is set to where it is empty), or in a variable in
    front of it, and of which the same is known."""
    kept: dict[tuple[Source | None, str | None, str], list[tuple[Run, FileResult]]] = {}
    for run, result in judged:
        same = kept.setdefault((run.source, run.place, run.candidate.name), [])
        if run.place is not None and any(
            result == other and (run.is_open or one.is_open or run.words == one.words)
            for one, other in same
        ):
            continue
        same.append((run, result))
        yield run, result


def _checked(source: Source, found: dict[Diagnostic, None]) -> dict[Diagnostic, None]:
    """``found`` without what comments silence, and with the fixes that can be made.

    These were checked on all runs of the text.
    """
    found = dict.fromkeys(unsuppressed_flags(source.text, found))
    if not any(each.fix for each in found):
        return found
    if source.fixer is None:
        return {replace(each, fix=None): None for each in found}
    offered = source.fixer.offered(source.text)
    return {replace(e, span=Span(e.span.start, e.span.end)): None for e in offered}


def _order(diagnostic: Diagnostic) -> tuple[Span, str]:
    return diagnostic.span, diagnostic.code
