"""The run of a script that is read whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.run.coverage import not_covered
from nanolint.run.trust import ordered
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.read import read_run
from nanolint.trainers.nanogpt.roles import with_passes
from nanolint.trainers.nanogpt.setup.passed import SHAPE
from nanolint.trainers.nanogpt.whole import outlives, whole_run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Run
    from nanolint.run.settled import Project, Resolution, Setting, Unresolved
    from nanolint.source.values import Plain
    from nanolint.trainers.nanogpt.roles import Roles

# The model, what it begins with and whether it is compiled: a reading of the script tells it.
TOLD = frozenset({*SHAPE, "init_from", "compile"})


def whole_read(
    found: Resolution,
    roles: Roles,
    needed: tuple[Run, Collection[Unresolved]],
    settings: tuple[Mapping[str, Setting], Mapping[str, Setting]],
    project: Project,
    gpu: Gpu | None,
) -> Resolution | None:
    """The run with all of its script read, and what is in doubt of it still.

    ``settings`` are by the script's keys, and by their roles. None where the micro-batch is not
    known, or the reading has no place for its values.
    """
    run, unresolved = needed
    configured, taken = settings
    unknown = {each.key for each in unresolved}  # of these the reading tells what they are
    if unknown - TOLD or project.unusable:
        return None
    shaped = with_passes(replace(run, compile=run.compile or "compile" in unknown), roles)
    saved = tuple(_known(taken, SHAPE).items()) if run.sizes.init_from == "resume" else ()
    program = whole_run(project, configured, roles.deciding, shaped, saved)
    if program is None:
        return None
    run = read_run(shaped, program, gpu)
    run = replace(run, block_size=0) if "block_size" in unknown else run
    run = replace(run, vocab_size=0) if "vocab_size" in unknown else run
    doubts = [each for each in found.doubts if outlives(each, project)]
    doubts += not_covered(run, gpu)
    return replace(found, run=run, unresolved=(), doubts=ordered(doubts))


def _known(settings: Mapping[str, Setting], roles: Iterable[str]) -> dict[str, Plain]:
    """Those of the roles whose values are known."""
    values = ((role, settings[role].value) for role in roles if role in settings)
    return {role: value.value for role, value in values if isinstance(value, Known)}
