"""A run with its model, or all of its script, read; and what shows that a script is nanoGPT's."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.run.coverage import not_covered
from nanolint.run.settled import Beside, Layer, ManualAttention, Origin, Setting
from nanolint.run.trust import ordered
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.keys import KEYS, PRETRAINED_SIZES
from nanolint.trainers.nanogpt.needed import needed_run
from nanolint.trainers.nanogpt.read import STAND_INS, WHOLE_STAND_INS, pretrained, read_run
from nanolint.trainers.nanogpt.roles import with_passes
from nanolint.trainers.nanogpt.whole import outlives, whole_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Run
    from nanolint.run.settled import Project, Resolution
    from nanolint.trainers.nanogpt.roles import Roles

FEW_LAYERS = 2  # that differ as much as all of them do


def model_read(
    found: Resolution,
    roles: Roles,
    needed: Run,
    settings: Mapping[str, Setting],
    project: Project,
    gpu: Gpu | None,
) -> Resolution | None:
    """The run with the model that is read, and what is in doubt of it still.

    None where its batch or its loop is not known, or what it begins with.
    """
    program, given = roles.program, dict(settings)
    for key, stand_in in STAND_INS.items():
        given[key] = Setting(key, stand_in, Origin(Layer.DEFAULT))
    shaped, unresolved = needed_run(given, project, ManualAttention.NEVER, gpu, needed.world_size)
    if program is not None and needed.init_from in PRETRAINED_SIZES:
        program = pretrained(program, project.tree, needed.init_from)
    if program is None or unresolved or project.unusable:
        return None
    run = with_passes(read_run(replace(shaped, torch=needed.torch), program, gpu), roles)
    doubts = [each for each in found.doubts if each not in roles.model.doubts]
    doubts += [*roles.model.optimizer_doubts, *not_covered(run, gpu)]
    return replace(found, run=run, unresolved=(), doubts=ordered(doubts))


def beside_own(
    found: Resolution,
    roles: Roles,
    needed: Run,
    settings: tuple[Mapping[str, Setting], Mapping[str, Setting]],
    project: Project,
    gpu: Gpu | None,
) -> Beside | None:
    """What shows that a script which is recognised is nanoGPT's own; None where no model is near,
    or the reading has no place for its values.

    It is shown for two layers, and for the script's own schedule and log, whatever the config says
    of them. What a checkpoint holds is not known: one that goes on is read from its beginning.
    """
    own, source = found.run, roles.source
    if project.train_script is None or own is None or source is None or source() is None:
        return None
    whole = _placed(found, roles, needed, settings, project, gpu)
    fewer: dict[str, Setting] = {}
    if own.init_from == "resume":
        fewer["init_from"] = Setting("init_from", Known("scratch"), Origin(Layer.OVERRIDE))
        own = replace(own, init_from="scratch")
    layers = roles.deciding.get("n_layer", "n_layer")
    if (
        layers is not None
        and layers in settings[0]
        and own.init_from == "scratch"
        and own.n_layer > FEW_LAYERS
    ):
        fewer[layers] = Setting(layers, Known(FEW_LAYERS), Origin(Layer.OVERRIDE))
        own = replace(own, n_layer=FEW_LAYERS)
    configured = {
        key: each
        for key, each in settings[0].items()
        if key not in KEYS or KEYS[key].decides_memory
    }
    small = (configured | fewer, {**settings[1], **fewer})
    shown = _placed(found, roles, needed, small, project, gpu)
    if whole is None or shown is None or shown.run is None:
        return None
    return Beside(own, shown.run, whole)


def whole_read(
    found: Resolution,
    roles: Roles,
    needed: Run,
    settings: tuple[Mapping[str, Setting], Mapping[str, Setting]],
    project: Project,
    gpu: Gpu | None,
) -> Resolution | None:
    """The run with all of its script read, and what is in doubt of it still.

    ``settings`` are by the script's keys, and by their roles. None where nothing is in doubt that a
    reading tells, or where a batch or the vocabulary is not known.
    """
    if found.run is not None and all(outlives(each, project) for each in found.doubts):
        return None
    return _placed(found, roles, needed, settings, project, gpu)


def _placed(
    found: Resolution,
    roles: Roles,
    needed: Run,
    settings: tuple[Mapping[str, Setting], Mapping[str, Setting]],
    project: Project,
    gpu: Gpu | None,
) -> Resolution | None:
    """The run with its settings in their places of the script."""
    configured, taken = settings
    given = dict(taken)
    # What the model is made of and what it begins with, the reading of the script tells.
    for key, stand_in in (STAND_INS | WHOLE_STAND_INS).items():
        if key in STAND_INS or any(each.key == key for each in found.unresolved):
            given[key] = Setting(key, stand_in, Origin(Layer.DEFAULT))
    shaped, unresolved = needed_run(given, project, ManualAttention.NEVER, gpu, needed.world_size)
    if unresolved or project.unusable:
        return None
    shaped = with_passes(replace(shaped, torch=needed.torch), roles)
    program = whole_run(project, configured, roles.deciding, shaped)
    if program is None:
        return None
    run = read_run(shaped, program, gpu)
    if any(each.key == "vocab_size" for each in found.unresolved):
        run = replace(run, vocab_size=0)
    doubts = [each for each in found.doubts if outlives(each, project)]
    doubts += not_covered(run, gpu)
    return replace(found, run=run, unresolved=(), doubts=ordered(doubts))
