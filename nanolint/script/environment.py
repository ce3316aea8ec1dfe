"""``os.environ``: what the launch line puts into it, and what torchrun does."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.script import settings
from nanolint.script.executing import known

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

# What a launcher tells a single process: docs.pytorch.org/docs/stable/elastic/run.html,
# slurm.schedmd.com/srun.html.
ALONE = {
    "torchrun": {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1"},
    "srun": {
        **dict.fromkeys(("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID"), "0"),
        **dict.fromkeys(("SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NNODES"), "1"),
    },
}
_OF_MPI = "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"
RANKS = frozenset({"RANK", "LOCAL_RANK", "SLURM_PROCID", "SLURM_LOCALID", *_OF_MPI})
SIZES = frozenset({"SLURM_NTASKS", "SLURM_NPROCS", "OMPI_COMM_WORLD_SIZE"})


class Environment(dict["Value", "Value"]):
    """A script that cannot do without a rank is one that torchrun or srun starts."""

    def __init__(self, machine: Script, variables: Iterable[tuple[str, Value]]) -> None:
        super().__init__(variables)
        self._machine = machine
        self._asked = False

    def __setitem__(self, name: Value, value: Value) -> None:
        settings.put(self._machine, name, value)
        super().__setitem__(name, value)

    def setdefault(self, name: Value, default: Value = None) -> Value:
        if name not in self:
            self[name] = default
        return self[name]

    def update(self, *given: Value, **named: Value) -> None:
        for name, value in dict(*given, **named).items():
            self[name] = value

    def __ior__(self, given: Value) -> Environment:  # type: ignore[misc]
        self.update(given)
        return self

    def __getitem__(self, name: Value) -> Value:
        self._machine.group.is_told_rank |= name in RANKS
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        found = super().__contains__(name)
        self._machine.group.is_told_rank |= name in RANKS
        self._machine.presumes |= not found
        return found

    def get(self, name: Value, default: Value = None) -> Value:
        return super().get(name, default) if name in self else default

    def __missing__(self, name: str) -> Value:
        starter = self._take_for_started(name)
        if starter is None:
            raise KeyError(name)
        return ALONE[starter][name]

    def demand(self, name: Value) -> bool:
        """The script does not go on without a variable: whether a launcher would have set it."""
        starter = self._take_for_started(name)
        if starter is None:
            return False
        self.update(ALONE[starter])
        return True

    def _take_for_started(self, name: Value) -> str | None:
        """The launcher that would have set a variable."""
        listed = ALONE if isinstance(name, str) else {}
        starter = next((each for each, names in listed.items() if name in names), None)
        if starter is not None and not self._asked:
            why = f"it reads {name}, so nanolint assumes one process that {starter} starts"
            self._machine.assume(why)
            self._asked = True
        return starter


def is_demanded(machine: Script, node: ast.stmt, frame: Frame) -> bool:
    """Whether what failed is ``assert "LOCAL_RANK" in os.environ``, which torchrun would meet."""
    test = node.test if isinstance(node, ast.Assert) else None
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.In):
        return False
    owner = machine.evaluate(test.comparators[0], frame)
    return isinstance(owner, Environment) and owner.demand(machine.evaluate(test.left, frame))


def environment_of(machine: Script) -> Environment:
    """Returns the environment of the script."""
    found = Environment(machine, known(machine.around.variables))
    world = str(machine.around.world_size)
    found |= dict.fromkeys(SIZES & found.keys(), world)
    if machine.around.world_size > 1:
        found |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": world}
        found |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}  # torchrun's own
    return found
