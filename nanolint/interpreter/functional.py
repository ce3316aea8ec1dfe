"""The parts of functools and itertools that are known."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from nanolint.interpreter.values import Namespace, Native, Partial, Property
from nanolint.interpreter.watched import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value


def functools(machine: Machine) -> Namespace:
    def cached(function: Value = None, **_options: Value) -> Value:
        if function is None or isinstance(function, int):
            return Native("lru_cache", cached)
        kept: dict[Value, Value] = {}

        def run(*arguments: Value, **keywords: Value) -> Value:
            key = (*map(_key, arguments), *((name, _key(each)) for name, each in keywords.items()))
            if key not in kept:
                kept[key] = machine.call(function, list(arguments), keywords)
            return kept[key]

        return Native("cached", run, plain=False)

    def reduce(function: Value, values: Value, *start: Value) -> Value:
        iterator = machine.iterate(values)
        found = start[0] if start else next(iterator)
        for each in iterator:
            found = machine.call(function, [found, each])
        return found

    return Namespace(
        "functools",
        {
            "partial": Native(
                "partial", lambda f, *given, **named: Partial(f, given, named), plain=False
            ),
            "reduce": Native("reduce", reduce, plain=False),
            "wraps": Native("wraps", lambda _f: Native("wraps", lambda g: g), plain=False),
            "cached_property": Native(
                "cached_property", lambda getter: Property(getter, cached=True)
            ),
            **dict.fromkeys(("lru_cache", "cache"), Native("lru_cache", cached)),
        },
    )


def _key(value: Value) -> Value:
    value = plain(value)
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value


def iteration(machine: Machine) -> Namespace:
    def chain(*values: Value) -> Iterator[Value]:
        for each in values:
            yield from machine.iterate(each)

    known: dict[str, Callable[..., Value]] = {
        "chain": chain,
        "product": lambda *values, repeat=1: itertools.product(
            *map(machine.iterate, values), repeat=repeat
        ),
        "zip_longest": lambda *values, fillvalue=None: itertools.zip_longest(
            *map(machine.iterate, values), fillvalue=fillvalue
        ),
        "repeat": lambda value, times: itertools.repeat(value, times),
        "count": lambda start=0, step=1: itertools.count(start, step),
        "islice": lambda values, *ends: itertools.islice(machine.iterate(values), *ends),
        "accumulate": lambda values: itertools.accumulate(machine.iterate(values)),
        "pairwise": lambda values: itertools.pairwise(machine.iterate(values)),
        "cycle": lambda values: itertools.cycle(machine.iterate(values)),
    }
    return Namespace(
        "itertools", {name: Native(name, each, plain=False) for name, each in known.items()}
    )
