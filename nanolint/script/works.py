"""The handle of a collective that runs while the script goes on: ``torch.distributed.Work``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.values import Namespace, Native

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.group import Work


def handle(work: Work) -> Namespace:
    """``Work``, by the names that scripts use."""
    names: dict[str, Value] = {
        "wait": Native("Work.wait", lambda *_, **__: work.wait(), plain=False),
        "synchronize": Native("Work.synchronize", lambda: work.wait(), plain=False),
        "is_completed": Native("Work.is_completed", lambda: True),
        "get_future": Native("Work.get_future", lambda: _future(work.future()), plain=False),
    }
    return Namespace("Work", names)


def _future(work: Work) -> Namespace:
    """``Work.get_future()``: to wait for it lets nothing more go."""
    outputs = work.outputs
    names: dict[str, Value] = {
        "wait": Native("Future.wait", lambda: list(outputs), plain=False),
        "value": Native("Future.value", lambda: list(outputs), plain=False),
        "done": Native("Future.done", lambda: True),
    }
    return Namespace("Future", names)


def futures() -> Namespace:
    """``torch.futures``: what waits for several does what each of them would."""

    def all_of(given: Value) -> Namespace:
        listed = list(given)
        wait = Native("Future.wait", lambda: listed, plain=False)
        return Namespace("Future", {"wait": wait, "value": wait})

    names: dict[str, Value] = {
        "collect_all": Native("collect_all", all_of, plain=False),
        "wait_all": Native("wait_all", lambda given: list(given), plain=False),
    }
    return Namespace("torch.futures", names)
