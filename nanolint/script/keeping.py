"""What turns of a loop keep on the card, and that of the turns which are not read.

If each of the latest turns kept the same blocks, so do the others: their blocks are put on the
tape, and let go of once the program lets go of what the turns that were read have kept.
"""

from __future__ import annotations

import ast
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from nanolint.interpreter.libraries import Queue
from nanolint.run.story import Fact, Told
from nanolint.script.alike import freed_since
from nanolint.script.counters import holders
from nanolint.script.left import collected, is_bounded, line_of
from nanolint.script.reaching import holds_card
from nanolint.tape.symbolic import plain as unnoted
from nanolint.tape.tape import Component, rounded
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.scopes import Frame
    from nanolint.script.machine import Script
    from nanolint.tape.tape import Handle

LITTLE = 1 << 20  # bytes that all turns together keep, such as their losses
FEW_BYTES = 4096  # that a turn keeps, such as its loss
REPEATED = 3  # turns that kept the same: so do the others
MOST_BLOCKS = 2000  # that are put on the tape one by one
MOST_STATES = 40  # that are remembered

Blocks = Counter[int]  # how many of each size


class Keeping:
    """What lies on the card when turns of one run of a loop begin."""

    def __init__(self, machine: Script, node: ast.For | ast.While, frame: Frame) -> None:
        self._machine, self._node, self._frame = machine, node, frame
        self.states: list[tuple[int, Blocks, int]] = []  # by turn, with the bytes of small ones
        self._live: dict[int, int] = {}
        self._events = 0
        self._put_there: list[Handle] = []  # what turns keep that are not read
        self._sizes = Blocks()  # of these
        self._least = 0  # bytes: if no more is left, that was let go of
        self._oldest = len(machine.card.tape.sizes)  # what is older, the model holds anyway
        self._has_cycles = False
        self._settled = Blocks()  # what lay there after the first steps
        self._inner: Keeping | None = None  # of a loop within this one, which was left
        self._held = frozenset[Any]()  # what names held then
        self._began = machine.card.tape.mark()  # a turn
        self._behind = self._began  # what follows the loop that was last within it
        self._usual = 0  # bytes of earlier turns that each lets go of
        self.replaces = self._has_replaced = False  # the latest turn, or any, lets go of more

    @property
    def is_filled(self) -> bool:
        """Whether blocks lie there of turns that were not read."""
        return bool(self._put_there)

    @property
    def has_kept(self) -> bool:
        """Whether more lies there than after the first steps."""
        return bool(self.states and self.states[-1][1] - self._settled)

    @property
    def has_kept_behind(self) -> bool:
        """Whether more lies there, or is held, than when a loop within this one was left."""
        inner = self._inner
        if inner is None or not inner.states:
            return False
        return bool(self.states[-1][1] - inner.states[-1][1] or self.held() - self._held)

    def settles(self) -> None:
        """The first steps are done."""
        self._settled = self.states[-1][1] if self.states else Blocks()

    def now(self, turn: int) -> Blocks:
        """Returns the large blocks that lie there, before a turn."""
        if self._has_cycles:
            collected()
        if self._inner is not None:
            self._inner.lets_go()
        self.lets_go()
        large = self._large()
        small = sum(size for size in self._live.values() if size <= FEW_BYTES)
        self.states.append((turn, large, small))
        del self.states[:-MOST_STATES]
        return large

    def _large(self) -> Blocks:
        """The large blocks that turns have made which were read."""
        tape, live = self._machine.card.tape, self._live
        for event in tape.events[self._events :]:
            if event >= 0:
                live[event] = unnoted(tape.sizes[event])
            else:
                live.pop(~event, None)
        self._events = len(tape.events)
        return Counter(size for size in live.values() if size > FEW_BYTES) - self._sizes

    def lets_go(self) -> None:
        """Let go of what turns kept that were not read, if that of the others was let go of."""
        if self._put_there and bytes_of(self._large()) <= self._least:
            self._machine.card.tape.free(*self._put_there)
            self._put_there.clear()
            self._sizes.clear()

    def begins(self) -> None:
        """A turn begins."""
        self._began = self._behind = self._machine.card.tape.mark()
        self.replaces = False

    def ends(self, turn: int) -> None:
        """A turn ends, which may have let go of what earlier turns had kept."""
        freed = freed_since(self._machine.card.tape, self._behind, self._began)
        if self._behind is self._began:
            self._usual = min(freed, self._usual) if turn > 1 else freed
        self.replaces |= freed - self._usual > LITTLE
        self._has_replaced |= self.replaces

    def leaves(self, inner: Keeping) -> None:
        """A loop in a turn is left."""
        self._inner, self._held = inner, self.held()
        self._behind, self.replaces = self._machine.card.tape.mark(), inner._has_replaced

    def enters(self) -> None:
        """A loop in a turn begins: what another run of it has kept is let go of now or never."""
        inner, self._inner = self._inner, None
        if inner is None:
            return
        inner.lets_go()
        if inner.is_filled and is_bounded(self._node):
            self.doubt()

    def doubt(self) -> None:
        """Nobody knows what turns keep that are not read."""
        place = f"{self._frame.module.path}:{self._node.lineno}"
        doubt = f"the memory that unread steps keep is not known ({place})"
        self._machine.doubts += [] if doubt in self._machine.doubts else [doubt]

    def held(self) -> frozenset[Any]:
        """How many tensors each name holds: a view of what lies there anyway keeps it there."""
        found = Counter[tuple[str, Any]]()
        for path, names in holders(self._frame):
            for name, value in list(names.items()):
                held = value.values() if isinstance(value, dict) else value
                for each in held if isinstance(value, (list, tuple, dict)) else (value,):
                    if isinstance(each, Tensor) and self._is_large(each):
                        found[path, name] += 1
        return frozenset(found.items())

    def _is_large(self, tensor: Tensor) -> bool:
        card, storage = self._machine.card, tensor.storage
        if storage is None or tensor.device is not card or storage.handle < self._oldest:
            return False
        return bool(unnoted(card.tape.sizes[storage.handle]) > FEW_BYTES)

    def lets_cycles_go(self, turns: int) -> bool:
        """Let go of what objects hold that hold each other, as Python's collector does at a time of
        its own; returns whether ``turns`` have left anything so on the card."""
        tape = self._machine.card.tape
        before = len(tape.events)
        name = collected()
        freed = [unnoted(tape.sizes[~event]) for event in tape.events[before:] if event < 0]
        if sum(freed) <= LITTLE:
            return False
        self._has_cycles = True
        place = f"{self._frame.module.path}:{line_of(name, self._node)}"
        self._machine.doubts.append(
            f"a reference cycle keeps {sum(freed) // turns:,} bytes of each step until Python"
            f" collects garbage ({place})"
        )
        return True

    def growth(self) -> Blocks:
        """Returns the blocks that each of the latest turns kept, if they are the same."""
        kept = list[Blocks]()
        for one, other in pairwise(self.states[-REPEATED - 1 :]):
            if other[0] != one[0] + 1 or one[1] - other[1]:
                return Blocks()
            kept.append(other[1] - one[1])
        is_same = len(kept) == REPEATED and all(each == kept[0] for each in kept)
        return kept[0] if is_same else Blocks()

    def grow(self, turns: int, period: int) -> bool:
        """Put on the tape what so many turns keep that are not read; ``period`` turns are alike."""
        blocks = self.growth()
        small = self._small(period)
        is_much = small * turns > LITTLE and not is_bounded(self._node)
        if is_much:
            self.put(small, turns)
        turns = min([turns, *self._fills()])
        for size, count in blocks.items():
            self.put(size, count * turns)
        if not is_bounded(self._node):
            self._tell(bytes_of(blocks), turns)
        self._least = bytes_of(self.states[-1][1]) - 2 * bytes_of(blocks)
        return is_much or bool(blocks)

    def _tell(self, nbytes: int, turns: int) -> None:
        """Tells which statement keeps so many bytes of each turn, if a single list grows."""
        card = self._machine.card
        grown = [
            (name, values[-1])
            for _, names in holders(self._frame)
            for name, values in list(names.items())
            if type(values) is list
            and len(values) >= REPEATED
            and all(isinstance(e, Tensor) and e.device is card for e in values[-REPEATED:])
        ]
        if len(grown) != 1 or nbytes * turns <= LITTLE:
            return
        ((name, last),) = grown
        turns += self.states[-1][0] + 2  # with those that were read, and the last
        graph = "graph" if last.requires_grad else ""
        nodes = list(ast.walk(self._node))
        for each in nodes if not any(_sets(each, name) for each in nodes) else ():
            if isinstance(each, ast.Attribute) and each.attr == "append" and _is(each.value, name):
                place = ((self._frame.module.path, each.lineno),)
                told = Told(Fact.GROWS, place, words=(graph,), numbers=(nbytes, turns))
                self._machine.teller.grown[place] = told

    def _small(self, turns: int) -> int:
        """The bytes that each of the latest turns kept in small blocks."""
        if len(self.states) <= turns:
            return 0
        one, other = self.states[-1 - turns], self.states[-1]
        return (other[2] - one[2]) // turns if other[0] == one[0] + turns else 0

    def _fills(self) -> Iterator[int]:
        """In how many turns each queue is full that holds something on the card."""
        for _, names in holders(self._frame):
            for value in list(names.values()):
                most = value.most if isinstance(value, Queue) else None
                if most is not None and holds_card(self._machine, value):
                    yield max(0, most - len(value) - 1)

    def put(self, size: int, count: int) -> None:
        """Put so many blocks on the tape."""
        tape = self._machine.card.tape
        each = min(count, MOST_BLOCKS)
        sizes = [size] * each + [size * (count - each)] * (count > each)
        for nbytes in sizes:
            handle = tape.alloc(nbytes, "what each step keeps", Component.ACTIVATIONS)
            self._put_there.append(handle)
            self._sizes[rounded(nbytes)] += 1


def _sets(node: ast.AST, name: str) -> bool:
    """Whether a node binds a name, or a part of what it holds."""
    held = node.value if isinstance(node, ast.Subscript) else node
    return _is(held, name) and not isinstance(getattr(node, "ctx", None), ast.Load)


def _is(node: ast.AST, name: str) -> bool:
    return name in (getattr(node, "id", None), getattr(node, "attr", None))


def bytes_of(blocks: Blocks) -> int:
    """How many bytes they have."""
    return sum(size * count for size, count in blocks.items())
