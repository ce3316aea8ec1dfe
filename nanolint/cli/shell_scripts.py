"""Shell scripts among the files to judge: each launch line in them is a run of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.cli.configuration import Configuration
from nanolint.cli.launched import NotJudged, is_trainer, locate
from nanolint.cli.runs import Run, Source, runs_of
from nanolint.errors import Unusable
from nanolint.files.door import read_bytes
from nanolint.linting.discovery import is_excluded_anywhere
from nanolint.report.results import FileResult

if TYPE_CHECKING:
    from nanolint.cli.launched import Launched
    from nanolint.launches.script import Found


def read_shell_script(
    name: str, configuration: Configuration
) -> tuple[list[Run], FileResult | None]:
    """The runs that the script launches, and what there is to say of the script itself."""
    from nanolint.launches.script import find_launches

    path = Path(name)
    if configuration.options.force_exclude and is_excluded_anywhere(
        path, configuration.settings_of(path.parent)
    ):
        return [], None
    try:
        text = read_bytes(path).decode(errors="replace")
    except Unusable as error:
        return [], FileResult(name, error=str(error))
    runs: list[Run] = []
    remarks: list[str] = []
    for found in find_launches(text):
        place = f"{name}:{found.row}"
        try:
            launched = _located(found, path)
        except NotJudged as error:
            if found.launch is None or is_trainer(found.launch.script):
                remarks.append(f"{place}: not judged: {error}")
            continue
        if launched.script is not None and not is_trainer(launched.script):
            continue
        remarks += (f"{place}: {remark}" for remark in launched.remarks)
        configured = Configuration(configuration.options, configuration.overrides, launched)
        runs += runs_of(launched, configured, Source(name, text), place)
    if not runs and not remarks:
        remarks = [f"{name}: no line launches a training script"]
    if not remarks:
        return runs, None
    return runs, FileResult(name, remarks=tuple(remarks), is_launch=bool(runs))


def _located(found: Found, path: Path) -> Launched:
    if found.launch is None:
        raise NotJudged(found.reason)
    return locate(found.launch, path)
