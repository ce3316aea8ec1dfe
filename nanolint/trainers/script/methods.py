"""Methods of what is not the project's own: texts, lists, tables, tensors, models, optimizers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.run.downloads import GROWS, LENGTH
from nanolint.run.equation import NotKnown
from nanolint.run.terms import FUNCTIONS, Number
from nanolint.source.bounds import Unevaluable
from nanolint.source.scope import Scope as Bounds
from nanolint.source.scope import guarded
from nanolint.trainers.script import arguments as argparse
from nanolint.trainers.script import (
    engines,
    fitting,
    settings_files,
    starters,
    tensors,
    unknown_reasons,
)
from nanolint.trainers.script.built_model import parameters
from nanolint.trainers.script.core import forget
from nanolint.trainers.script.operations import keys, made, merged, row, scalar, unwrapped
from nanolint.trainers.script.passes import ACCUMULATES
from nanolint.trainers.script.things import (
    COUNT,
    ITEMS,
    NONE,
    REST,
    TERMS,
    Class,
    External,
    Instance,
    Repeated,
    Row,
    Table,
    Tensor,
    Thing,
    Wrapped,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.run.terms import Place
    from nanolint.trainers.script.core import Core, Loop

# Methods that give back the object that they are called on.
_FLUENT = frozenset(
    {
        *("to", "cuda", "cpu", "train", "eval", "bfloat16", "half", "float", "requires_grad_"),
        *("apply", "to_empty", "double", "share_memory"),
    }
)
_TEXT = frozenset(
    {
        *("startswith", "endswith", "lower", "upper", "strip", "lstrip", "rstrip", "isdigit"),
        *("replace", "removeprefix", "removesuffix", "count", "find", "rfind", "index", "rindex"),
        *("capitalize", "casefold", "swapcase", "title", "isalnum", "isalpha", "isdecimal"),
        *("islower", "isnumeric", "isspace", "isupper"),
    }
)
_CASTS = ("bfloat16", "half", "float", "double")
_GENERATORS = ("default_rng", "RandomState")  # of numpy.random


def method(
    core: Core,
    owner: Thing,
    name: str,
    arguments: Sequence[Thing],
    named: Mapping[str, Thing],
    place: Place,
) -> Thing:
    """What calling ``owner.name(...)`` gives."""
    inner = unwrapped(owner)
    if name == "backward":
        core.state.happen("backward", place, owner, plain=not arguments)
        return NONE
    if name == "step" and _may_be_optimizer(inner, arguments):
        core.state.happen("step", place, owner)
        return NONE
    if argparse.is_parser(inner) and isinstance(inner, Instance):
        return argparse.method(core, inner, name, arguments, named, place)
    if isinstance(owner, Tensor):
        return tensors.method(owner, name, arguments, named, place)
    if isinstance(owner, Row):
        return _of_list(core, owner, name, arguments, place)
    if isinstance(owner, Table):
        return _of_table(core, owner, name, arguments, named, place)
    if isinstance(owner, TERMS):
        return _of_text(core, owner, name, arguments, place)
    if isinstance(inner, Instance):
        return _of_instance(core, owner, inner, name, arguments, named, place)
    if isinstance(owner, NotKnown) and owner.like and name in ("lower", "upper"):
        return replace(owner, like=getattr(owner.like, name)())
    if isinstance(owner, NotKnown):
        return core.vocabulary(name) or owner
    if isinstance(owner, Repeated) and name in ("append", "extend"):
        return NONE
    return core.unknown(f"calls {name} at run time", place)


def _may_be_optimizer(owner: Thing, arguments: Sequence[Thing]) -> bool:
    """Whether a ``step`` may be an optimizer's: not that of a schedule or a profiler."""
    if isinstance(owner, Instance):
        name = owner.of.name if isinstance(owner.of, External) else owner.of.node.name
        return not any(word in name.lower() for word in ("schedul", "lambdalr", "profil", "lr"))
    return isinstance(owner, NotKnown) or bool(arguments)


def _of_instance(
    core: Core,
    owner: Thing,
    inner: Instance,
    name: str,
    arguments: Sequence[Thing],
    named: Mapping[str, Thing],
    place: Place,
) -> Thing:
    size = engines.size_of_engine(owner, name, core.state.around.world_size, place)
    if size is not None:
        return size
    fitted = fitting.method(core, inner, name, arguments, named, place)
    if fitted is not None:
        return fitted
    if name in _FLUENT:
        given = [*arguments, *named.values()]
        casts = [each for each in given if isinstance(each, External) and each.last in _DTYPES]
        if name in _CASTS:
            casts = [External(f"torch.{'float16' if name == 'half' else name}")]
        if casts and inner.is_model and not core.state.building:
            core.state.happen("cast", place, casts[0])
        return owner
    if name == "parameters":
        return parameters(inner)
    if name == "numel" and inner.arguments and isinstance(inner.arguments[0], Tensor):
        return tensors.method(inner.arguments[0], name, [], {}, place)
    if name == "compile" and inner.is_model:
        core.state.happen("compile", place, owner)
        core.state.journal.write(inner.fields, "compiled in place", Number(value=True))
        return NONE
    if isinstance(inner.of, External):
        if name == "forward" and not core.state.building:
            return core.call(owner, arguments, named, place)
        found = settings_files.method(inner, name, place)
        found = found or starters.method(core, inner, name, named, place)
        if found is not None:
            return found
        if name in ("append", "add_module", "register_buffer", "clear_session"):
            return NONE
        if name == ACCUMULATES:
            return Instance(External(ACCUMULATES), place)
        if name == "get_world_size":
            return Number(core.state.around.world_size)
        if name in ("prepare",) and arguments:
            return row(arguments) if len(arguments) > 1 else arguments[0]
        if name == "keys":
            return row([Number(str(key)) for key in inner.fields])
        if inner.of.last in _GENERATORS and name in ("integers", "randint"):
            return tensors.constructed(name, arguments, named, place) or NONE
    if name in GROWS and LENGTH in inner.fields:
        unknown = core.unknown("how many tokens a tokenizer was given", place)
        core.state.journal.write(inner.fields, LENGTH, unknown)
        return unknown
    vocabulary = core.vocabulary(name)
    if vocabulary is not None:
        return vocabulary
    what = inner.of.name if isinstance(inner.of, External) else inner.of.node.name
    return core.unknown(f"calls {what}.{name} at run time", place)


_DTYPES = frozenset({"bfloat16", "float16", "half", "float32", "float"})


def _of_text(
    core: Core, owner: Thing, name: str, arguments: Sequence[Thing], place: Place
) -> Thing:
    text = scalar(owner)
    plain = [scalar(each) for each in arguments]
    known = all(isinstance(each, TERMS) for each in arguments)
    if isinstance(text, str) and name == "split" and known and len(text) < 10_000:
        return row([Number(each) for each in text.split(str(plain[0]) if plain else None)])
    if isinstance(text, str) and name in _TEXT and known:
        try:
            return Number(guarded(Bounds({}), getattr(text, name), *plain))  # type: ignore[arg-type]
        except Unevaluable as error:
            return core.unknown(error.reason, place)
    if f"math.{name}" in FUNCTIONS:
        return core.unknown(f"calls {name}", place)
    return core.unknown(f"calls {name} at run time", place)


def _of_list(core: Core, owner: Row, name: str, arguments: Sequence[Thing], place: Place) -> Thing:
    if name == "append" and arguments:
        around = core.state.loops[owner.loops :]
        if around or len(core.state.tests) > owner.tests:
            _filled(core, owner, arguments[0], around, place)
            return NONE
        core.state.journal.write(owner.slot, ITEMS, (*owner.items, arguments[0]))
        return NONE
    within = core.state.loops[owner.loops :] or core.state.tests[owner.tests :]
    if name in ("extend", "insert") and within:
        _filled(core, owner, core.unknown(unknown_reasons.ITEM_OF_LIST, place), (), place)
        return NONE
    if name in ("extend", "__iadd__") and arguments and isinstance(arguments[0], Row):
        core.state.journal.write(owner.slot, ITEMS, (*owner.items, *arguments[0].items))
        return NONE
    if name in ("extend", "insert", "__iadd__"):
        _filled(core, owner, core.unknown(unknown_reasons.ITEM_OF_LIST, place), (), place)
        return NONE
    if name == "copy":
        return row(owner.items)
    if name == "pop" and owner.items and not arguments:
        *others, last = owner.items
        core.state.journal.write(owner.slot, ITEMS, tuple(others))
        return last
    return core.unknown(f"calls {name} of a list", place)


def _filled(core: Core, owner: Row, item: Thing, around: Sequence[Loop], place: Place) -> None:
    """A list that a loop fills, of which one turn is followed: an item is what all have alike."""
    unlike = core.unknown(unknown_reasons.ONE_ITEM, place)
    for each in owner.items:
        item = merged(each, item, unlike) or unlike
    count: Thing = core.unknown(unknown_reasons.FILLED_LENGTH, place)
    counts = [each.count for each in around if each.count is not None]
    decided = len(core.state.tests) <= owner.tests
    if counts and decided and not owner.items and len(counts) == len(around):
        count = Number(1)
        for turns in counts:
            count = turns if count == Number(1) else made("*", (count, turns), None, 0)
    core.state.journal.write(owner.slot, ITEMS, (item,))
    core.state.journal.write(owner.slot, COUNT, count)


def _of_table(
    core: Core,
    owner: Table,
    name: str,
    arguments: Sequence[Thing],
    named: Mapping[str, Thing],
    place: Place,
) -> Thing:
    first = arguments[0] if arguments else None
    write = core.state.journal.write
    if name in ("get", "pop", "setdefault") and isinstance(first, TERMS):
        found = owner.entries.get(first.value, owner.entries.get(REST))
        default = arguments[1] if len(arguments) > 1 else NONE
        if name == "pop":
            core.state.journal.delete(owner.entries, first.value)
        elif name == "setdefault" and found is None:
            write(owner.entries, first.value, default)
        return found if found is not None else default
    if name == "copy":
        return Table(dict(owner.entries))
    if name == "update":
        if isinstance(first, Table):
            named = {**first.entries, **named}  # type: ignore[dict-item]
        elif first is not None:
            filled = core.unknown("a dictionary filled at run time", place)
            why = first if isinstance(first, NotKnown) else filled
            write(owner.entries, REST, why)
            forget(core, owner.entries, why)
        for key, value in named.items():
            write(owner.entries, key, value)
        return NONE
    if name in ("items", "keys", "values") and REST not in owner.entries:
        pairs = [*zip(keys(owner).items, owner.entries.values(), strict=True)]
        if name == "items":
            return row([row(pair) for pair in pairs])
        return row([pair[name == "values"] for pair in pairs])
    return core.unknown(f"calls {name} of a dictionary", place)


def attribute(core: Core, owner: Thing, name: str, place: Place) -> Thing:
    """An attribute of what is not the project's own."""
    if owner == External("sys") and name == "argv" and core.state.around.is_bare:
        return row([Number("")])  # the script's own name alone
    if isinstance(owner, External):
        return External(f"{owner.name}.{name}")
    if isinstance(owner, Tensor):
        if name == "shape":
            return row(owner.shape) if owner.shape is not None else core.unknown("a shape", place)
        if owner.perhaps_several and name != "T":
            return Tensor(owner.shape, owner.perhaps_more)
        return Tensor(None) if name in ("T", "data", "grad") else core.unknown(name, place)
    if isinstance(owner, Table):  # of a class that derives from dict
        found = owner.entries.get(name, owner.entries.get(REST))
        return found or core.unknown(f"no attribute {name}", place)
    if isinstance(owner, NotKnown):
        return core.vocabulary(name) or owner
    return core.unknown(f"reads {name} at run time", place)


def of_wrapper(owner: Wrapped, name: str) -> Thing | None:
    """The model within a wrapper, where it is asked for."""
    return owner.inner if name in ("module", "_orig_mod") else None


def of_class(of: Class, name: str, place: Place) -> NotKnown:
    """Why a class has no such attribute."""
    return NotKnown(f"no attribute {name} of {of.node.name}", place.path, place.line)
