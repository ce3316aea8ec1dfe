"""Which kernels attention may take, as torch.backends.cuda and torch.nn.attention choose them.

aten/src/ATen/Context.h has a switch for each; all are on at first.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from nanolint.interpreter.values import Manager, Namespace, Native, Unknown
from nanolint.tensors.device import CUDNN, EFFICIENT, FLASH, MATH, NotTraced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value

CHOSEN_IN_GRAPHS_SINCE = (2, 6)  # torch/_dynamo/variables/ctx_manager.py, SDPAKernelVariable
SWITCHES = {"flash": FLASH, "mem_efficient": EFFICIENT, "math": MATH, "cudnn": CUDNN}
BACKENDS = {
    "FLASH_ATTENTION": FLASH,
    "EFFICIENT_ATTENTION": EFFICIENT,
    "MATH": MATH,
    "CUDNN_ATTENTION": CUDNN,
}


def switches(machine: Machine) -> dict[str, Value]:
    """``torch.backends.cuda``: the switches, and ``sdp_kernel`` for a block."""
    found: dict[str, Value] = {}
    for name, kernel in SWITCHES.items():
        found[f"enable_{name}_sdp"] = _switch(machine, kernel)
        found[f"{name}_sdp_enabled"] = _is_on(machine, kernel)

    def sdp_kernel(*given: Value, **named: Value) -> Value:
        order = ("flash", "math", "mem_efficient", "cudnn")
        options = dict(zip((f"enable_{each}" for each in order), given, strict=False)) | named
        for each in options.values():
            if isinstance(each, Unknown):
                raise each.unread()
        chosen = {SWITCHES[each] for each in order if options.get(f"enable_{each}", True)}
        return _within(machine, frozenset(chosen))

    return found | {"sdp_kernel": Native("sdp_kernel", sdp_kernel, plain=False)}


def module(machine: Machine) -> Namespace:
    """``torch.nn.attention``: ``sdpa_kernel`` for a block."""

    def sdpa_kernel(backends: Value, set_priority: Value = False) -> Value:
        listed = backends if isinstance(backends, (list, tuple, set)) else [backends]
        for each in (*listed, set_priority):
            if isinstance(each, Unknown):
                raise each.unread()
        if set_priority:
            raise machine.unread("sdpa_kernel with set_priority")
        return _within(machine, frozenset(listed))

    names = {
        "SDPBackend": Namespace("SDPBackend", {**BACKENDS}),
        "sdpa_kernel": Native("sdpa_kernel", sdpa_kernel, plain=False),
    }
    return Namespace("torch.nn.attention", names)


def _switch(machine: Machine, kernel: str) -> Native:
    def turn(enabled: Value) -> None:
        if isinstance(enabled, Unknown):
            raise enabled.unread()
        _not_in_graph(machine)
        before = machine.card.attention_kernels
        machine.card.attention_kernels = before | {kernel} if enabled else before - {kernel}

    return Native(f"the switch of {kernel} attention", turn, plain=False)


def _is_on(machine: Machine, kernel: str) -> Native:
    return Native("enabled", lambda: kernel in machine.card.attention_kernels)


def _not_in_graph(machine: Machine, since: tuple[int, int] | None = None) -> None:
    """Raises NotTraced in a graph, which a choice of kernels breaks before a release."""
    if machine.card.tracer is not None and (since is None or machine.version < since):
        raise NotTraced("attention by chosen kernels")


def _within(machine: Machine, kernels: frozenset[str]) -> Manager:
    _not_in_graph(machine, CHOSEN_IN_GRAPHS_SINCE)

    @contextmanager
    def enter() -> Iterator[None]:
        before, machine.card.attention_kernels = machine.card.attention_kernels, kernels
        try:
            yield
        finally:
            machine.card.attention_kernels = before

    return Manager(enter)
