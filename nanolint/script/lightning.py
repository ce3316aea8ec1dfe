"""The package lightning, also by its older name: its modules and its texts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from nanolint.interpreter.values import Namespace, Native
from nanolint.script import training
from nanolint.script.transformers import told

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

NAMES = ("lightning.pytorch", "pytorch_lightning")
OVERRIDES = "lightning_utilities.core.overrides"
SHOWN = (
    *("DeviceStatsMonitor", "EarlyStopping", "LearningRateMonitor", "ModelCheckpoint"),
    *("ModelSummary", "ProgressBar", "RichModelSummary", "RichProgressBar", "Timer"),
    "TQDMProgressBar",
)
LOGGERS = (
    *("CSVLogger", "CometLogger", "MLFlowLogger", "NeptuneLogger", "TensorBoardLogger"),
    "WandbLogger",
)
OF_ALL = ("Callback", "LightningDataModule", "LightningModule", "Trainer", "seed_everything")


def table(machine: Script) -> dict[str, Value]:
    """The package and its modules by their names."""
    below = ("", ".callbacks", ".callbacks.early_stopping", ".loggers", ".loggers.wandb")
    names = [f"{name}{each}" for name in NAMES for each in below]
    return training.later(("lightning", OVERRIDES, *names), partial(_made, machine))


def _made(machine: Script) -> dict[str, Namespace]:
    given = told(machine) | {"taken": Native("taken", lambda: _taken(machine), plain=False)}
    modules = training.read_text(machine, "lightning_modules.py", "lightning", given).names
    found = training.read_text(machine, "lightning.py", "lightning", modules).names
    callbacks = dict.fromkeys(SHOWN, found["Shown"]) | {"Callback": found["Callback"]}
    loggers = dict.fromkeys(LOGGERS, found["Shown"])
    made: dict[str, Namespace] = {}
    for name in NAMES:
        of_callbacks = Namespace(f"{name}.callbacks", callbacks)
        of_loggers = Namespace(f"{name}.loggers", loggers)
        whole = {each: found[each] for each in OF_ALL}
        made |= {
            f"{name}.callbacks": of_callbacks,
            f"{name}.callbacks.early_stopping": of_callbacks,
            f"{name}.loggers": of_loggers,
            f"{name}.loggers.wandb": of_loggers,
            name: Namespace(name, whole | {"callbacks": of_callbacks, "loggers": of_loggers}),
        }
    pytorch = made[NAMES[0]]
    made[OVERRIDES] = Namespace(OVERRIDES, {"is_overridden": found["is_overridden"]})
    made["lightning"] = Namespace("lightning", pytorch.names | {"pytorch": pytorch})
    return made


def _taken(machine: Script) -> dict[str, Value]:
    """Returns the arguments of the function that calls the one that asks, by their names."""
    frame = machine.frames[-2]
    function = frame.function
    if function is None:
        return {}
    spec = function.node.args
    names = [each.arg for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)][1:]
    others = frame.names.get(spec.kwarg.arg, {}) if spec.kwarg is not None else {}
    return {name: frame.names[name] for name in names if name in frame.names} | others
