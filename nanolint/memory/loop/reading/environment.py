"""``os.environ``: what the launch line puts into it, and what torchrun does."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.memory.loop.reading.executing import known

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.memory.loop.reading.machine import Script
    from nanolint.memory.model.reading.scopes import Frame
    from nanolint.memory.model.reading.values import Value

# What torchrun tells a single process: docs.pytorch.org/docs/stable/elastic/run.html.
ALONE = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1"}


class Environment(dict["Value", "Value"]):
    """A script that cannot do without a rank is one that torchrun starts."""

    def __init__(self, machine: Script, variables: Iterable[tuple[str, Value]]) -> None:
        super().__init__(variables)
        self._machine = machine
        self._asked = False

    def __missing__(self, name: str) -> Value:
        if name not in ALONE:
            raise KeyError(name)
        self._take_for_started(name)
        return ALONE[name]

    def demand(self, name: Value) -> bool:
        """The script does not go on without a variable: whether torchrun would have set it."""
        if not isinstance(name, str) or name not in ALONE:
            return False
        self._take_for_started(name)
        self.update(ALONE)
        return True

    def _take_for_started(self, name: str) -> None:
        if not self._asked:
            asks = f"it asks for {name}, so it is taken for one process that torchrun starts"
            self._machine.assume(f"{asks}; DDP's buckets are not counted")
        self._asked = True


def is_demanded(machine: Script, node: ast.stmt, frame: Frame) -> bool:
    """Whether what failed is ``assert "LOCAL_RANK" in os.environ``, which torchrun would meet."""
    test = node.test if isinstance(node, ast.Assert) else None
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.In):
        return False
    owner = machine.evaluate(test.comparators[0], frame)
    return isinstance(owner, Environment) and owner.demand(machine.evaluate(test.left, frame))


def environment_of(machine: Script) -> Environment:
    """What the script finds."""
    found = Environment(machine, known(machine.around.variables))
    if machine.around.world_size > 1:
        world = str(machine.around.world_size)
        found |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": world}
        found |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}  # torchrun's own
    return found
