"""The commands of a shell that change what its names stand for."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from nanolint.diagnostics import Span
from nanolint.launches.commands import Argument
from nanolint.launches.shell.expand import expand, joined
from nanolint.launches.shell.tokens import Array, Literal, Word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.launches.shell.expand import Scope


class State(Protocol):
    """What a builtin may change; see nanolint.launches.shell.worlds.World."""

    variables: dict[str, tuple[Argument, ...]]
    exported: frozenset[str]
    arguments: tuple[Argument, ...] | None
    folder: str | None
    leaving: str | None

    @property
    def scope(self) -> Scope:
        """What its names stand for."""


def assign(word: Word, scope: Scope, base: int | None = None) -> tuple[str, tuple[Argument, ...]]:
    """Name and value of ``NAME=value``, ``NAME+=value`` and ``NAME=(a b)``.

    ``base`` is where the text of the word begins in the whole; None where it is no part of it.
    """
    first = word.parts[0]
    assert isinstance(first, Literal)
    name, _, begin = first.text.partition("=")
    appends = name.endswith("+")
    name = name.removesuffix("+")
    before = (scope.variables.get(name) or ()) if appends else ()
    rest = word.parts[1:]
    if rest and isinstance(rest[0], Array):
        return name, (*before, *(e for each in rest[0].words for e in expand(each, scope, None)))
    # Nothing is split or matched here: a glob in a value is seen where the value is used.
    value = joined((Literal(begin, quoted=True), *map(_as_it_is, rest)), scope)
    if before:
        unknown = before[0].unknown or value.unknown
        value = Argument(before[0].text + value.text, unknown)
    elif base is not None and word.plain == f"{name}={value.text}":
        place = Span(base + word.end - len(value.text), base + word.end)
        value = replace(value, place=place, literal=True)
    return name, (value,)


def _as_it_is(part: object) -> Literal:
    if isinstance(part, Literal):
        return Literal(part.text, quoted=True)
    return part  # type: ignore[return-value]


def _export(_: Sequence[Argument], words: Sequence[Word], world: State) -> None:
    _declare_words(words, world, exports=True)


def _declare(arguments: Sequence[Argument], words: Sequence[Word], world: State) -> None:
    _declare_words(words, world, exports=any(each.text == "-x" for each in arguments))


def _declare_words(words: Sequence[Word], world: State, *, exports: bool) -> None:
    for word in words:
        first = word.parts[0] if word.parts else None
        if not isinstance(first, Literal) or first.text.startswith("-"):
            continue
        name = first.text.partition("=")[0].removesuffix("+")
        if "=" in first.text:
            name, value = assign(word, world.scope)
            world.variables[name] = value
        if exports:
            world.exported |= {name}


def _unset(arguments: Sequence[Argument], _: Sequence[Word], world: State) -> None:
    for each in arguments:
        world.variables.pop(each.text, None)


def _read(arguments: Sequence[Argument], _: Sequence[Word], world: State) -> None:
    for each in arguments:
        if each.text.isidentifier():
            reason = f"${each.text} is read when the script runs"
            world.variables[each.text] = (Argument(f"${each.text}", reason),)


def _cd(arguments: Sequence[Argument], _: Sequence[Word], world: State) -> None:
    places = [each for each in arguments if not each.text.startswith("-")]
    if len(places) != 1 or places[0].unknown or places[0].text.startswith("~"):
        world.folder = None
    elif posixpath.isabs(places[0].text):
        world.folder = places[0].text
    elif world.folder is not None:
        world.folder = posixpath.join(world.folder, places[0].text)


def _shift(arguments: Sequence[Argument], _: Sequence[Word], world: State) -> None:
    count = arguments[0].text if arguments else "1"
    if world.arguments is not None:
        world.arguments = world.arguments[int(count) :] if count.isdecimal() else ()


def _set(arguments: Sequence[Argument], _: Sequence[Word], world: State) -> None:
    texts = [each.text for each in arguments]
    if "--" in texts:
        world.arguments = tuple(arguments[texts.index("--") + 1 :])


def _nothing(_: Sequence[Argument], __: Sequence[Word], ___: State) -> None:
    pass


def _leave(how: str) -> Builtin:
    def leave(_: Sequence[Argument], __: Sequence[Word], world: State) -> None:
        world.leaving = how

    return leave


class Builtin(Protocol):
    """Changes the world as a command does, by its arguments and the words that they came from."""

    def __call__(
        self, arguments: Sequence[Argument], words: Sequence[Word], world: State, /
    ) -> None: ...


BUILTINS: Mapping[str, Builtin] = {
    "export": _export,
    "declare": _declare,
    "typeset": _declare,
    "local": _declare,
    "readonly": _declare,
    "unset": _unset,
    "read": _read,
    "mapfile": _read,
    "readarray": _read,
    "cd": _cd,
    "pushd": _cd,
    "popd": _cd,
    "shift": _shift,
    "set": _set,
    ":": _nothing,
    "true": _nothing,
    "false": _nothing,
    "exit": _leave("exit"),
    "return": _leave("return"),
    "break": _leave("break"),
    "continue": _leave("continue"),
}
