"""``accelerate``, by the text that is read for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.values import Namespace, Native, Unknown
from nanolint.script.training import later, nested, read_text

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

NAME = "accelerate"
MODULES = (NAME, f"{NAME}.utils", f"{NAME}.logging", f"{NAME}.tracking")
# Settings that decide nothing in one process.
KEPT = ("DistributedDataParallelKwargs", "InitProcessGroupKwargs", "ProjectConfiguration")
SHOWN = ("DistributedDataParallelKwargs", "InitProcessGroupKwargs")  # above, too
PREPARED = ("cast", "AcceleratedOptimizer", "AcceleratedScheduler", "LoaderShard")


def table(machine: Script) -> dict[str, Value]:
    """The modules by their names."""
    return later(MODULES, lambda: _made(machine))


def _made(machine: Script) -> dict[str, Namespace]:
    def refused(why: str) -> None:
        raise machine.unread(why)

    given: dict[str, Value] = {
        "refused": Native("refused", refused, plain=False),
        "assumed": Native("assumed", machine.card.tape.assume, plain=False),
        "processes": Native("processes", lambda: machine.group.size, plain=False),
        "known": Native("known", lambda value: not isinstance(value, Unknown), plain=False),
        "unheard": Native("unheard", machine.unknown, plain=False),
    }
    prepared = read_text(machine, "prepared.py", NAME, {"refused": given["refused"]}).names
    given |= {name: prepared[name] for name in PREPARED}
    text = read_text(machine, "accelerate.py", NAME, given).names
    utils: dict[str, Value] = dict.fromkeys(KEPT, text["Kept"])
    utils |= {name: text[name] for name in ("GradientAccumulationPlugin", "set_seed")}
    made = {name: Namespace(name, {}) for name in MODULES}
    made[f"{NAME}.utils"].names.update(utils)
    made[f"{NAME}.logging"].names["get_logger"] = text["get_logger"]
    made[NAME].names["Accelerator"] = text["Accelerator"]
    made[NAME].names.update({name: utils[name] for name in SHOWN})
    nested(made, NAME)
    return made
