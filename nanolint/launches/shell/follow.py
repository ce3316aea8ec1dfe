"""A shell script followed without running it: each way through it is a world of its own."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.launches.commands import Argument, Started, Stopped
from nanolint.launches.placed import Placed, joined
from nanolint.launches.shell.builtins import BUILTINS, Call, assign
from nanolint.launches.shell.expand import expand, holds
from nanolint.launches.shell.parse import parse
from nanolint.launches.shell.tree import (
    Branches,
    Chain,
    Command,
    For,
    Function,
    Group,
    Literal,
    While,
)
from nanolint.launches.shell.worlds import LIKELY, NO, YES, Status, World, hide, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from nanolint.launches.shell.tree import Block, HereDocument, Node, Word

MOST_BETWEEN_ROUNDS = 4  # worlds: what one round sets, the next mostly sets anew
MOST_ROUNDS = 64  # of a loop
MOST_COMMANDS = 10_000  # that are followed
MOST_VARIABLES = 500
MOST_CALLS = 8  # of functions within functions
_SOURCES = ("source", ".")
_KEPT_FOR_LATER = re.compile(r"\\\$")  # a variable, in a here-document
_TESTS = ("[", "[[", "test", "((")


def follow(
    text: str,
    world: World | None = None,
    whole: Placed | None = None,
    scripts: Callable[[str], str | None] = lambda _path: None,
) -> Iterator[Started | Stopped]:
    """The programs that ``text`` starts, in its order, on every way through it.

    ``whole`` is ``text`` with its places. ``scripts`` gives the text of another script by its path.
    What cannot be followed is told as ``Stopped``.
    """
    follower = _Follower(whole or Placed(text), scripts)
    commands, flaw = parse(text)
    try:
        follower.block(commands, [world or World()])
    except _TooMuch as error:
        flaw = None
        follower.found.append(Stopped(error.offset, "it does too much to be read"))
    if flaw is not None:
        follower.found.append(Stopped(flaw.offset, str(flaw)))
    yield from follower.found


class _TooMuch(Exception):
    def __init__(self, offset: int) -> None:
        super().__init__()
        self.offset = offset


class _Follower:
    def __init__(self, whole: Placed, scripts: Callable[[str], str | None]) -> None:
        self._scripts = scripts
        self.found: list[Started | Stopped] = []
        self._whole = whole
        self._functions: dict[str, tuple[Node, Placed]] = {}
        self._calls = 0
        self._commands = 0

    def block(self, nodes: Block, worlds: list[World]) -> list[World]:
        """Follow ``nodes`` in every world; returns the worlds behind them."""
        for node in nodes:
            gone = [world for world in worlds if world.leaving]
            worlds = [world for world in worlds if not world.leaving]
            if not worlds:
                return gone
            worlds = [*gone, *self._node(node, worlds)]
        return worlds

    def _node(self, node: Node, worlds: list[World]) -> list[World]:
        if isinstance(node, Command):
            return [each for world in worlds for each in self._command(node, world)]
        if isinstance(node, Chain):
            return self._chain(node, worlds)
        if isinstance(node, Branches):
            return self._branches(node, worlds)
        if isinstance(node, For):
            return [each for world in worlds for each in self._for(node, world)]
        if isinstance(node, While):
            return self._rounds((*node.test, *node.body), worlds)
        if isinstance(node, Function):
            self._functions[node.name] = node.body, self._whole
            return worlds
        if not node.subshell:
            return self.block(node.body, worlds)
        # What a subshell sets is gone behind it; each part of a pipe is one.
        for world in worlds:
            inner = world.copy()
            self.block(node.body, [inner])
            world.written |= inner.written
        return worlds

    def _chain(self, node: Chain, worlds: list[World]) -> list[World]:
        worlds = self._node(node.first, worlds)
        done = [world for world in worlds if world.leaving]
        going: list[World] = []
        wanted, unwanted = (YES, NO) if node.operator == "&&" else (NO, YES)
        for world in worlds:
            if world.leaving:
                continue
            likely = world.status is LIKELY and node.operator == "&&"
            if world.status is not wanted and not likely:
                done.append(world if world.status is unwanted else replace(world, status=unwanted))
            if world.status is not unwanted:
                going.append(world.copy())
        return merged([*done, *(self._node(node.second, going) if going else [])])

    def _branches(self, node: Branches, worlds: list[World]) -> list[World]:
        behind: list[World] = []
        for position, body in enumerate(node.bodies):
            for world in worlds:
                self._count(node.start, world)
            is_else = bool(node.tests) and position >= len(node.tests)
            if position < len(node.tests):
                worlds = self.block(node.tests[position], worlds)
                behind += [world for world in worlds if world.leaving]
                worlds = [world for world in worlds if not world.leaving]
            taken = [w.copy() for w in worlds if is_else or not node.tests or w.status is not NO]
            behind += self.block(body, taken)
            if node.tests:
                worlds = [] if is_else else [w for w in worlds if w.status is not YES]
        if node.may_skip:
            behind += worlds
        return merged([replace(world, status=LIKELY) for world in behind])

    def _for(self, node: For, world: World) -> list[World]:
        if node.words is None:
            values = world.arguments if node.name else None
        else:
            values = tuple(e for word in node.words for e in expand(word, world.scope, self._whole))
        if values is None or len(values) > MOST_ROUNDS or any(each.unknown for each in values):
            reason = f"${node.name} is known only at run time"
            world.variables[node.name] = (Argument(f"${node.name}", reason),)
            return self._rounds(node.body, [world])
        worlds = [world]
        for value in values:
            for each in worlds:
                self._count(node.start, each)
                each.variables[node.name] = (replace(value, place=None),)
            worlds = self.block(node.body, worlds)
            for each in worlds:
                each.leaving = None if each.leaving == "continue" else each.leaving
            worlds = merged(worlds, MOST_BETWEEN_ROUNDS)
        for each in worlds:
            each.leaving = None if each.leaving == "break" else each.leaving
        return worlds

    def _rounds(self, body: Block, worlds: list[World]) -> list[World]:
        """Follow once a body that is run nobody knows how often: what it sets is not known."""
        names = set(_names_set(body))
        for world in worlds:
            hide(world, names)
        worlds = self.block(body, worlds)
        for world in worlds:
            hide(world, names)
            world.leaving = None if world.leaving in ("break", "continue") else world.leaving
        return worlds

    def _command(self, node: Command, world: World) -> list[World]:
        self._count(node.start, world)
        words = [e for word in node.words for e in expand(word, world.scope, self._whole)]
        names = {}
        for word in node.assignments:
            name, values = assign(word, world.scope, self._whole)
            names[name] = values
        if not words:
            world.variables |= names
            world.status = YES
            return [self._writing(node, world)]
        program = words[0].text
        if program in self._functions and words[0].unknown is None:
            return self._call(program, words, node, world)
        world.status = LIKELY
        builtin = BUILTINS.get(program)
        if builtin is not None:
            builtin(Call(words[1:], node.words[1:], self._whole), world)
            world.status = NO if program == "false" else YES
        elif program == "eval" and not any(each.unknown for each in words):
            return self._evaluate(joined((each.placed for each in words[1:]), " "), node, world)
        elif program in _SOURCES and (text := self._sourced(words, world)) is not None:
            worlds = self._evaluate(Placed(text), node, world)
            for each in worlds:
                each.leaving = None if each.leaving == "return" else each.leaving
            return worlds
        elif program in _TESTS:
            result = holds(words)
            world.status = Status.EITHER if result is None else YES if result else NO
        else:
            environment = world.environment() | {n: v[0] for n, v in names.items() if v}
            self._start(node, words, environment, world)
        return [self._writing(node, world)]

    def _count(self, start: int, world: World) -> None:
        self._commands += 1
        if self._commands > MOST_COMMANDS or len(world.variables) > MOST_VARIABLES:
            raise _TooMuch(start)

    def _start(
        self,
        node: Command,
        words: Iterable[Argument],
        environment: Mapping[str, Argument],
        world: World,
    ) -> None:
        here = node.here
        self.found.append(
            Started(
                offset=node.start,
                arguments=tuple(words),
                environment=environment,
                folder=world.folder,
                written=world.written,
                here=None if here is None else self._read(here),
            )
        )

    def _writing(self, node: Command, world: World) -> World:
        for word in node.writes:
            world.written |= {each.text for each in expand(word, world.scope)}
        return world

    def _read(self, here: HereDocument) -> Placed:
        """The text of a here-document as a program gets it, but for variables."""
        lines = here.text.split("\n")
        text = joined(
            (
                self._whole.part(start, start + len(line))
                for start, line in zip(here.starts, lines, strict=False)
            ),
            "\n",
        )
        return text if here.quoted else text.sub(_KEPT_FOR_LATER, "$")

    def _call(self, name: str, words: list[Argument], node: Command, world: World) -> list[World]:
        if self._calls >= MOST_CALLS:
            return [world]
        body, whole = self._functions[name]
        outer = world.arguments
        world.arguments = tuple(words[1:])
        worlds = self._elsewhere(lambda: self._node(body, [world]), whole, node)
        for each in worlds:
            each.arguments = outer
            each.leaving = None if each.leaving == "return" else each.leaving
        return worlds

    def _sourced(self, words: list[Argument], world: World) -> str | None:
        """The text of the script that ``source`` names, where it can be read."""
        if len(words) < 2 or words[1].unknown is not None or world.folder is None:
            return None
        return self._scripts(posixpath.normpath(posixpath.join(world.folder, words[1].text)))

    def _evaluate(self, text: Placed, node: Command, world: World) -> list[World]:
        if self._calls >= MOST_CALLS:
            return [world]
        return self._elsewhere(lambda: self.block(parse(text.text)[0], [world]), text, node)

    def _elsewhere(
        self, run: Callable[[], list[World]], whole: Placed, node: Command
    ) -> list[World]:
        """Follow what stands in another text, on behalf of ``node`` in this one."""
        outer, self._whole = self._whole, whole
        self._calls += 1
        count = len(self.found)
        worlds = run()
        if whole is not outer:
            self.found[count:] = [replace(each, offset=node.start) for each in self.found[count:]]
        self._calls -= 1
        self._whole = outer
        return worlds


def _names_set(nodes: Iterable[Node]) -> Iterator[str]:
    """The variables that commands assign, at any depth."""
    for node in nodes:
        if isinstance(node, Command):
            for word in node.assignments or _declared(node.words):
                first = word.parts[0] if word.parts else None
                if isinstance(first, Literal):
                    yield first.text.partition("=")[0].removesuffix("+")
        elif isinstance(node, Chain):
            yield from _names_set((node.first, node.second))
        elif isinstance(node, Branches):
            for block in (*node.tests, *node.bodies):
                yield from _names_set(block)
        elif isinstance(node, For):
            yield node.name
            yield from _names_set(node.body)
        elif isinstance(node, While):
            yield from _names_set((*node.test, *node.body))
        elif isinstance(node, Group):
            yield from _names_set(node.body)
        else:
            yield from _names_set((node.body,))


def _declared(words: tuple[Word, ...]) -> tuple[Word, ...]:
    return words[1:] if words and words[0].plain in BUILTINS else ()
