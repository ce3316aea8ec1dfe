"""From a config's assignments to one settled run: every layer, lowest precedence first."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.gpus.abilities import has_bfloat16
from nanolint.profiles.profiles import NEEDED, traced
from nanolint.run.capability import bfloat16_supported
from nanolint.run.coverage import not_covered
from nanolint.run.overrides import all_overrides
from nanolint.run.program import ReadScript
from nanolint.run.settled import (
    MEMORY,
    Layer,
    Options,
    Origin,
    Project,
    Resolution,
    Setting,
    Unresolved,
)
from nanolint.run.trust import Doubt, Subject, ordered
from nanolint.settings.torch_version import NEWEST
from nanolint.source.python import nodes
from nanolint.source.values import Known, Unknown
from nanolint.trainers.dotenv import with_dotenv
from nanolint.trainers.nanogpt.configurator import steps
from nanolint.trainers.nanogpt.data_files import WITHOUT_META, dataset_vocabulary, is_told
from nanolint.trainers.nanogpt.keys import KEYS, PRETRAINED_SIZES, PRETRAINED_VOCABULARY
from nanolint.trainers.nanogpt.needed import needed_run
from nanolint.trainers.nanogpt.reading import read_source
from nanolint.trainers.nanogpt.roles import Roles, settle_roles, with_passes
from nanolint.trainers.nanogpt.setup.passed import SHAPE
from nanolint.trainers.nanogpt.whole import whole_read
from nanolint.trainers.script.surroundings import alone
from nanolint.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from nanolint.gpus.gpu import Gpu, Machine
    from nanolint.run.run import Run
    from nanolint.source.assignments import Module
    from nanolint.source.values import Plain


def overwritten(tree: ast.Module) -> frozenset[str]:
    """Returns the names of SHAPE that the script reads from what ``torch.load`` gives.

    That is ``args[k] = checkpoint["args"][k]`` in a loop over names or for one name,
    ``n_layer = checkpoint["n_layer"]``, ``Config(**checkpoint["args"])`` and ``args.update(...)``.
    """
    loaded = _loaded(tree)
    if not loaded:
        return frozenset()
    found = {name for node in nodes(tree) for name in _names(node, loaded)}
    return frozenset(each for each in SHAPE if each in found or None in found)


def _loaded(tree: ast.Module) -> set[str]:
    """The names that stand for what ``torch.load`` gives, or for a part of it."""
    found: set[str] = set()
    assigned = [each for each in nodes(tree) if isinstance(each, ast.Assign)]
    while True:
        more = {
            target.id
            for each in assigned
            if _is_loaded(each.value, found)
            for target in each.targets
            if isinstance(target, ast.Name)
        }
        if more <= found:
            return found
        found |= more


def _is_loaded(node: ast.expr, loaded: set[str]) -> bool:
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "torch.load"
    return isinstance(node, ast.Name) and node.id in loaded


def _names(node: ast.AST, loaded: set[str]) -> Iterator[str | None]:
    """Yields the names that a node takes of a checkpoint; None for all that it has."""
    if isinstance(node, ast.For) and isinstance(node.iter, (ast.List, ast.Tuple)):
        takes = (
            isinstance(each, ast.Assign)
            and isinstance(each.value, ast.Subscript)
            and _is_loaded(each.value, loaded)
            for each in node.body
        )
        if any(takes):
            yield from (str(e.value) for e in node.iter.elts if isinstance(e, ast.Constant))
    elif isinstance(node, ast.Assign) and _is_loaded(node.value, loaded):
        if isinstance(node.value, ast.Attribute):
            yield node.value.attr
        elif isinstance(node.value, ast.Subscript) and isinstance(node.value.slice, ast.Constant):
            yield str(node.value.slice.value)
    elif isinstance(node, ast.Call):
        whole = [each.value for each in node.keywords if each.arg is None]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "update":
            whole += node.args
        if any(_is_loaded(each, loaded) for each in whole):
            yield None


def resolve(
    module: Module | None,
    project: Project,
    options: Options,
    target: Machine | None,
    *,
    config_path: Path | None = None,
) -> Resolution:
    """Settle every key of a config, for one target GPU. Without ``module``: train.py's defaults.

    nanoGPT's defaults < train.py < imported configs < the file and what else the launch line has,
    from left to right; the dataset, a checkpoint and the GPU then decide what those leave to them.
    """
    gpu = target.gpu if target else None
    if project.train_script is not None and project.tree is not None:
        options = with_dotenv(options, project.train_script, read_source(project.train_script))
    settings = _inherited(project)
    for step in steps(module, project, options, config_path):
        settings |= {setting.key: setting for setting in step.settings}
    emulated = project.counts_emulation
    supported = bfloat16_supported(gpu, options.torch_version, counts_emulation=emulated)
    _settle_machine(settings, has_bfloat16=supported)
    world_size = options.world_size or (target.count if target else None) or 1
    overridden = {key for key, _ in all_overrides(options)}
    configured = dict(settings)  # by the script's keys: roles are given below
    if project.train_script is None:
        _settle_vocabulary(settings, overridden)
        roles = Roles({})
    else:
        roles = settle_roles(
            settings, project, overridden, world_size=world_size, has_bfloat16=supported
        )
    asked = _settle_checkpoint(settings, project)
    in_float16 = _emulates_bfloat16(settings, project, gpu)
    if in_float16:
        configured |= _FLOAT16
    taken = settings | _FLOAT16 if in_float16 else settings
    needed, missing = needed_run(taken, project, gpu, world_size)
    unresolved = missing
    if project.unusable is not None:
        unresolved = (Unresolved("the script", project.unusable),)
    without = options.without_card(target.count if target else None)
    if without is not None:
        unresolved, asked = (without,), True
    needed = replace(needed, torch=options.torch_version or NEWEST)
    outline = None if any(each.key in NEEDED for each in unresolved) else with_passes(needed, roles)
    lone = project.train_script is None
    run = needed if lone and not unresolved else None
    assumed = _assumed(settings) if lone and project.unusable is None else ()
    doubts = [*(assumed or project.doubts), *roles.doubts]  # it says also that no script is near
    doubts += options.in_doubt(world_size, target.count if target else None)
    if run is not None:
        doubts += not_covered(run, gpu)
    elif not unresolved:
        unresolved = (Unresolved(MEMORY, TAKES_NONE if is_told(configured, project) else NOT_READ),)
    found = Resolution(
        run,
        settings,
        unresolved,
        ordered(doubts),
        in_float16,
        roles.deciding,
        outline=outline,
    )
    found = traced(found, taken, project, options, gpu)
    if lone or asked or found.run is not None or _is_too_deep(settings):
        return found
    whole = whole_read(found, roles, (needed, missing), (configured, taken), project, gpu)
    if whole is not None and whole.run is not None:
        assert isinstance(whole.run.program, ReadScript)
        told = alone(options, world_size)
        line = options.line
        program = replace(
            whole.run.program,
            is_module=line.is_module,
            is_whole=line.is_whole,
            variables=told,
        )
        whole = replace(whole, run=replace(whole.run, program=program))
    return replace(found, read=whole)


# What a config without a script near it has to set, or nanoGPT's values only stand in for it.
_SIZES = (
    *("batch_size", "gradient_accumulation_steps", "block_size"),
    *("n_layer", "n_head", "n_embd"),
)
SIZES = ("n_layer", "n_head", "n_embd")
_DEFAULTS = (Layer.DEFAULT, Layer.TRAIN_SCRIPT)
RESUMED = "the checkpoint that the run resumes from decides it; --set gives it"
TAKES_NONE = "the script takes no vocab_size from outside; leave --set vocab_size out"
NOT_READ = "nanolint cannot read its memory from the script"
MOST_LAYERS = 1_000  # of a model that is built to be read; a reading ends before it has so many
_FLOAT16 = {"dtype": Setting("dtype", Known("float16"), Origin(Layer.GPU))}


def _is_too_deep(settings: Mapping[str, Setting]) -> bool:
    """Whether no reading gets through the layers, which `needed_run` has refused, then."""
    layers = settings["n_layer"].value if "n_layer" in settings else None
    known = layers.value if isinstance(layers, Known) else None
    return isinstance(known, int) and known > MOST_LAYERS


def _emulates_bfloat16(settings: Mapping[str, Setting], project: Project, gpu: Gpu | None) -> bool:
    """Whether the run asks a card for the bfloat16 that it lacks, where a config may say otherwise.

    Emulated it is slow, is not compiled and has no attention kernel: nobody wants that run.
    """
    asked = settings["dtype"].value == Known("bfloat16") and "dtype" in project.defaults
    device = settings["device"].value
    on_gpu = isinstance(device, Known) and "cuda" in str(device.value)
    return asked and on_gpu and not has_bfloat16(gpu)


def default_run() -> Run:
    """nanoGPT's own defaults as a run: the 124M model on one modern GPU."""
    from nanolint.trainers.nanogpt.project import NANOGPT

    run = resolve(None, NANOGPT, Options(), None).run
    if run is None:
        raise AssertionError("nanoGPT's defaults are all known")
    return run


def _inherited(project: Project) -> dict[str, Setting]:
    """What a config starts from."""
    if project.train_script is None:
        origin = Origin(Layer.DEFAULT)
        return {key.name: Setting(key.name, key.default, origin) for key in KEYS.values()}
    origin = Origin(Layer.TRAIN_SCRIPT, project.train_script)
    return {key: Setting(key, value, origin) for key, value in project.defaults.items()}


def _settle_vocabulary(settings: dict[str, Setting], overridden: set[str]) -> None:
    """Set ``vocab_size`` as nanoGPT's own train.py does: it takes it from the dataset."""
    if "vocab_size" in overridden:
        return
    dataset = settings["dataset"].value
    if not isinstance(dataset, Known):
        reason = f"depends on dataset, which is not known: {dataset.reason}"
        settings["vocab_size"] = Setting("vocab_size", Unknown(reason), settings["dataset"].origin)
    elif not isinstance(dataset.value, str):
        reason = "depends on dataset, which must be a string"
        settings["vocab_size"] = Setting("vocab_size", Unknown(reason), settings["dataset"].origin)
    else:
        value, origin = dataset_vocabulary(dataset.value)
        settings["vocab_size"] = Setting("vocab_size", value, origin)


def _settle_checkpoint(settings: dict[str, Setting], project: Project) -> bool:
    """Put in what a checkpoint forces; returns whether sizes of one are to be asked for.

    A checkpoint to resume is never opened: sizes that nobody gives are its own, not the script's.
    """
    init_from = settings["init_from"].value
    if not isinstance(init_from, Known) or not isinstance(init_from.value, str):
        return False
    if init_from.value == "resume":
        taken = SIZES if project.tree is None else overwritten(project.tree)
        untold = [key for key in SIZES if key in taken and settings[key].origin.layer in _DEFAULTS]
        for key in untold:
            settings[key] = Setting(key, Unknown(RESUMED), Origin(Layer.CHECKPOINT))
        return bool(untold)
    sizes = PRETRAINED_SIZES.get(init_from.value)
    if sizes is None:
        return False
    forced: dict[str, Plain] = dict(zip(SIZES, sizes, strict=True))
    forced |= {"bias": True, "vocab_size": PRETRAINED_VOCABULARY}
    for key, value in forced.items():
        settings[key] = Setting(key, Known(value), Origin(Layer.CHECKPOINT))
    return False


def _settle_machine(settings: dict[str, Setting], *, has_bfloat16: bool) -> None:
    """Decide conditional values (``'bfloat16' if torch.cuda... else 'float16'``) by the card.

    Without a target, as on a card with bfloat16.
    """
    device = settings["device"].value if "device" in settings else None
    if isinstance(device, Unknown) and "cuda" in device.candidates:
        settings["device"] = Setting("device", Known("cuda"), Origin(Layer.GPU))
    dtype = settings["dtype"].value if "dtype" in settings else None
    if not isinstance(dtype, Unknown) or "bfloat16" not in dtype.candidates:
        return
    others = [candidate for candidate in dtype.candidates if candidate != "bfloat16"]
    if has_bfloat16 or not others:
        chosen: Plain = "bfloat16"
    else:
        chosen = others[0]
    settings["dtype"] = Setting("dtype", Known(chosen), Origin(Layer.GPU))


def _assumed(settings: Mapping[str, Setting]) -> tuple[Doubt, ...]:
    """A doubt where nanoGPT's own values stand in for sizes of a config that has no script."""
    keys = [key for key in _SIZES if settings[key].origin.layer is Layer.DEFAULT]
    doubts = []
    if keys:
        are = "are" if len(keys) > 1 else "is"
        text = f"{listed(keys)} {are} nanoGPT's own: nanolint found no training script"
        settled_by = " ".join(f"--set {key}=N" for key in keys)
        doubts.append(Doubt(Subject.SIZES, text, settled_by=settled_by))
    dataset, vocabulary = settings["dataset"].value, settings["vocab_size"]
    if (
        vocabulary.origin.layer is Layer.DEFAULT
        and isinstance(dataset, Known)
        and dataset.value not in WITHOUT_META
    ):
        text = f"vocab_size is nanoGPT's own: nanolint did not find the data of {dataset.value}"
        doubts.append(Doubt(Subject.VOCABULARY, text))
    return tuple(doubts)
