"""``rich``, which shows what a run does: each of its names is something to show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.values import Namespace, Native
from nanolint.script.training import later, nested, read_text

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

NAME = "rich"
# Its modules, each with the names that scripts take from it.
MODULES = {
    NAME: ("get_console", "inspect", "print", "pretty", "traceback", "box", "reconfigure"),
    f"{NAME}.console": ("Console", "Group"),
    f"{NAME}.table": ("Column", "Table"),
    f"{NAME}.panel": ("Panel",),
    f"{NAME}.text": ("Text",),
    f"{NAME}.live": ("Live",),
    f"{NAME}.layout": ("Layout",),
    f"{NAME}.columns": ("Columns",),
    f"{NAME}.align": ("Align",),
    f"{NAME}.rule": ("Rule",),
    f"{NAME}.tree": ("Tree",),
    f"{NAME}.markdown": ("Markdown",),
    f"{NAME}.syntax": ("Syntax",),
    f"{NAME}.logging": ("RichHandler",),
    f"{NAME}.pretty": ("Pretty", "install", "pprint"),
    f"{NAME}.traceback": ("Traceback", "install"),
    f"{NAME}.progress": (
        *("BarColumn", "DownloadColumn", "FileSizeColumn", "MofNCompleteColumn", "Progress"),
        *("ProgressColumn", "RenderableColumn", "SpinnerColumn", "Task", "TaskID"),
        *("TaskProgressColumn", "TextColumn", "TimeElapsedColumn", "TimeRemainingColumn"),
        *("TotalFileSizeColumn", "TransferSpeedColumn"),
    ),
}
DERIVED = ("Progress", "ProgressColumn", "RenderableColumn")  # scripts derive classes from these


def table(machine: Script) -> dict[str, Value]:
    """The modules by their names."""
    return later(MODULES, lambda: _made(machine))


def _made(machine: Script) -> dict[str, Namespace]:
    unheard = Native("unheard", machine.unknown, plain=False)
    text = read_text(machine, "showing.py", NAME, {"unheard": unheard}).names
    shown = machine.call(text["Shown"], [])  # which makes more of its kind, as classes do
    made = {name: Namespace(name, dict.fromkeys(names, shown)) for name, names in MODULES.items()}
    made[f"{NAME}.progress"].names |= dict.fromkeys(DERIVED, text["Shown"])
    made[f"{NAME}.progress"].names["track"] = text["track"]
    nested(made, NAME)
    return made
