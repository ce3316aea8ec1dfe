"""DistributedDataParallel as scripts have it: its wrapper's reducer, and ``no_sync``."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from nanolint.interpreter.torch import modules
from nanolint.interpreter.values import Manager, Namespace, Native, Unknown
from nanolint.script.reducer import LIMITS, Looks, Options, Reducer
from nanolint.units import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.values import Instance, Value
    from nanolint.script.machine import Script

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
