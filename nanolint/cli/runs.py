"""The runs that a command judges: a file, and the configuration to judge it by."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.linting.discovery import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.cli.configuration import Configuration
    from nanolint.cli.launched import Launched
    from nanolint.report.results import FileResult


@dataclass(frozen=True, slots=True)
class Run:
    """A file to judge, and the configuration to judge it by: that of a launch line, if any.

    Each config of a launch line is judged as a part of the one run that the line starts.
    """

    candidate: Candidate
    configuration: Configuration
    place: str | None = None  # of the launch line

    def placed(self, result: FileResult) -> FileResult:
        """``result`` with a note in each finding on the launch line that it is about."""
        if self.place is None:
            return result
        note = f"as launched in {self.place}"
        noted = tuple(replace(each, notes=(*each.notes, note)) for each in result.diagnostics)
        return replace(result, diagnostics=noted)


def runs_of(
    launched: Launched, configuration: Configuration, place: str | None = None
) -> Iterator[Run]:
    """What there is to judge of the run that ``launched`` starts."""
    for path in launched.files:
        yield Run(Candidate(path, str(path), explicit=True), configuration, place)
