"""Functions of Python's own, and those of libraries that do the same."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.saved import ANY
from nanolint.run.terms import Number
from nanolint.trainers.script import walks
from nanolint.trainers.script.arguments import filled
from nanolint.trainers.script.conditions import truth
from nanolint.trainers.script.iteration import first_item
from nanolint.trainers.script.operations import made, plus, repeated, row, scalar, unwrapped
from nanolint.trainers.script.things import (
    ITEMS,
    NONE,
    REST,
    TERMS,
    Class,
    External,
    Instance,
    Partial,
    Repeated,
    Row,
    Table,
    Thing,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.run.terms import Place
    from nanolint.trainers.script.core import Core, Handler


def _range(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    item = core.unknown(walks.CHANGES, place)
    if len(arguments) == 1:
        return Repeated(item, arguments[0])
    if len(arguments) < 2:
        return item
    count = made("-", (arguments[1], arguments[0]), place.path, place.line)
    if len(arguments) == 3 and scalar(arguments[2]) != 1:
        up = made("neg", (made("neg", (count,), None, 0),), None, 0)
        count = made("//", (up, arguments[2]), place.path, place.line)
    if len(arguments) == 2 and isinstance(arguments[0], Number):
        first = arguments[0].value
        count = plus(arguments[1], -first) if isinstance(first, int) else count
    return Repeated(item, count)


def _sample(
    core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Thing:
    """``random.sample(values, count)``."""
    counts = [*arguments[1:2], *(named[each] for each in ("k",) if each in named)]
    if not arguments or not counts:
        return core.unknown("a choice by chance", place)
    return Repeated(first_item(core, repeated(arguments[0]), place), counts[0])


def _enumerate(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    first = repeated(arguments[0]) if arguments else NONE
    if isinstance(first, Row):
        return row([row([Number(index), each]) for index, each in enumerate(first.items)])
    index = core.unknown(walks.CHANGES, place)
    count = first.count if isinstance(first, Repeated) else core.unknown(walks.LENGTH, place)
    return Repeated(row([index, first_item(core, first, place)]), count)


def _zip(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    arguments = [repeated(each) for each in arguments]
    if all(isinstance(each, Row) for each in arguments):
        rows = [each.items for each in arguments if isinstance(each, Row)]
        return row([row(each) for each in zip(*rows, strict=False)])
    items = [first_item(core, each, place) for each in arguments]
    return Repeated(row(items), core.unknown(walks.LENGTH, place))


def _list(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    if not arguments:
        return Row({ITEMS: ()}, len(core.state.loops), len(core.state.tests))
    first = arguments[0]
    if isinstance(first, Row):
        return first
    if isinstance(first, (Repeated, NotKnown)):
        return first
    return core.unknown(walks.FILLED_AT_RUN, place)


def _dict(
    _core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], _place: Place
) -> Thing:
    first = arguments[0] if arguments else None
    before: dict[object, Thing] = dict(first.entries) if isinstance(first, Table) else {}
    if first is not None and not isinstance(first, Table):
        before[REST] = NotKnown("a dictionary filled at run time", _place.path, _place.line)
    before.update(named)
    return Table(before)


def _iter(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    first = arguments[0] if arguments else NONE
    return Instance(External("generator"), place, {"item": first_item(core, first, place)})


def _next(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    return first_item(core, arguments[0], place) if arguments else NONE


def _any_all(*, every: bool) -> Handler:
    def handler(
        core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
    ) -> Thing:
        first = arguments[0] if arguments else NONE
        is_whole = isinstance(first, Row) and first.count is None
        known = [truth(each) for each in first.items] if is_whole else [None]  # type: ignore[union-attr]
        if None in known:
            return core.unknown(walks.CONDITION, place)
        return Number(all(known) if every else any(known))

    return handler


def _getattr(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    name = scalar(arguments[1]) if len(arguments) > 1 else None
    if not isinstance(name, str):
        return core.unknown("an attribute at run time", place)
    found = core.attribute(arguments[0], name, place)
    missing = isinstance(found, NotKnown) and found.reason.startswith("no attribute")
    return arguments[2] if missing and len(arguments) > 2 else found


def _setattr(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], _place: Place
) -> Thing:
    owner = arguments[0] if len(arguments) == 3 else NONE
    name = scalar(arguments[1]) if len(arguments) == 3 else None
    if isinstance(owner, Instance) and isinstance(name, str):
        core.state.journal.write(owner.fields, name, filled(core, owner, name, arguments[2]))
    return NONE


def _hasattr(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    found = _getattr(core, arguments, {}, place)
    if isinstance(found, NotKnown):
        return core.unknown(walks.CONDITION, place)
    if isinstance(found, External):
        return core.unknown(f"whether there is {found.name}", place)
    return Number(value=True)


def _vars(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    first = unwrapped(arguments[0]) if arguments else NONE
    if isinstance(first, Instance):
        return Table(first.fields)
    return core.unknown("the attributes of something", place)


def _asdict(
    core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Thing:
    found = _vars(core, arguments, named, place)
    return Table(dict(found.entries)) if isinstance(found, Table) else found


def _partial(
    _core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], _place: Place
) -> Thing:
    return Partial(arguments[0], tuple(arguments[1:]), tuple(named.items()))


def _same(
    _core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], _place: Place
) -> Thing:
    return arguments[0] if arguments else NONE


def _path(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    parts = [scalar(each) for each in arguments]
    if parts and all(isinstance(each, str) for each in parts):
        return Number(posixpath.join(*map(str, parts)))
    unknown = core.unknown("a path at run time", place)
    likes = list(map(_like, arguments))
    return replace(unknown, like=posixpath.join(*likes)) if likes else unknown


def _like(part: Thing) -> str:
    """What is known of a part of a path."""
    if isinstance(part, NotKnown):
        return part.like or ANY
    return str(scalar(part)) if isinstance(part, TERMS) else ANY


def _home(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    """``os.path.expanduser``."""
    text = scalar(arguments[0]) if arguments else None
    if not isinstance(text, str):
        return core.unknown("a path at run time", place)
    if not text.startswith("~"):
        return Number(text)
    return replace(core.unknown("a folder of the user's", place), like=text)


def _class_like(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    """``isinstance(value, kind)``."""
    value, kind = (arguments[0], arguments[1]) if len(arguments) == 2 else (NONE, NONE)
    if isinstance(value, TERMS) and isinstance(kind, External):
        return Number(type(value.value).__name__ == kind.name)
    if isinstance(value, Instance) and isinstance(value.of, Class) and value.of is kind:
        return Number(value=True)
    if isinstance(value, Table) and kind == External("dict"):
        return Number(value=True)
    return core.unknown(walks.CONDITION, place)


def _fields(
    core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    """``dataclasses.fields(Config)``: the name of each, and its default."""
    first = unwrapped(arguments[0]) if arguments else NONE
    of = first.of if isinstance(first, Instance) else first
    if not isinstance(of, Class):
        return core.unknown("the fields of something", place)
    return row(
        [
            Instance(
                External("dataclasses.field"),
                place,
                {
                    "name": Number(name),
                    "default": of.find(name) or core.unknown("no default", place),
                },
            )
            for name in of.all_declared
        ]
    )


HANDLERS: dict[str, Handler] = {
    "all": _any_all(every=True),
    "any": _any_all(every=False),
    "asdict": _asdict,
    "copy": _same,
    "deepcopy": _same,
    "dict": _dict,
    "enumerate": _enumerate,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "isinstance": _class_like,
    "iter": _iter,
    "list": _list,
    "tuple": _list,
    "next": _next,
    "os.path.expanduser": _home,
    "os.path.join": _path,
    "partial": _partial,
    "random.sample": _sample,
    "range": _range,
    "tqdm.tqdm": _same,
    "tqdm.auto.tqdm": _same,
    "tqdm.trange": _range,
    "setattr": _setattr,
    "vars": _vars,
    "zip": _zip,
}
HANDLERS["dataclasses.fields"] = _fields
for _name in ("copy.copy", "copy.deepcopy", "dataclasses.asdict", "functools.partial"):
    HANDLERS[_name] = HANDLERS[_name.rpartition(".")[2]]
