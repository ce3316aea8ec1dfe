"""The words of a launch line as far as a trace needs them: whose Python, what script, how many."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from nanolint.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_PYTHON = re.compile(r"python(\d(\.\d+)?)?")
_WRAPPERS = {("uv", "run"), ("accelerate", "launch"), ("poetry", "run"), ("pdm", "run")}
_PREFIXES = ("env", "nohup", "time", "exec")
_TORCHRUN = ("torchrun", "torch.distributed.run", "torch.distributed.launch")
_TORCHRUN_FLAGS = ("standalone", "use-env", "run-path", "no-python", "virtual-local-rank")
_PYTHON_OPTIONS = ("-W", "-X", "--check-hash-based-pycs")  # that take the next word


class NotTraceable(UserError):
    """Words that start no Python script; one line."""


class Command(NamedTuple):
    """What is started. ``argv[0]`` is the script, or the module's name."""

    argv: tuple[str, ...]
    module: bool = False
    python: str | None = None  # as written, where it is a path
    world_size: int | None = None
    environment: tuple[tuple[str, str], ...] = ()
    ranked: bool = False  # torchrun tells even a single process its RANK


def read_command(words: Sequence[str]) -> Command:
    """The command that ``words``, split as a shell does, stand for; raises NotTraceable."""
    rest, environment = list(words), dict[str, str]()
    python: str | None = None
    world: int | None = None
    ranked = False
    while rest:
        word = rest.pop(0)
        program = word.rsplit("/", 1)[-1]
        assignment = _ASSIGNMENT.fullmatch(word)
        if assignment is not None:
            environment[assignment[1]] = assignment[2]
        elif (word, *rest[:1]) in _WRAPPERS:
            rest.pop(0)
            world = _skip_options(rest) or world
        elif word in _PREFIXES:
            continue
        elif program == "torchrun" or _PYTHON.fullmatch(program):
            module = False
            ranked = program == "torchrun"
            if ranked:
                world, module = _torchrun(rest)
            else:
                python = word if "/" in word else python
                name = _python(rest)
                if name in _TORCHRUN:
                    ranked = True
                    world, module = _torchrun(rest)
                elif name is not None:
                    rest.insert(0, name)
                    module = True
            if not rest:
                break
            variables = tuple(environment.items())
            return Command(tuple(rest), module, python, world, variables, ranked)
        elif word.endswith(".py"):
            return Command((word, *rest), False, python, world, tuple(environment.items()))
        else:
            raise NotTraceable(f"{word}: expected python or torchrun, and the training script")
    raise NotTraceable("the command ends before the training script")


def _python(rest: list[str]) -> str | None:
    """Skip Python's own options; returns the module that ``-m`` names."""
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "-c":
            raise NotTraceable("python -c runs no training script")
        if option == "-m":
            return rest.pop(0) if rest else None
        if option in _PYTHON_OPTIONS and rest:
            rest.pop(0)
    return None


def _torchrun(rest: list[str]) -> tuple[int | None, bool]:
    """Skip torchrun's options; returns the world size and whether a module follows."""
    processes: int | None = 1
    nodes, module = 1, False
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        name = name.lstrip("-").replace("_", "-")
        if word == "-m" or name == "module":
            module = True
            continue
        if name in _TORCHRUN_FLAGS:
            continue
        if not equals and rest:
            value = rest.pop(0)
        if name == "nproc-per-node":
            processes = int(value) if value.isdecimal() else None
        elif name == "nnodes":
            nodes = int(value.partition(":")[0]) if value.partition(":")[0].isdecimal() else 1
    if rest[1:2] == ["--"]:  # its argparse takes that as the end of the script's name
        del rest[1]
    return (processes * nodes if processes else None), module


def _skip_options(rest: list[str]) -> int | None:
    """Skip a wrapper's options; accelerate's says how many processes there are."""
    world = None
    while rest and rest[0].startswith("-"):
        name, equals, value = rest.pop(0).partition("=")
        if name.lstrip("-").replace("_", "-") == "num-processes":
            value = value if equals else rest.pop(0) if rest else ""
            world = int(value) if value.isdecimal() else None
    return world
