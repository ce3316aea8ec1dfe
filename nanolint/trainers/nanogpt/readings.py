"""The run of a script that is read whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nanolint.run.coverage import not_covered
from nanolint.run.settled import Layer, Origin, Setting
from nanolint.run.trust import ordered
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.needed import needed_run
from nanolint.trainers.nanogpt.read import STAND_INS, WHOLE_STAND_INS, read_run
from nanolint.trainers.nanogpt.roles import with_passes
from nanolint.trainers.nanogpt.setup.passed import SHAPE
from nanolint.trainers.nanogpt.whole import outlives, whole_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Run
    from nanolint.run.settled import Project, Resolution
    from nanolint.source.values import Plain
    from nanolint.trainers.nanogpt.roles import Roles


def whole_read(
    found: Resolution,
    roles: Roles,
    needed: Run,
    settings: tuple[Mapping[str, Setting], Mapping[str, Setting]],
    project: Project,
    gpu: Gpu | None,
) -> Resolution | None:
    """The run with all of its script read, and what is in doubt of it still.

    ``settings`` are by the script's keys, and by their roles. None where the micro-batch is not
    known, or the reading has no place for its values.
    """
    configured, taken = settings
    given = dict(taken)
    # What the model is made of and what it begins with, the reading of the script tells.
    for key, stand_in in (STAND_INS | WHOLE_STAND_INS).items():
        if key in STAND_INS or any(each.key == key for each in found.unresolved):
            given[key] = Setting(key, stand_in, Origin(Layer.DEFAULT))
    shaped, unresolved = needed_run(given, project, gpu, needed.world_size)
    if unresolved or project.unusable:
        return None
    shaped = with_passes(replace(shaped, torch=needed.torch), roles)
    shaped = replace(shaped, **_shape(taken))
    saved = tuple(_known(taken, SHAPE).items()) if needed.init_from == "resume" else ()
    program = whole_run(project, configured, roles.deciding, shaped, saved)
    if program is None:
        return None
    run = read_run(shaped, program, gpu)
    unknown = {each.key for each in found.unresolved}  # what these are the reading tells
    run = replace(run, block_size=0) if "block_size" in unknown else run
    run = replace(run, vocab_size=0) if "vocab_size" in unknown else run
    doubts = [each for each in found.doubts if outlives(each, project)]
    doubts += not_covered(run, gpu)
    return replace(found, run=run, unresolved=(), doubts=ordered(doubts))


def _shape(settings: Mapping[str, Setting]) -> dict[str, Any]:
    """Those fields of the model that are known, for a run that is tried with others."""
    return {
        key: value
        for key, value in _known(settings, STAND_INS).items()
        if type(value) is type(STAND_INS[key].value)
    }


def _known(settings: Mapping[str, Setting], roles: Iterable[str]) -> dict[str, Plain]:
    """Those of the roles whose values are known."""
    values = ((role, settings[role].value) for role in roles if role in settings)
    return {role: value.value for role, value in values if isinstance(value, Known)}
