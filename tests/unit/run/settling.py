"""A config settled in a project of its own, for the tests of what comes out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nanolint.gpus.gpu import Gpu, Machine
from nanolint.run.overrides import parse_override
from nanolint.run.settled import MEMORY, Options, Resolution
from nanolint.source.parse import parse
from nanolint.trainers.nanogpt.configurator import star_importer
from nanolint.trainers.nanogpt.project import find_project
from nanolint.trainers.nanogpt.resolve import resolve
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path

GIB = 1 << 30


def target(*capability: int, count: int | None = None) -> Machine:
    gpu = Gpu("card", "nvidia", 8 * GIB, 8 * GIB, 40, capability, False, "test")  # type: ignore[arg-type]
    return Machine(gpu, count)


def settle(root: Path, text: str = "", *overrides: str, **given: Any) -> Resolution:
    """The run as it is set, before any reading; ``given`` as for resolution_of."""
    return before_reading(resolution_of(root, text, *overrides, **given))


def resolution_of(
    root: Path,
    text: str = "",
    *overrides: str,
    name: str = "config/a.py",
    on: Machine | None = None,
    world_size: int | None = None,
    torch_version: tuple[int, int] | None = None,
    files: dict[str, str | bytes] | None = None,
    bare: bool = False,
) -> Resolution:
    if not bare:
        write_project(root, {**(files or {}), **({name: text} if name != "train.py" else {})})
    path = root / name
    project = find_project(None if bare else path)
    module = parse(text, project.environment, star_importer(project, path))
    options = Options(
        overrides=tuple(map(parse_override, overrides)),
        world_size=world_size,
        torch_version=torch_version,
    )
    return resolve(module, project, options, on, config_path=path)


def before_reading(found: Resolution) -> Resolution:
    """A resolution with the run as it is settled, where nothing but a reading is wanting."""
    if [each.key for each in found.unresolved] != [MEMORY]:
        return found
    return replace(found, run=found.as_set, unresolved=())


def reasons(resolution: Resolution) -> dict[str, str]:
    assert (resolution.run is None) is bool(resolution.unresolved)
    return {unresolved.key: unresolved.reason for unresolved in resolution.unresolved}
