"""Shell scripts among the files to judge: each launch line in them is a run of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.cli.configuration import Configuration
from nanolint.cli.launch import launch_options
from nanolint.errors import Unusable
from nanolint.files.door import absolute, exists, is_file, read_bytes
from nanolint.frozen import dataclass
from nanolint.linting.discovery import Candidate, is_excluded_anywhere
from nanolint.report.results import FileResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.run.launch import Launch


@dataclass(frozen=True, slots=True)
class Launched:
    """A file to judge, and the configuration to judge it by: that of a launch line, if any."""

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


def read_shell_script(
    name: str, configuration: Configuration
) -> tuple[list[Launched], FileResult | None]:
    """The runs that the script launches, and what there is to say of the script itself."""
    from nanolint.run.shell_script import find_launches

    path = Path(name)
    if configuration.options.force_exclude and is_excluded_anywhere(
        path, configuration.settings_of(path.parent)
    ):
        return [], None
    try:
        text = read_bytes(path).decode(errors="replace")
    except Unusable as error:
        return [], FileResult(name, error=str(error))
    runs: list[Launched] = []
    remarks: list[str] = []
    for found in find_launches(text):
        place = f"{name}:{found.row}"
        if found.launch is None:
            remarks.append(f"{place}: not judged: {found.reason}")
            continue
        remarks += (f"{place}: {remark}" for remark in found.launch.remarks)
        runs += _launched(found.launch, path, place, configuration)
    if not runs and not remarks:
        remarks = [f"{name}: no line launches a training script"]
    return runs, FileResult(name, remarks=tuple(remarks)) if remarks else None


def _launched(
    launch: Launch, script: Path, place: str, configuration: Configuration
) -> Iterator[Launched]:
    named = launch.configs or (launch.script,)
    base = _base(script, named[0])
    options, overrides = launch_options(
        configuration.options, configuration.overrides, launch, base / launch.script
    )
    configured = Configuration(options, overrides)
    for each in named:
        path = base / each
        yield Launched(Candidate(path, str(path), explicit=True), configured, place)


def _base(script: Path, named: Path) -> Path:
    """The folder that the script's paths are relative to: the first one that has the file.

    That is the working folder, else the script's own or one above it in the same repository.
    """
    if is_file(named):
        return Path()
    for folder in (script.parent, *script.parent.parents, *absolute(script).parent.parents):
        if is_file(folder / named):
            return folder
        if exists(folder / ".git"):
            break
    return Path()
