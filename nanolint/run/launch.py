"""A launch line as people paste it: ``torchrun --nproc_per_node=8 train.py config/x.py``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.run.overrides import parse_launch_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.source.values import Value

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_PYTHON = re.compile(r"python(\d(\.\d+)?)?(\.exe)?")
_TORCHRUN_MODULES = ("torch.distributed.run", "torch.distributed.launch")
_PYTHON_OPTIONS = ("-W", "-X", "--check-hash-based-pycs")  # that take the next word
_TORCHRUN_FLAGS = ("standalone", "use-env", "run-path", "no-python", "module", "virtual-local-rank")
_MODULE, _NO_PYTHON = ("-m", "module"), "no-python"
_ALLOCATOR_VARIABLES = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")


class NotALaunch(ValueError):
    """Words that launch no training script. Its text is one line."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What a launch line says of the run. None stands for what it leaves open."""

    script: Path
    configs: tuple[Path, ...]
    overrides: tuple[tuple[str, Value], ...]
    world_size: int | None
    allocator: str | None
    remarks: tuple[str, ...] = ()


def read_launch_line(words: Sequence[str], environment: Mapping[str, str] | None = None) -> Launch:
    """The launch that ``words``, split as a shell does, stand for; raises NotALaunch.

    ``environment`` are variables set before; those that lead the line come on top.
    """
    return _Reader(list(words), dict(environment or {})).read()


class _Reader:
    """Works through the programs of a line, each of which starts the next."""

    def __init__(self, words: list[str], environment: dict[str, str]) -> None:
        self._words = words
        self._environment = environment
        self._tasks: int | None = None  # of srun
        self._world_size: int | None = None
        self._known = False  # whether a launcher of processes decided the world size

    def read(self) -> Launch:
        script = self._find_script()
        try:
            configs, overrides = parse_launch_arguments(self._words)
        except ValueError as error:
            raise NotALaunch(str(error)) from error
        allocator, remarks = self._allocator()
        if not self._known:
            self._world_size = self._of_plain_python()
            if self._tasks is not None and self._tasks > 1 and "RANK" not in self._environment:
                remarks.append(
                    "srun sets no RANK and WORLD_SIZE, without which train.py runs once in each "
                    f"task; taken for one run of {self._tasks} processes"
                )
        return Launch(script, configs, overrides, self._world_size, allocator, tuple(remarks))

    def _find_script(self) -> Path:
        while self._words:
            word = self._words.pop(0)
            assignment = ASSIGNMENT.fullmatch(word)
            program = re.split(r"[/\\]", word)[-1]
            if assignment is not None:
                self._environment[assignment[1]] = assignment[2]
            elif program == "srun":
                self._read_srun()
            elif program == "torchrun":
                if not self._read_torchrun():
                    return self._script()
            elif _PYTHON.fullmatch(program):
                module = self._read_python()
                if module in _TORCHRUN_MODULES:
                    if not self._read_torchrun():
                        return self._script()
                elif module is None:
                    return self._script()
                else:
                    raise NotALaunch(f"python -m {module} launches no training script")
            elif program.endswith(".py") and not word.startswith("-"):  # ./train.py
                return Path(word)
        raise NotALaunch("expected torchrun, python or srun, and the training script")

    def _script(self) -> Path:
        if not self._words:
            raise NotALaunch("the launch line ends before the training script")
        word = self._words.pop(0)
        if not word.endswith(".py"):
            raise NotALaunch(f"expected the training script, found {word}")
        return Path(word)

    def _read_python(self) -> str | None:
        """Skip Python's own options; returns the module that ``-m`` names."""
        while self._words and self._words[0].startswith("-"):
            option = self._words.pop(0)
            if option == "-c":
                raise NotALaunch("python -c launches no training script")
            if option == "-m":
                return self._words.pop(0) if self._words else ""
            if option in _PYTHON_OPTIONS and self._words:
                self._words.pop(0)
        return None

    def _read_torchrun(self) -> bool:
        """Read torchrun's options; returns whether a program follows and not a script."""
        processes, nodes = self._number("1"), self._number("1")
        no_python = False
        while self._words and self._words[0].startswith("-"):
            name, equals, value = self._words.pop(0).partition("=")
            name = name if name in _MODULE else name.lstrip("-").replace("_", "-")
            if name in _MODULE:
                raise NotALaunch("torchrun --module launches no training script")
            no_python = no_python or name == _NO_PYTHON
            if name in _TORCHRUN_FLAGS:
                continue
            if not equals and self._words:
                value = self._words.pop(0)
            if name == "nproc-per-node":
                processes = self._number(value)
            elif name == "nnodes":
                nodes = self._number(value.partition(":")[0])
        self._known = True
        self._world_size = processes * nodes if processes and nodes else None
        return no_python

    def _number(self, text: str) -> int | None:
        """A count of processes; ``gpu`` and ``auto`` are the visible cards."""
        if text in ("gpu", "auto"):
            visible = self._environment.get("CUDA_VISIBLE_DEVICES", "").strip()
            return len(visible.split(",")) if visible else None
        return int(text) if text.isdecimal() and int(text) > 0 else None

    def _read_srun(self) -> None:
        """Read how many tasks srun starts; its other options are skipped with the words."""
        counts: dict[str, int | None] = {}
        long = {"-n": "ntasks", "-N": "nodes"}
        for at, word in enumerate(self._words):
            if not word.startswith("-"):
                continue
            name, equals, value = word.partition("=")
            if name[:2] in long and not name.startswith("--"):
                name, value = long[name[:2]], value if equals else name[2:]
            if not value and at + 1 < len(self._words):
                value = self._words[at + 1]
            counts.setdefault(name.removeprefix("--"), self._number(value))
        per_node = counts.get("ntasks-per-node")
        tasks = counts.get("ntasks") or (per_node and per_node * (counts.get("nodes") or 1))
        self._tasks = tasks or counts.get("nodes")

    def _of_plain_python(self) -> int | None:
        """The processes of a run that no launcher starts: what the environment says, else one."""
        told = self._environment.get("WORLD_SIZE")
        if told is not None:
            return self._number(told)
        return self._tasks or 1

    def _allocator(self) -> tuple[str | None, list[str]]:
        """The allocator that the environment asks for, and what of it is not replayed."""
        allocator = None
        remarks: list[str] = []
        for variable in _ALLOCATOR_VARIABLES:
            if variable not in self._environment:
                continue
            for part in self._environment[variable].split(","):
                key, _, value = part.strip().partition(":")
                if key == "expandable_segments":
                    allocator = "expandable" if value.strip().lower() == "true" else "default"
                elif key:
                    remarks.append(f"{variable}: {key} is not replayed")
            break
        return allocator, remarks
