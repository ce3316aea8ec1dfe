"""The plans of a graph, looked for among those of graphs that were the same.

Another value of a script seldom changes what is compiled, and to plan its graphs takes four tenths
of a reading. What plans follow from is all in ``_content``, but for what the card is asked
meanwhile.
"""

from __future__ import annotations

from hashlib import blake2b
from marshal import dumps
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.inductor.derive.concatenating import JOINED_AGAIN
from nanolint.inductor.derive.joint import idle_casts
from nanolint.inductor.derive.operations import INPUT
from nanolint.inductor.derive.plans import Planning, Plans
from nanolint.tape.newest import hold_newest
from nanolint.tape.symbolic import is_symbolic
from nanolint.tape.turns import give_way
from nanolint.tensors.dtypes import Dtype
from nanolint.tensors.role import PlacedRole

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from nanolint.inductor.derive.operations import Operation, Operations
    from nanolint.inductor.inductor import Inductor
    from nanolint.tensors.asked import Asked
    from nanolint.tensors.device import Device
    from nanolint.tensors.role import Role

MOST_KNOWN = 64
WITHOUT_REFERENCES = 2  # of marshal: what is equal is written alike


class _Known(NamedTuple):
    """Plans, and what the card was asked for them."""

    plans: Plans
    asked: Asked


_known: dict[bytes, _Known] = {}  # what was of use last comes last


def planned(
    graph: Operations,
    given: dict[Operation, int],
    weights: Container[Operation],
    device: Device,
    inductor: Inductor,
) -> Plans:
    """What a simplified graph allocates and frees; see ``Planning``. Casts that change nothing are
    taken out of it, where PyTorch does so."""
    give_way()
    content = _content(graph, given, weights, device, inductor)
    give_way()
    known = None if content is None else _known.get(content)
    if known is None or not device.asked.agrees(known.asked):
        asked = device.asked.elsewhere()
        known = _Known(Planning(graph, given, weights, device, inductor, asked).plans, asked)
        device.asked.take(asked)
    elif graph.tangents and not inductor.keeps_narrow_casts:
        graph.replace(idle_casts(graph))
    if content is not None:
        hold_newest(_known, content, known, MOST_KNOWN)
    if known.plans.joins_again:
        device.tape.assume(JOINED_AGAIN)
    return known.plans


def _content(
    graph: Operations,
    given: dict[Operation, int],
    weights: Container[Operation],
    device: Device,
    inductor: Inductor,
) -> bytes | None:
    """What a graph has in common with those whose plans are the same. None where sizes are
    symbolic, and in the first reading of a process, after which most have no other."""
    inputs = [each.shape for each in graph.all if each.kind == INPUT]
    if device.asked.is_first or is_symbolic(tuple(inputs)):
        return None
    facts = device.passing_workspace_bytes, device.passing_bias_bytes, repr(inductor)
    kinds = sorted({(each.dtype.name, device.kind_of(each.dtype)) for each in graph.all})
    try:
        told = dumps((*_told(graph, given, weights), facts, kinds), WITHOUT_REFERENCES)
    except (KeyError, ValueError):  # an operation of another graph, or a symbolic size
        return None
    return blake2b(told).digest()


def _told(
    graph: Operations, given: dict[Operation, int], weights: Container[Operation]
) -> tuple[Any, ...]:
    places = {each: place for place, each in enumerate(graph.all)}
    place_of = places.__getitem__
    roles = {each.role: place for place, each in enumerate(graph.all)}
    unread = [it for each in graph.all for it in each.parts if it not in places]
    rows = [
        (
            each.name, each.kind, [*map(place_of, each.of)], each.shape, each.strides,
            each.dtype.name, roles[each.role], each.settings and _settings(each.settings),
            each.cost, each.numbers and _settings(each.numbers), each.nodes, each.all_nodes,
            each.parts and [places.get(it, -1) for it in each.parts], each.scratch, each.ahead,
            each.region, given.get(each, -1), each in weights,
        )
        for each in graph.all
    ]  # fmt: skip
    return (
        rows, [_role(each) for each in roles],
        [(each.shape, each.strides, each.dtype.name, _role(each.role)) for each in unread],
        [*map(place_of, graph.outputs)], [each and place_of(each) for each in graph.gradients],
        [*map(place_of, graph.tangents)], graph.learning,
        [*map(place_of, graph.mutations)], [*map(place_of, graph.asserts)],
    )  # fmt: skip


def _role(of: Role) -> Any:
    where = of.where if isinstance(of, PlacedRole) else None
    placed = where and ([*map(tuple, where.stack)], where.call)
    return of.label, of.component.value, of.dims, placed


def _settings(settings: Iterable[Any]) -> Any:
    return [_setting(each) for each in settings]


def _setting(setting: Any) -> Any:
    if isinstance(setting, tuple):
        return _settings(setting)
    if isinstance(setting, float):
        return float(setting)  # which a number that is watched notes
    return ("dtype", setting.name) if isinstance(setting, Dtype) else setting
