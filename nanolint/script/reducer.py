"""DistributedDataParallel: buckets of gradients, made twice, and what it sends at its start.

As torch/nn/parallel/distributed.py and torch/csrc/distributed/c10d/reducer.cpp.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.interpreter.torch import modules
from nanolint.interpreter.values import Manager, Namespace, Native, Unknown
from nanolint.tape.tape import ROUNDING, Component
from nanolint.tape.torch import DDP_BUCKET_BYTES, DDP_FIRST_BUCKET_BYTES
from nanolint.tensors.dtypes import INT32, INT64, UINT8
from nanolint.tensors.layout import contiguous_strides
from nanolint.tensors.role import role
from nanolint.tensors.tensor import Tensor, empty
from nanolint.units import MIB

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nanolint.interpreter.values import Instance, Value
    from nanolint.script.machine import Script
    from nanolint.script.surroundings import Group, Work
    from nanolint.tensors.device import Device
    from nanolint.tensors.parameter import Parameter

BROADCAST_BYTES = 250 * MIB  # torch/nn/parallel/distributed.py: broadcast_bucket_size
MOST_ALONE = 1024  # processes whose number is a tensor of its own here
MOST_IN_FLIGHT = 2  # torch/csrc/distributed/c10d/comm.cpp: broadcast_coalesced
SENT = Component.PARAMETERS
LIMITS = (DDP_FIRST_BUCKET_BYTES, DDP_BUCKET_BYTES)  # without bucket_cap_mb


def bucketed(
    tensors: Sequence[Tensor], limits: Sequence[int], *, in_order: bool = False
) -> list[list[int]]:
    """``compute_bucket_assignment_by_size``: places of tensors of one type, each bucket full.

    ``in_order``: as they come; else by the first that a bucket has.
    """
    found: list[list[int]] = []
    filling: dict[object, list[int]] = {}
    sizes: dict[object, int] = {}
    closed: dict[object, int] = {}
    for place, each in enumerate(tensors):
        kind = each.dtype
        filling.setdefault(kind, []).append(place)
        sizes[kind] = sizes.get(kind, 0) + each.nbytes
        limit = limits[min(closed.get(kind, 0), len(limits) - 1)]
        if sizes[kind] >= limit:
            found.append(filling.pop(kind))
            sizes[kind] = 0
            closed[kind] = closed.get(kind, 0) + 1
    found += filling.values()
    return found if in_order else sorted(found, key=lambda each: each[0])


class Bucket:
    """Gradients of one type that are reduced together."""

    def __init__(self, places: Sequence[int]) -> None:
        self.places = list(places)
        self.missing = len(self.places)
        self.gradients: Tensor | None = None  # none yet
        self.work: Work | None = None

    def release(self) -> None:
        """``release_bucket_storage``: what is a view of it keeps it."""
        self.gradients = self.work = None


class Looks(Enum):
    """When DDP looks for parameters that are not used."""

    NEVER = "never"
    ALWAYS = "find_unused_parameters"
    AT_FIRST = "static_graph"


@dataclass(frozen=True, slots=True)
class Options:
    """DDP's keywords, by their names there; ``limits`` are bucket_cap_mb or bucket_cap_mb_list."""

    limits: Sequence[int] = LIMITS
    views: bool = False
    batched: bool = False
    lazy: bool = False
    looks: Looks = Looks.NEVER


DEFAULTS = Options()


class Reducer:
    """DDP's part in the backward pass: gradients go into buckets, buckets to the other processes.

    One bucket for each type at first; in the forward pass after the first backward pass that
    exchanges anything they are made again, in the order in which the gradients came. If it
    always looks for what is not used they are made by their size, once. With ``static_graph`` the
    first backward pass exchanges after its last gradient. Lazy buckets are made by the first of
    their gradients, and go with the last of all.
    """

    def __init__(
        self,
        device: Device,
        group: Group,
        every: Sequence[Parameter],
        buffers: Sequence[Tensor],
        options: Options = DEFAULTS,
    ) -> None:
        self._device = device
        self._group = group
        self._options = options
        self._parameters = [each for each in every if each.requires_grad]
        self._buffers = list(buffers)
        self._compare()
        self._send([*every, *self._buffers])
        self._buckets: list[Bucket] = []
        self._where: dict[int, Bucket] = {}
        looks = options.looks
        always = looks is Looks.ALWAYS
        self._make(bucketed(self._parameters, options.limits if always else [sys.maxsize])[::-1])
        self._used: Tensor | None = None  # local_used_map_dev_
        if looks is not Looks.NEVER:
            kind = role("DDP's map of what is used", Component.GRADIENTS)
            self._used = empty(device, (len(self._parameters),), INT32, kind)
        self._came: list[int] = []
        self._rebuilt = always
        self._learned = False  # a gradient has come
        # Those that have not come yet in the first backward pass of a graph that stays.
        self._awaited = len(self._parameters) if looks is Looks.AT_FIRST else 0
        self._expects = False
        self._next = 0
        for place, each in enumerate(self._parameters):
            each.leaf.hook = partial(self._ready, place)

    def _compare(self) -> None:
        """``verify_params_across_processes``: how many they are, and their shapes."""
        card, group = self._device, self._group
        kind = role("parameters' number", SENT)
        numbers = [empty(card, (1,), INT64, kind) for _ in range(min(group.size, MOST_ALONE) + 1)]
        if group.size > MOST_ALONE:  # as many bytes at once, so that no number of them takes time
            numbers.append(empty(card, (ROUNDING * (group.size - MOST_ALONE),), UINT8, kind))
        flat = [] if group.nccl2 else [empty(card, (group.size,), INT64, kind)]
        group.run([numbers[0]], flat, numbers[1:]).wait()
        del flat
        numel = 2 * sum(each.ndim for each in self._parameters)
        shapes = empty(card, (numel,), INT64, role("parameters' shapes", SENT))
        group.run([shapes], [shapes]).wait()
        del shapes, numbers

    def _send(self, tensors: Sequence[Tensor]) -> None:
        """``broadcast_coalesced``: in flat copies, two at a time."""
        card = self._device
        flying: list[tuple[Tensor, Work]] = []
        for places in bucketed(tensors, [BROADCAST_BYTES]):
            if len(flying) >= MOST_IN_FLIGHT:
                flying.pop(0)[1].wait()
            numel = sum(tensors[place].numel for place in places)
            flat = empty(card, (numel,), tensors[places[0]].dtype, role("flat copy", SENT))
            flying.append((flat, self._group.run([flat], [flat])))
            del flat
        while flying:
            flying.pop(0)[1].wait()

    def _make(self, assignment: list[list[int]]) -> None:
        self._buckets, self._where = [], {}
        for places in assignment:
            bucket = Bucket(places)
            self._buckets.append(bucket)
            self._where |= dict.fromkeys(places, bucket)
            if not self._options.lazy:
                self._store(bucket)

    def _store(self, bucket: Bucket) -> Tensor:
        """``initialize_bucket_storage``, if it has none yet; returns ``bucket.gradients``."""
        if bucket.gradients is None:
            held = [self._parameters[place] for place in bucket.places]
            kind = role("DDP gradient bucket", Component.GRADIENTS)
            numel = sum(each.numel for each in held)
            bucket.gradients = empty(held[0].device, (numel,), held[0].dtype, kind)
            self._copy(bucket.places, bucket.gradients)  # those that are there move into it
        return bucket.gradients

    def before_forward(self, *, sends_buffers: bool) -> None:
        """``_pre_forward``."""
        self._group.reduces = True
        if self._device.grad_enabled and self._came and not self._rebuilt:
            self._rebuild()
        if sends_buffers and self._buffers:
            self._send(self._buffers)

    @property
    def sinks(self) -> bool:
        """Whether what the model returns goes through ``_DDPSink``, which copies it."""
        if self._options.looks is Looks.AT_FIRST:
            return not self._learned
        return self._options.looks is Looks.ALWAYS

    @property
    def lacks(self) -> bool:
        """Whether a graph that stays has left a parameter without its gradient."""
        return self._expects and 0 < self._awaited < len(self._parameters)

    def after_forward(self, *, exchanges: bool) -> None:
        """``_post_forward``: the next backward pass exchanges gradients, or adds them up."""
        self._group.reduces = False
        self._expects = exchanges
        self._next = 0
        for each in self._buckets:
            each.missing = len(each.places)

    def _rebuild(self) -> None:
        """``rebuild_buckets``, with what is sent of them."""
        self._rebuilt = True
        ordered = [self._parameters[place] for place in self._came]
        found = bucketed(ordered, self._options.limits, in_order=True)
        card, sent = self._device, role("DDP's order", Component.GRADIENTS)
        order = empty(card, (len(ordered) + 1,), INT32, sent)
        self._group.run([order], [order]).wait()
        sizes = empty(card, (len(found),), INT32, sent)
        self._group.run([sizes], [sizes]).wait()
        del sizes
        del order
        self._make([[self._came[place] for place in each] for each in found])

    def _ready(self, place: int) -> None:
        """A gradient has come: ``autograd_hook``."""
        self._learned = True
        if not self._expects:
            return
        if self._awaited:
            self._awaited -= 1
            if not self._awaited:
                self._all_ready()
            return
        if not self._rebuilt:
            self._came.append(place)
        bucket = self._where[place]
        bucket.missing -= 1
        gradients = self._store(bucket)
        if not self._options.batched:
            self._copy([place], gradients)
        elif not bucket.missing:
            self._copy(bucket.places, gradients)
        while self._next < len(self._buckets) and not self._buckets[self._next].missing:
            self._reduce(self._buckets[self._next])
            self._next += 1
        if self._next == len(self._buckets):
            if self._options.looks is Looks.ALWAYS and self._used is not None:
                self._group.run([self._used], [self._used])
            self._finish()

    def _copy(self, places: Iterable[int], into: Tensor) -> None:
        """Gradients are copied into their bucket; with ``gradient_as_bucket_view`` they stay."""
        for place in places if self._options.views else ():
            leaf = self._parameters[place].leaf
            old = leaf.gradient
            if old is not None and old.storage is not into.storage:
                leaf.gradient = into.view(old.shape, contiguous_strides(old.shape), old.role)

    def _reduce(self, bucket: Bucket) -> None:
        """``all_reduce_bucket``, whose future the reducer asks for."""
        gradients = self._store(bucket)
        bucket.work = self._group.run([gradients], [gradients]).future()

    def _finish(self) -> None:
        """``finalize_backward``."""
        self._expects = False
        for each in self._buckets if self._options.lazy else ():
            each.release()

    def _all_ready(self) -> None:
        """``delay_all_reduce``."""
        if self._used is not None:
            self._group.run([self._used], [self._used])
        for each in self._buckets:
            self._store(each)
        for place in range(len(self._parameters)):
            self._copy([place], self._store(self._where[place]))
        for each in self._buckets:
            self._reduce(each)
        self._finish()


REDUCER = "Reducer"


def made(
    machine: Script,
    module: Value,
    sends_buffers: Value,
    bucket_cap_mb: Value,
    *flags: Value,
) -> Namespace | None:
    """The reducer of a module, for the wrapper that is written in texts/packages.py; None if
    there is no process group."""
    group = machine.group
    if not group.formed:
        return None
    for each in (module, sends_buffers, bucket_cap_mb, *flags):
        if isinstance(each, Unknown):
            raise each.unread()
    views, unused, static, batched, lazy = map(bool, flags)
    limits = LIMITS if bucket_cap_mb is None else (int(bucket_cap_mb * MIB),)
    every = [each for _, each in modules.parameters(module)]
    buffers = [each for _, _, each in modules.buffers(module)] if sends_buffers else []
    looks = Looks.AT_FIRST if static else Looks.ALWAYS if unused else Looks.NEVER
    options = Options(limits, views, batched, lazy, looks)
    one = Reducer(machine.card, group, every, buffers, options)

    def before(sends_buffers: bool) -> None:
        doubt = "nanolint does not model static_graph of DDP if a parameter has no gradient"
        if one.lacks and doubt not in machine.doubts:
            machine.doubts.append(doubt)
        one.before_forward(sends_buffers=sends_buffers)

    def after(exchanges: bool) -> None:
        one.after_forward(exchanges=exchanges)

    return Namespace(
        REDUCER,
        {
            "before": Native("before", before, plain=False),
            "after": Native("after", after, plain=False),
            "sinks": Native("sinks", lambda: one.sinks, plain=False),
        },
    )


def without_sync(wrapper: Instance) -> Manager:
    """``no_sync()``."""

    @contextmanager
    def enter() -> Iterator[None]:
        before = wrapper.attributes["require_backward_grad_sync"]
        wrapper.attributes["require_backward_grad_sync"] = False
        try:
            yield
        finally:
            wrapper.attributes["require_backward_grad_sync"] = before

    return Manager(enter)


def is_wrapper(module: Instance) -> bool:
    """Whether it is DDP's, with a process group."""
    found = module.attributes.get("reducer")
    return isinstance(found, Namespace) and found.name == REDUCER
