"""The commands of a shell that change what its names stand for."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from nanolint.frozen import dataclass
from nanolint.launches.commands import Argument, argument
from nanolint.launches.placed import joined
from nanolint.launches.shell.expand import NOWHERE, expand, one_word
from nanolint.launches.shell.tree import Array, Literal, Word

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nanolint.launches.placed import Placed
    from nanolint.launches.shell.expand import Scope


@dataclass(frozen=True, slots=True)
class Call:
    """A builtin's arguments, and the words of the text ``whole`` that they came from."""

    arguments: Sequence[Argument]
    words: Sequence[Word]
    whole: Placed


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


def assign(word: Word, scope: Scope, whole: Placed = NOWHERE) -> tuple[str, tuple[Argument, ...]]:
    """Name and value of ``NAME=value``, ``NAME+=value`` and ``NAME=(a b)``; ``whole`` is the text
    that the word stands in.
    """
    first = word.parts[0]
    assert isinstance(first, Literal)
    name, _, begin = first.text.partition("=")
    appends = name.endswith("+")
    name = name.removesuffix("+")
    before = (scope.variables.get(name) or ()) if appends else ()
    rest = word.parts[1:]
    if rest and isinstance(rest[0], Array):
        return name, (*before, *(e for each in rest[0].words for e in expand(each, scope, whole)))
    # Nothing is split or matched here: a glob in a value is seen where the value is used.
    at = None if first.start is None else first.start + len(first.text) - len(begin)
    value = one_word((Literal(begin, quoted=True, start=at), *map(_as_it_is, rest)), scope, whole)
    if before:
        both = joined((before[0].placed, value.placed))
        return name, (argument(both, before[0].unknown or value.unknown),)
    return name, (replace(value, place=value.placed.span(0, len(value.text))),)


def _as_it_is(part: object) -> Literal:
    if isinstance(part, Literal):
        return replace(part, quoted=True)
    return part  # type: ignore[return-value]


def _export(call: Call, world: State) -> None:
    _declare_words(call, world, exports=True)


def _declare(call: Call, world: State) -> None:
    _declare_words(call, world, exports=any(each.text == "-x" for each in call.arguments))


def _declare_words(call: Call, world: State, *, exports: bool) -> None:
    for word in call.words:
        first = word.parts[0] if word.parts else None
        if not isinstance(first, Literal) or first.text.startswith("-"):
            continue
        name = first.text.partition("=")[0].removesuffix("+")
        if "=" in first.text:
            name, value = assign(word, world.scope, call.whole)
            world.variables[name] = value
        if exports:
            world.exported |= {name}


def _unset(call: Call, world: State) -> None:
    for each in call.arguments:
        world.variables.pop(each.text, None)


def _read(call: Call, world: State) -> None:
    for each in call.arguments:
        if each.text.isidentifier():
            reason = f"${each.text} is read at run time"
            world.variables[each.text] = (Argument(f"${each.text}", reason),)


def _cd(call: Call, world: State) -> None:
    places = [each for each in call.arguments if not each.text.startswith("-")]
    if len(places) != 1 or places[0].unknown or places[0].text.startswith("~"):
        world.folder = None
    elif posixpath.isabs(places[0].text):
        world.folder = places[0].text
    elif world.folder is not None:
        world.folder = posixpath.join(world.folder, places[0].text)


def _shift(call: Call, world: State) -> None:
    count = call.arguments[0].text if call.arguments else "1"
    if world.arguments is not None:
        world.arguments = world.arguments[int(count) :] if count.isdecimal() else ()


def _set(call: Call, world: State) -> None:
    texts = [each.text for each in call.arguments]
    if "--" in texts:
        world.arguments = tuple(call.arguments[texts.index("--") + 1 :])


def _nothing(_: Call, __: State) -> None:
    pass


def _leave(how: str) -> Callable[[Call, State], None]:
    def leave(_: Call, world: State) -> None:
        world.leaving = how

    return leave


BUILTINS: Mapping[str, Callable[[Call, State], None]] = {
    "export": _export,
    **dict.fromkeys(("declare", "typeset", "local", "readonly"), _declare),
    "unset": _unset,
    **dict.fromkeys(("read", "mapfile", "readarray"), _read),
    **dict.fromkeys(("cd", "pushd", "popd"), _cd),
    "shift": _shift,
    "set": _set,
    **dict.fromkeys((":", "true", "false"), _nothing),
    **{each: _leave(each) for each in ("exit", "return", "break", "continue")},
}
