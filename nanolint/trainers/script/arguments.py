"""The surface of argparse: flags with their defaults, and what the words of the launch line set."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.run.described import Put
from nanolint.run.equation import NotKnown
from nanolint.run.terms import Given, Number, Surface
from nanolint.source.python import literal
from nanolint.trainers.script.core import Word
from nanolint.trainers.script.operations import row, scalar
from nanolint.trainers.script.things import ITEMS, External, Instance, Row, Table, Thing
from nanolint.units import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from nanolint.run.terms import Place
    from nanolint.source.values import Scalar
    from nanolint.trainers.script.core import Core
    from nanolint.trainers.script.things import Scope

PARSER = "argparse.ArgumentParser"
_DECLARED = "declared flags"  # the field of a parser that holds them
_OTHERS = "other flags"  # the field of one that may take more than those
_COMMANDS = "commands"  # the field of one that lets the launch line choose among others
COMMANDS = "argparse.Commands"  # what add_subparsers gives
_SET = "set"  # the action of what set_defaults alone has brought
_MORE = frozenset({"prefix_chars", "fromfile_prefix_chars"})  # of ArgumentParser


def method(
    core: Core,
    parser: Instance,
    name: str,
    arguments: Sequence[Thing],
    named: Mapping[str, Thing],
    place: Place,
) -> Thing:
    """A method of an ``ArgumentParser``, of a group of its arguments, or of its commands."""
    if name == "add_subparsers":
        fields: dict[object, Thing] = {"dest": named.get("dest", Number(None)), _COMMANDS: Table()}
        made = Instance(External(COMMANDS), place, fields)
        core.state.journal.write(parser.fields, _COMMANDS, made)
        return made
    if name == "add_parser" and arguments:
        made = Instance(External(PARSER), place, named=dict(named))
        table = parser.fields.get(_COMMANDS)
        if isinstance(table, Table):
            core.state.journal.write(table.entries, scalar(arguments[0]), made)
        return made
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
        others = named.keys() - {each.name for each in known}
        known += [Flag(each, (), named[each], "", _SET) for each in sorted(others)]
        core.state.journal.write(parser.fields, _DECLARED, _hidden(known))
        return Number(None)
    if name == "get_default" and arguments:
        asked = scalar(arguments[0])
        return next((e.default for e in _flags(parser) if e.name == asked), Number(None))
    if name in ("parse_args", "parse_known_args", "parse_intermixed_args"):
        given = dict(zip(("args", "namespace"), arguments, strict=False)) | dict(named)
        flags, found = _given(core, parser, given, place)
        if name == "parse_known_args":
            return row([found, left_over()])
        if not (arguments or named) and _is_whole(parser):
            core.state.refused += _refused(core.state.around.words, flags)
        return found
    takes_others(core, parser)
    return core.unknown(f"calls {name} of a parser", place)


def _given(
    core: Core, parser: Instance, given: Mapping[str, Thing], place: Place
) -> tuple[Sequence[Flag], Instance]:
    """The flags of ``parse_args(args, namespace)``, and what it gives."""
    flags, commands = _with_commands(parser, core.state.around.alone, place)
    words = own_words(given.get("args"), lambda key: takes_value(key, flags), place)
    if words is None and changes_argv(each.source.text for each in _followed(core)):
        words = NotKnown("the values that the script puts into sys.argv", place.path, place.line)
    beside = of_namespace(given.get("namespace"), place)
    if words is not None and not isinstance(words, NotKnown):
        alone = [str(each.value) for each in words if not each.key]
        flags, commands = _with_commands(parser, alone, place)
    for why in (words, beside):
        if isinstance(why, NotKnown):
            found = parsed(core, flags, place)
            return flags, replace(found, fields={flag.name: why for flag in flags})
    assert not isinstance(words, NotKnown) and not isinstance(beside, NotKnown)
    return flags, parsed(core, flags, place, words, {**commands, **beside})


def _with_commands(
    parser: Instance, alone: Sequence[str], place: Place
) -> tuple[Sequence[Flag], Mapping[object, Thing]]:
    """The flags of a parser and of the commands that words without dashes choose, and what these
    set; without such a word nothing is known of what any of them would."""
    flags, found = list(_flags(parser)), dict[object, Thing]()
    made = parser.fields.get(_COMMANDS)
    while isinstance(made, Instance) and isinstance(table := made.fields[_COMMANDS], Table):
        dest = scalar(made.fields["dest"])
        chosen = next((each for each in alone if each in table.entries), None)
        if chosen is None:
            why = NotKnown("which command of the script is started", place.path, place.line)
            parsers = (each for each in table.entries.values() if isinstance(each, Instance))
            names = (each.name for parser in parsers for each in _flags(parser))
            return flags, found | dict.fromkeys([dest, *names], why)
        found[dest] = Number(chosen)
        inner = table.entries[chosen]
        alone = [each for each in alone if each != chosen]
        if not isinstance(inner, Instance):
            break
        flags += _flags(inner)
        made = inner.fields.get(_COMMANDS)
    return flags, found


def _followed(core: Core) -> Iterator[Scope]:
    """The script, and what of the project it has imported so far."""
    yield core.script_scope()
    yield from (each for each in core.state.modules.values() if each is not None)


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
        named = list(named_by(word.key, flags))
        if named:
            yield from (
                f"{word.key} is not a value of type {each.kind}: {word.value}"
                for each in named
                if misfits(word, each)
            )
            continue
        begun = [each for each in known if each.startswith(word.key)]
        if begun:
            yield f"{word.key} may be {listed(begun)}"
            continue
        near = get_close_matches(word.key.replace("_", "-"), known, n=1)
        meant = next((each for each in known if _same(each, word.key)), near[0] if near else None)
        yield f"no flag {word.key}{f'; did you mean {meant}?' if meant else ''}"


def _same(one: str, other: str) -> bool:
    return one.replace("_", "-") == other.replace("_", "-")


def _hidden(flags: Sequence[Flag]) -> Row:
    return Row({ITEMS: tuple(flags)})  # type: ignore[arg-type]  # no script sees it


def _flags(parser: Instance) -> tuple[Flag, ...]:
    held, parents = parser.fields.get(_DECLARED), parser.named.get("parents")
    items: Sequence[object] = (held.items or ()) if isinstance(held, Row) else ()
    own = tuple(each for each in items if isinstance(each, Flag))  # else two ways differ
    above = parents.items if isinstance(parents, Row) else ()
    taken = [e for each in above if isinstance(each, Instance) for e in _flags(each)]
    return (*(each for each in taken if each.name not in {e.name for e in own}), *own)


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
    absent = SWITCHES[action][0] if action in SWITCHES else None
    default = named.get("default", Number(absent))
    if isinstance(default, Given) and default.surface is not Surface.FLAG:
        core.state.given.pop(default, None)
        default = Given(longest, default.value, Surface.ARGUMENT, default.place)
        core.state.given[default] = None
    if isinstance(default, NotKnown):
        default = replace(default, reason=f"{default.reason}, if {longest} is not given")
    return Flag(str(destination), flags, default, convert, action, "nargs" in named, place)


def parsed(
    core: Core,
    flags: Sequence[Flag],
    place: Place,
    words: Sequence[Word] | None = None,
    beside: Mapping[object, Thing] = MappingProxyType({}),
) -> Instance:
    """What ``parse_args`` gives: each flag's default, or what the launch line says.

    ``words`` are the script's own in place of the launch line's; ``beside`` is what they
    are put to.
    """
    values: dict[object, Thing] = {flag.name: typed(flag.default, flag) for flag in flags}
    values |= beside
    alone = core.state.around.alone if words is None else [e.value for e in words if not e.key]
    chosen = {scalar(each) for each in beside.values()}
    rest = [each for each in alone if each not in chosen]
    places = [each for each in flags if not each.flags and each.action != _SET]
    if len(rest) == len(places) and not any(each.several for each in places):
        for flag, text in zip(places, rest, strict=True):
            values[flag.name] = number(said(flag, Word("", text)))
    elif rest:
        why = NotKnown("a word without dashes", place.path, place.line)
        values |= {each.name: why for each in places}
    for word in core.state.around.words if words is None else words:
        for flag in named_by(word.key, flags):
            if words is None:
                values[flag.name] = _set(core, flag, word)
            else:
                values[flag.name] = number(said(flag, word))
    for flag in flags:
        change = _change(core, flag)
        if change is not None:
            values[flag.name] = _put(core, flag, change)
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


def _set(core: Core, flag: Flag, word: Word) -> Thing:
    if isinstance(word.value, NotKnown):
        return word.value
    default = flag.default.place if isinstance(flag.default, Given) else None
    if flag.default == Number(None) and flag.at is not None:
        default = core.default_of(flag.at)
    value = said(flag, word)
    if isinstance(value, NotKnown):
        return value
    place = word.place or core.state.around.launched
    longest = next((each for each in flag.flags if each.startswith("--")), word.key)
    found = Given(longest, value, Surface.FLAG, place, default)
    core.state.given[found] = None
    return found


def _change(core: Core, flag: Flag) -> Word | None:
    """Returns what ``--set`` says of a flag, by its attribute or any of its spellings."""
    found = (core.state.around.change(name) for name in (flag.name, *flag.flags))
    return next((each for each in found if each is not None), None)


def _put(core: Core, flag: Flag, change: Word) -> Thing:
    """Returns what ``--set`` makes of a flag: as if the launch line had it, last."""
    if isinstance(change.value, NotKnown):
        return change.value
    value = change.value if is_switch(flag) else str(change.value)
    if not isinstance(value, (str, bool)):
        return NotKnown(f"{flag.name} is True or False, not {value!r}")
    found = _set(core, flag, replace(change, value=value))
    if isinstance(found, Given):
        if isinstance(flag.default, Given):
            core.state.given.pop(flag.default, None)
        core.state.put[Put(found, change.key, flag.name, value)] = None
    return found


def is_parser(thing: Thing) -> bool:
    """Whether something declares flags."""
    if not isinstance(thing, Instance) or not isinstance(thing.of, External):
        return False
    return thing.of.name in (PARSER, "ArgumentParser", COMMANDS)


SWITCHES: Mapping[str, tuple[bool, bool]] = {  # action: without the flag, with it
    "store_true": (False, True),
    "store_false": (True, False),
}
_BOTH = "BooleanOptionalAction"
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


def named_by(key: str, flags: Sequence[Flag]) -> Iterator[Flag]:
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


def takes_value(key: str, flags: Sequence[Flag]) -> bool | None:
    """Whether its value follows a flag; None where several may."""
    named = list(named_by(key, flags))
    if any(each.several for each in named):
        return None
    return any(not is_switch(each) for each in named)


def is_switch(flag: Flag) -> bool:
    """Whether a flag takes no value."""
    return flag.action in SWITCHES or flag.action == _BOTH


def misfits(word: Word, flag: Flag) -> bool:
    """Whether a value is none of the flag's type."""
    takes = flag.kind in ("int", "float") and flag.action == "store" and not flag.several
    if not takes or isinstance(word.value, NotKnown) or word.value is None:
        return False
    return isinstance(_converted(word.value, flag.kind), NotKnown)


def said(flag: Flag, word: Word) -> Scalar | NotKnown:
    """The value that a word gives a flag."""
    if isinstance(word.value, NotKnown):
        return word.value
    if is_switch(flag) and isinstance(word.value, bool):
        return word.value  # of --set
    if flag.action in SWITCHES:
        return SWITCHES[flag.action][1]
    if flag.action == _BOTH:
        return not word.key.startswith("--no-")
    return _converted(word.value, flag.kind)


def number(value: Scalar | NotKnown) -> Thing:
    return value if isinstance(value, NotKnown) else Number(value)


def typed(default: Thing, flag: Flag) -> Thing:
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
        return NotKnown(f"{text!r} is not a value of type {kind}")
    if kind == "?":  # a function of the script: most turn words into true and false
        if text.lower() in _TRUE or text.lower() in ("0", "false", "no", "n", "f", "off"):
            return text.lower() in _TRUE
        try:
            found = literal(text)
        except (SyntaxError, ValueError):
            return text
        return found if isinstance(found, (int, float, str)) else text
    return NotKnown(f"{text!r} is converted by {kind} at run time")


TYPED = External("sys.argv")
_CHANGED = re.compile(
    r"\bsys\.argv(?:\[[^\]\n]*\])?\s*\+?=(?!=)"
    r"|\bsys\.argv\.(?:append|clear|extend|insert|pop|remove)\b"
    r"|\bdel\s+sys\.argv\b"
)
_LEFT = "left of the launch line"  # the field of a row that stands for those words


def left_over() -> Row:
    """The words that ``parse_known_args`` leaves: none that is followed."""
    return Row({ITEMS: (), _LEFT: Number(value=True)})


def changes_argv(texts: Iterable[str]) -> bool:
    """Whether a script puts words into ``sys.argv``, or takes some out."""
    return any("argv" in text and _CHANGED.search(text) is not None for text in texts)


def own_words(
    given: Thing | None, takes_value: Callable[[str], bool | None], place: Place
) -> tuple[Word, ...] | NotKnown | None:
    """The words that a script puts into ``parse_args`` itself; None: the launch line's.

    ``takes_value``: whether a flag is followed by its value; None where it may be by several.
    """
    if given is None or given in (Number(None), TYPED):
        return None
    if isinstance(given, Row) and _LEFT in given.slot:
        return None
    if isinstance(given, Row) and given.count is None:
        texts = [scalar(each) for each in given.items]
        plain = [each for each in texts if isinstance(each, str)]
        if len(plain) == len(texts):
            return tuple(_words(plain, takes_value))
    why = "the words that parse_args is given"
    return given if isinstance(given, NotKnown) else NotKnown(why, place.path, place.line)


def _words(texts: Sequence[str], takes_value: Callable[[str], bool | None]) -> Iterator[Word]:
    at = 0
    while at < len(texts):
        key, equals, value = texts[at].partition("=")
        at += 1
        if not key.startswith("-"):
            yield Word("", texts[at - 1])
            continue
        takes = takes_value(key)
        if takes is None:
            yield Word(key, NotKnown(f"several values of {key}"))
        elif equals or not takes:
            yield Word(key, value)
        elif at < len(texts):
            yield Word(key, texts[at])
            at += 1


def of_namespace(given: Thing | None, place: Place) -> Mapping[object, Thing] | NotKnown:
    """What stands already in the namespace that ``parse_args`` puts its values into."""
    if given is None or given == Number(None):
        return {}
    if isinstance(given, Instance):
        return given.fields
    return NotKnown("the object that parse_args fills", place.path, place.line)
