"""The surface of argparse: flags with their defaults, and what the launch line sets."""

from __future__ import annotations

import ast
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.run.equation import NotKnown
from nanolint.run.terms import Given, Number, Surface
from nanolint.trainers.script.operations import row, scalar
from nanolint.trainers.script.things import ITEMS, External, Instance, Row, Thing
from nanolint.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nanolint.run.terms import Place
    from nanolint.source.values import Scalar
    from nanolint.trainers.script.core import Core, Word

PARSER = "argparse.ArgumentParser"
_DECLARED = "declared flags"  # the field of a parser that holds them
_OTHERS = "other flags"  # the field of one that may take more than those
_SWITCHES: Mapping[str, tuple[bool, bool]] = {  # action: without the flag, with it
    "store_true": (False, True),
    "store_false": (True, False),
}
_MORE = frozenset({"parents", "prefix_chars", "fromfile_prefix_chars"})  # of ArgumentParser
_TRUE = frozenset({"1", "true", "yes", "y", "t", "on"})


@dataclass(frozen=True, slots=True)
class Flag:
    """One ``add_argument``. ``flags`` are its spellings, none for a positional.

    ``several``: it may take more than one value, or none.
    """

    name: str
    flags: tuple[str, ...]
    default: Thing
    kind: str  # the last name of its ``type``; "" for text, "?" for one that is not known
    action: str
    several: bool = False
    at: Place | None = None  # the line of the call


def method(
    core: Core,
    parser: Instance,
    name: str,
    arguments: Sequence[Thing],
    named: Mapping[str, Thing],
    place: Place,
) -> Thing:
    """A method of an ``ArgumentParser`` or of a group of its arguments."""
    if name == "add_argument":
        flag = declared(core, arguments, named, place)
        if flag is None:
            takes_others(core, parser)
        else:
            rest = [each for each in _flags(parser) if each.name != flag.name]
            core.state.journal.write(parser.fields, _DECLARED, _hidden([*rest, flag]))
        return Number(None)
    if name in ("add_argument_group", "add_mutually_exclusive_group"):
        return parser
    if name == "set_defaults":
        known = [_with_default(each, named.get(each.name)) for each in _flags(parser)]
        core.state.journal.write(parser.fields, _DECLARED, _hidden(known))
        return Number(None)
    if name in ("parse_args", "parse_known_args", "parse_intermixed_args"):
        found = parsed(core, _flags(parser), place)
        if name == "parse_known_args":
            return row([found, row([])])
        if not (arguments or named) and _is_whole(parser):
            core.state.refused += _refused(core.state.around.words, _flags(parser))
        return found
    takes_others(core, parser)
    return core.unknown(f"calls {name} of a parser", place)


def takes_others(core: Core, parser: Instance) -> None:
    """Note that a parser may take flags that are not known: what adds them was not followed."""
    core.state.journal.write(parser.fields, _OTHERS, Number(value=True))


def _is_whole(parser: Instance) -> bool:
    """Whether every flag is known that a parser takes."""
    known = isinstance(parser.fields.get(_DECLARED), Row)
    return known and _OTHERS not in parser.fields and not parser.named.keys() & _MORE


def _refused(words: Sequence[Word], flags: Sequence[Flag]) -> Iterator[str]:
    """What argparse would refuse of the launch line, each in a clause."""
    known = [each for flag in flags for each in flag.flags]
    for word in words:
        if not word.key.startswith("--"):
            continue
        named = list(_named_by(word.key, flags))
        if named:
            yield from (
                f"{word.key} is no {each.kind}: {word.value}"
                for each in named
                if _misfits(word, each)
            )
            continue
        begun = [each for each in known if each.startswith(word.key)]
        if begun:
            yield f"{word.key} may be {listed(begun)}"
            continue
        near = get_close_matches(word.key.replace("_", "-"), known, n=1)
        meant = next((each for each in known if _same(each, word.key)), near[0] if near else None)
        yield f"no flag {word.key}{f'; did you mean {meant}?' if meant else ''}"


def _misfits(word: Word, flag: Flag) -> bool:
    """Whether a value is none of the flag's type."""
    takes = flag.kind in ("int", "float") and flag.action == "store" and not flag.several
    if not takes or isinstance(word.value, NotKnown) or word.value is None:
        return False
    return isinstance(_converted(word.value, flag.kind), NotKnown)


def _same(one: str, other: str) -> bool:
    return one.replace("_", "-") == other.replace("_", "-")


def _hidden(flags: Sequence[Flag]) -> Row:
    return Row({ITEMS: tuple(flags)})  # type: ignore[arg-type]  # no script sees it


def _flags(parser: Instance) -> tuple[Flag, ...]:
    held = parser.fields.get(_DECLARED)
    items: Sequence[object] = (held.items or ()) if isinstance(held, Row) else ()
    return tuple(each for each in items if isinstance(each, Flag))  # else two ways differ


def _with_default(flag: Flag, default: Thing | None) -> Flag:
    if default is None:
        return flag
    return replace(flag, default=default)


def declared(
    core: Core,
    arguments: Sequence[Thing],
    named: Mapping[str, Thing],
    place: Place | None = None,
) -> Flag | None:
    names = [str(scalar(each)) for each in arguments if isinstance(scalar(each), str)]
    if not names:
        return None
    flags = tuple(each for each in names if each.startswith("-"))
    longest = next((each for each in flags if each.startswith("--")), names[0])
    destination = scalar(named.get("dest")) or longest.lstrip("-").replace("-", "_")
    of = named.get("action")
    action = of.last if isinstance(of, External) else str(scalar(of) or "store")
    kind = named.get("type")
    convert = kind.name if isinstance(kind, External) else "" if kind is None else "?"
    absent = _SWITCHES[action][0] if action in _SWITCHES else None
    default = named.get("default", Number(absent))
    if isinstance(default, Given) and default.surface is not Surface.FLAG:
        core.state.given.pop(default, None)
        default = Given(longest, default.value, Surface.ARGUMENT, default.place)
        core.state.given[default] = None
    if isinstance(default, NotKnown):
        default = replace(default, reason=f"{default.reason}, where {longest} is not given")
    return Flag(str(destination), flags, default, convert, action, "nargs" in named, place)


def parsed(core: Core, flags: Sequence[Flag], place: Place) -> Instance:
    """What ``parse_args`` gives: each flag's default, or what the launch line says."""
    values: dict[object, Thing] = {flag.name: _typed(flag.default, flag) for flag in flags}
    for word in core.state.around.words:
        for flag in _named_by(word.key, flags):
            values[flag.name] = _set(core, flag, word)
    for flag in flags:
        change = core.state.around.change(flag.name)
        if change is not None:
            values[flag.name] = _set(core, flag, change)
    held: dict[str, Thing] = {_DECLARED: _hidden(flags)}
    return Instance(External("argparse.Namespace"), place, values, named=held)


def filled(core: Core, owner: Instance, name: str, value: Thing) -> Thing:
    """What a script sets ``args.name`` to: of what an earlier run saved, that is the flag's value
    where none is given, and stands where its default does: ``default=None``."""
    if not isinstance(value, Given) or value.surface is not Surface.SAVED:
        return value
    held = owner.named.get(_DECLARED)
    items: Sequence[object] = (held.items or ()) if isinstance(held, Row) else ()
    flag = next((each for each in items if isinstance(each, Flag) and each.name == name), None)
    longest = next((e for e in (flag.flags if flag else ()) if e.startswith("--")), None)
    if flag is None or longest is None or flag.default != Number(None) or flag.at is None:
        return value
    place = core.default_of(flag.at)
    if place is None:
        return value
    core.state.given.pop(value, None)
    found = Given(longest, value.value, Surface.ARGUMENT, place, value.place)
    core.state.given[found] = None
    return found


def _named_by(key: str, flags: Sequence[Flag]) -> Iterator[Flag]:
    """The flag that a word of the launch line names, also by its beginning as argparse allows."""
    exact = [flag for flag in flags if key in flag.flags]
    if exact or not key.startswith("--"):
        yield from exact
        return
    negated = "--" + key.removeprefix("--no-") if key.startswith("--no-") else None
    begun = [flag for flag in flags if any(each.startswith(key) for each in flag.flags)]
    if len(begun) == 1:
        yield begun[0]
    elif negated is not None:
        yield from (flag for flag in flags if negated in flag.flags)


def _set(core: Core, flag: Flag, word: Word) -> Thing:
    if isinstance(word.value, NotKnown):
        return word.value
    default = flag.default.place if isinstance(flag.default, Given) else None
    if flag.default == Number(None) and flag.at is not None:
        default = core.default_of(flag.at)
    if flag.action in _SWITCHES:
        value: Scalar = _SWITCHES[flag.action][1]
    elif flag.action == "BooleanOptionalAction":
        value = not word.key.startswith("--no-")
    else:
        converted = _converted(word.value, flag.kind)
        if isinstance(converted, NotKnown):
            return converted
        value = converted
    place = word.place or core.state.around.launched
    longest = next((each for each in flag.flags if each.startswith("--")), word.key)
    found = Given(longest, value, Surface.FLAG, place, default)
    core.state.given[found] = None
    return found


def _typed(default: Thing, flag: Flag) -> Thing:
    """argparse converts a default only where it is text."""
    if isinstance(default, Given) and isinstance(default.value, str) and flag.kind:
        value = _converted(default.value, flag.kind)
        if isinstance(value, NotKnown):
            return value
        return Given(default.key, value, default.surface, default.place)
    return default


def _converted(value: Scalar, kind: str) -> Scalar | NotKnown:
    text = str(value)
    if kind == "":
        return text
    try:
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text)
        if kind == "str":
            return text
        if kind == "bool":
            return bool(text)  # as argparse does: any text is true
    except ValueError:
        return NotKnown(f"{text!r} is no {kind}")
    if kind == "?":  # a function of the script: most turn words into true and false
        if text.lower() in _TRUE or text.lower() in ("0", "false", "no", "n", "f", "off"):
            return text.lower() in _TRUE
        try:
            found = ast.literal_eval(text)
        except (SyntaxError, ValueError):
            return text
        return found if isinstance(found, (int, float, str)) else text
    return NotKnown(f"{text!r} is converted by {kind} at run time")


def is_parser(thing: Thing) -> bool:
    """Whether something declares flags."""
    if not isinstance(thing, Instance) or not isinstance(thing.of, External):
        return False
    return thing.of.name in (PARSER, "ArgumentParser")
