"""Libraries that a text of ``packages/`` stands in for: their modules, and what each text is given.

Profilers, ranges and events of a stream take nothing from the allocator. Each name of ``rich`` is
something to show. torchvision is one text that is read when the first of its modules is imported.
The settings that hydra gives a function are from the project's own files.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from nanolint.interpreter.values import Function, Namespace, Native, Unknown, silent
from nanolint.script import commands, files, settings, training
from nanolint.script.training import later, nested, read_text
from nanolint.source.hydra_files import NotComposed, composed
from nanolint.source.settings_text import NoSettings

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script


def profilers(machine: Script) -> dict[str, Value]:
    """The modules by their names."""
    untold = Native("untold", machine.unknown, plain=False)
    text = read_text(machine, "watching.py", "watching", {"untold": untold}).names
    watch, quiet = text["Watch"], silent("watch")
    machine.library("torch.cuda").names["Event"] = watch
    of_profiler: dict[str, Value] = {
        **dict.fromkeys(("profile", "record_function", "emit_nvtx"), watch),
        **dict.fromkeys(("schedule", "tensorboard_trace_handler"), quiet),
        "ProfilerActivity": text["Activity"],
    }
    of_nvtx = {**dict.fromkeys(("range_push", "range_pop", "mark"), quiet), "range": watch}
    modules = {
        "torch.profiler": of_profiler,
        "torch.autograd.profiler": of_profiler,
        "torch.cuda.nvtx": of_nvtx,
        "torch.cuda.profiler": dict.fromkeys(("start", "stop"), quiet),
    }
    return {name: Namespace(name, dict(names)) for name, names in modules.items()}


ACCELERATE = "accelerate"
ACCELERATE_MODULES = (
    ACCELERATE,
    f"{ACCELERATE}.utils",
    f"{ACCELERATE}.logging",
    f"{ACCELERATE}.tracking",
)
# Settings that decide nothing in one process.
IN_ONE_PROCESS = ("DistributedDataParallelKwargs", "InitProcessGroupKwargs", "ProjectConfiguration")
ABOVE = ("DistributedDataParallelKwargs", "InitProcessGroupKwargs")  # above, too
PREPARED = ("cast", "AcceleratedOptimizer", "AcceleratedScheduler", "LoaderShard")


def accelerate(machine: Script) -> dict[str, Value]:
    """The modules by their names."""
    return later(ACCELERATE_MODULES, lambda: _accelerate(machine))


def _accelerate(machine: Script) -> dict[str, Namespace]:
    def refused(why: str) -> None:
        raise machine.unread(why)

    given: dict[str, Value] = {
        "refused": Native("refused", refused, plain=False),
        "assumed": Native("assumed", machine.card.tape.assume, plain=False),
        "processes": Native("processes", lambda: machine.group.size, plain=False),
        "known": Native("known", lambda value: not isinstance(value, Unknown), plain=False),
        "unheard": Native("unheard", machine.unknown, plain=False),
    }
    prepared = read_text(machine, "prepared.py", ACCELERATE, {"refused": given["refused"]}).names
    given |= {name: prepared[name] for name in PREPARED}
    text = read_text(machine, "accelerate.py", ACCELERATE, given).names
    utils: dict[str, Value] = dict.fromkeys(IN_ONE_PROCESS, text["Kept"])
    utils |= {name: text[name] for name in ("GradientAccumulationPlugin", "set_seed")}
    utils["send_to_device"] = prepared["sent"]
    made = {name: Namespace(name, {}) for name in ACCELERATE_MODULES}
    made[f"{ACCELERATE}.utils"].names.update(utils)
    made[f"{ACCELERATE}.logging"].names["get_logger"] = text["get_logger"]
    made[ACCELERATE].names["Accelerator"] = text["Accelerator"]
    made[ACCELERATE].names.update({name: utils[name] for name in ABOVE})
    nested(made, ACCELERATE)
    return made


RICH = "rich"
# Its modules, each with the names that scripts take from it.
RICH_MODULES = {
    RICH: ("get_console", "inspect", "print", "pretty", "traceback", "box", "reconfigure"),
    f"{RICH}.console": ("Console", "Group"),
    f"{RICH}.table": ("Column", "Table"),
    f"{RICH}.panel": ("Panel",),
    f"{RICH}.text": ("Text",),
    f"{RICH}.live": ("Live",),
    f"{RICH}.layout": ("Layout",),
    f"{RICH}.columns": ("Columns",),
    f"{RICH}.align": ("Align",),
    f"{RICH}.rule": ("Rule",),
    f"{RICH}.tree": ("Tree",),
    f"{RICH}.markdown": ("Markdown",),
    f"{RICH}.syntax": ("Syntax",),
    f"{RICH}.logging": ("RichHandler",),
    f"{RICH}.pretty": ("Pretty", "install", "pprint"),
    f"{RICH}.traceback": ("Traceback", "install"),
    f"{RICH}.progress": (
        *("BarColumn", "DownloadColumn", "FileSizeColumn", "MofNCompleteColumn", "Progress"),
        *("ProgressColumn", "RenderableColumn", "SpinnerColumn", "Task", "TaskID"),
        *("TaskProgressColumn", "TextColumn", "TimeElapsedColumn", "TimeRemainingColumn"),
        *("TotalFileSizeColumn", "TransferSpeedColumn"),
    ),
}
DERIVED_FROM = (
    "Progress",
    "ProgressColumn",
    "RenderableColumn",
)  # scripts derive classes from these


def rich(machine: Script) -> dict[str, Value]:
    """The modules by their names."""
    return later(RICH_MODULES, lambda: _rich(machine))


def _rich(machine: Script) -> dict[str, Namespace]:
    unheard = Native("unheard", machine.unknown, plain=False)
    text = read_text(machine, "showing.py", RICH, {"unheard": unheard}).names
    shown = machine.call(text["Shown"], [])  # which makes more of its kind, as classes do
    made = {
        name: Namespace(name, dict.fromkeys(names, shown)) for name, names in RICH_MODULES.items()
    }
    made[f"{RICH}.progress"].names |= dict.fromkeys(DERIVED_FROM, text["Shown"])
    made[f"{RICH}.progress"].names["track"] = text["track"]
    nested(made, RICH)
    return made


DATASETS = "MNIST FashionMNIST KMNIST CIFAR10 CIFAR100 SVHN STL10 ImageFolder VisionDataset"
TRANSFORMS = """Compose ToTensor PILToTensor ToPILImage Lambda ConvertImageDtype Resize CenterCrop
RandomCrop RandomResizedCrop Pad Grayscale InterpolationMode AutoAugmentPolicy"""
# These change no size.
OF_THE_SAME_SIZE = """Normalize RandomHorizontalFlip RandomVerticalFlip RandomRotation
RandomAffine ColorJitter RandAugment AutoAugment TrivialAugmentWide AugMix RandomErasing
GaussianBlur RandomGrayscale RandomPerspective RandomInvert RandomAdjustSharpness
RandomAutocontrast RandomEqualize"""
UTILS = "make_grid save_image"
TORCHVISION = ("torchvision", "torchvision.datasets", "torchvision.transforms", "torchvision.utils")


def torchvision(machine: Script) -> dict[str, Value]:
    """The modules by their names."""
    return training.later(TORCHVISION, lambda: _torchvision(machine))


def _torchvision(machine: Script) -> dict[str, Namespace]:
    given: dict[str, Value] = {
        "unheard": Native("unheard", machine.unknown, plain=False),
        "assumed": Native("assumed", lambda what: settings.doubt(machine, what), plain=False),
    }
    text = training.read_text(machine, "torchvision.py", "torchvision", given).names
    same = text["Same"]
    made = {
        "datasets": {name: text[name] for name in DATASETS.split()},
        "transforms": {name: text[name] for name in TRANSFORMS.split()}
        | dict.fromkeys(OF_THE_SAME_SIZE.split(), same),
        "utils": {name: text[name] for name in UTILS.split()},
    }
    found = {
        f"torchvision.{name}": Namespace(f"torchvision.{name}", names)
        for name, names in made.items()
    }
    parts: dict[str, Value] = {name: found[f"torchvision.{name}"] for name in made}
    return {"torchvision": Namespace("torchvision", parts), **found}


HYDRA = ("hydra", "hydra.utils", "hydra.core.hydra_config")


def hydra(machine: Script) -> dict[str, Namespace]:
    """hydra's modules, which are one text."""
    whole = training.read_text(machine, "hydra.py", "hydra", _names_of_hydra(machine))
    whole.names["utils"] = whole
    return dict.fromkeys(HYDRA, whole)


def _names_of_hydra(machine: Script) -> dict[str, Value]:
    """What the text has beside Python."""

    def settings(function: Value, folder: Value, name: Value) -> Value:
        if not isinstance(function, Function) or not isinstance(folder, str):
            return machine.unknown("hydra finds its settings by itself")
        if not isinstance(name, str):
            return machine.unknown("the settings that hydra reads")
        beside = posixpath.join(posixpath.dirname(function.module.path), folder)

        def text_at(path: str) -> str | None:
            source = machine.text_of(posixpath.join(beside, path))
            return None if source is None else source.text

        try:
            return files.valued(machine, composed(name, text_at))
        except (NotComposed, NoSettings) as error:
            return machine.unknown(str(error))

    return {
        "composed": Native("hydra", settings, plain=False),
        "typed": Native("typed", lambda: commands.typed(machine), plain=False),
        "assumed": Native("assumed", machine.doubts.append, plain=False),
        "unheard": Native("unheard", machine.unknown, plain=False),
    }
