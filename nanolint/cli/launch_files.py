"""Files with launch lines among those to judge: each line in them is a run of its own."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.cli.configuration import Configuration
from nanolint.cli.launch_text import LaunchText, meant
from nanolint.cli.launched import NotJudged, is_trainer, locate, script_near
from nanolint.cli.runs import Run, Source, runs_of
from nanolint.errors import Refused
from nanolint.files.door import absolute, read_bytes
from nanolint.files.writing import Unwritable
from nanolint.files.writing import replace as replace_file
from nanolint.frozen import dataclass
from nanolint.launches.files import MOST_BYTES, find_launches
from nanolint.linting.discovery import is_excluded_anywhere
from nanolint.report.results import FileResult
from nanolint.run.flags import Before
from nanolint.source.text import Undecodable, Unencodable, decode, encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.cli.judging import Work
    from nanolint.cli.launched import Launched

MOST_BEFORE = 20  # runs that one may go on from
NO_LAUNCH = "no line starts a training script"


@dataclass(frozen=True, slots=True)
class Line:
    """A launch line in a file: the run that it starts, or the reason why that is not judged."""

    place: str
    launched: Launched | None
    reason: str = ""


def read_launch_file(
    name: str, configuration: Configuration, work: Work
) -> tuple[list[Run], FileResult | None]:
    """The runs that the file starts, and what there is to say of the file itself.

    With ``work.fix`` its flags are fixed first.
    """
    path = Path(name)
    if configuration.options.force_exclude and is_excluded_anywhere(
        path, configuration.settings_of(path.parent)
    ):
        return [], None

    def launches(text: str) -> list[Launched]:
        return [line.launched for line in launch_lines(name, text) if line.launched]

    fixer = LaunchText(launches, configuration)
    try:
        about = _fixed(path, name, fixer, work)
        lines = list(_different(launch_lines(name, about.text)))
    except Refused as error:
        return [], FileResult(name, error=str(error))
    except ValueError as error:
        return [], FileResult(name, no_run=str(error))
    runs: list[Run] = []
    remarks: list[str] = []
    source = Source(name, about.text, fixer)
    for line in lines:
        place = f"{name}:{line.place}"
        if line.launched is None:
            remarks.append(f"{place}: not checked: {line.reason}")
            continue
        remarks += (f"{place}: {remark}" for remark in line.launched.remarks)
        configured = Configuration(configuration.options, configuration.overrides, line.launched)
        runs += runs_of(line.launched, configured, source, place)
    if not lines:
        return [], FileResult(name, no_run=NO_LAUNCH)
    if not (remarks or about.error or about.applied or about.dropped):
        return runs, None
    return runs, replace(about, remarks=tuple(remarks), is_launch=bool(runs))


def _fixed(path: Path, name: str, fixer: LaunchText, work: Work) -> FileResult:
    """The text of the file with its flags fixed, if that was asked for, and what was done."""
    raw = read_bytes(path, MOST_BYTES)
    try:
        source = decode(raw)
    except Undecodable:
        return FileResult(name, text=raw.decode(errors="replace"))
    before = FileResult(name, text=source.text)
    if not work.fix:
        return before
    fixed = fixer.fixed(source.text, unsafe=work.unsafe)
    if fixed.text == source.text:
        return replace(before, dropped=fixed.dropped)
    if work.write:
        try:
            replace_file(path, encode(source, fixed.text), expected=raw)
        except (Unwritable, Unencodable) as error:
            return replace(before, error=f"not fixed: {error}")
    return FileResult(
        name, fixed.text, before=source.text, applied=fixed.applied, dropped=fixed.dropped
    )


def _different(lines: Iterator[Line]) -> Iterator[Line]:
    """The lines without those whose run another line has started, after the same other runs."""
    seen: set[object] = set()
    earlier: dict[str, None] = {}
    for line in lines:
        if line.launched is None:
            yield line
            continue
        run = meant(line.launched)
        key = run, tuple(each for each in earlier if each != run)
        earlier.pop(run, None)
        earlier[run] = None
        if key not in seen:
            seen.add(key)
            yield line


def launch_lines(name: str, text: str) -> Iterator[Line]:
    """The lines that launch training scripts. Raises ValueError, in one line, for the file."""
    before: list[Before] = []
    for found in find_launches(name, text, partial(script_near, Path(name))):
        if found.launch is None:
            yield Line(found.place, None, found.reason)
            continue
        try:
            launched = locate(found.launch, Path(name))
        except NotJudged as error:
            if is_trainer(found.launch.script):
                yield Line(found.place, None, str(error))
            continue
        if launched.script is None or is_trainer(launched.script):
            line = replace(launched.line, before=tuple(before[-MOST_BEFORE:]))
            yield Line(found.place, replace(launched, line=line))
            before += _before(launched, Path(name), found.row)


def _before(launched: Launched, path: Path, row: int) -> Iterator[Before]:
    """A run as those behind it see it: they may go on from what it saves."""
    if launched.script is not None:
        count = launched.processes.count if launched.processes else None
        yield Before(absolute(launched.script), launched.line, count, path, row)
