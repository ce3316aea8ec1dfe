"""A trace goes on to what comes later in the loop, and says what it does not get to."""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from textwrap import indent
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.trace.process import START

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Module:
    """A model: what a call of it takes counts."""

    def __init__(self) -> None:
        self.entered: list[int] = []

    def __call__(self, step: int) -> None:
        self.entered.append(step)


class End(BaseException):
    """The trace ends the script."""


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Any:
    """``child/later.py`` with a PyTorch that is at rest."""
    torch: Any = types.ModuleType("torch")
    torch.__file__ = "/nowhere/torch/__init__.py"
    torch.Tensor = type("Tensor", (), {})
    torch.nn = types.SimpleNamespace(Module=Module)
    torch.optim = types.SimpleNamespace(Optimizer=type("Optimizer", (), {}))
    torch.cuda = types.SimpleNamespace(max_memory_reserved=lambda: 1, memory_stats=dict)
    package = types.ModuleType("traced_child")
    package.__path__ = [str(START.parent)]
    for name, module in (("torch", torch), ("traced_child", package)):
        monkeypatch.setitem(sys.modules, name, module)
    for name in ("later", "history"):
        monkeypatch.delitem(sys.modules, f"traced_child.{name}", raising=False)
    return importlib.import_module("traced_child.later")


def played(later: Any, path: Path, text: str, watching: Any = None) -> tuple[list[int], list[str]]:
    """The steps in which the model of a script is entered, and the doubts."""
    path.write_text(text)
    watching, model, done = watching or later.Later(600), Module(), 0

    def step() -> None:
        nonlocal done
        done += 1
        if watching.enough(done):
            raise End

    names: dict[str, Any] = {"model": model, "update": step, "data": [0] * 40}
    run: Callable[..., None] = exec
    with contextlib.suppress(End):
        run(compile(text, str(path), "exec"), names)
    return model.entered, watching.doubts


@pytest.mark.parametrize(
    ("loop", "condition", "entered"),
    [
        ("for step in range(100):", "step == 15", [15]),
        ("for step in range(100):", "step % 5 == 0 and step > 0", [5]),
        ("for step in range(100):", "step % 50 == 0", [0, 50]),
        ("for step in range(100):", "step in (7, 30)", [7]),
        ("for step in range(20):", "step == last - 1", [19]),
        ("for step in range(100):", "not step % 7 != 6 and unknown()", [6]),
        ("for step, x in enumerate(data):", "step == 200", []),  # it has 40
        ("step = -1\nwhile step < 20:\n    step += 1", "args.every and step == args.every", [12]),
        ("step = -1\nwhile True:\n    step += 1\n    if step > 30: break", "step == 31", []),
        ("for step in range(100):", "step > 3", [4, 5]),
    ],
)
def test_a_branch_that_comes_later_is_entered(
    later: Any, tmp_path: Path, loop: str, condition: str, entered: list[int]
) -> None:
    text = (
        "import types\nlast = 20\nargs = types.SimpleNamespace(every=12)\nunknown = lambda: True\n"
        f"{loop}\n    if {condition}:\n        model(step)\n"
        "    if step % 30 == 0: print(step)\n    update()\n"
    )
    found, doubts = played(later, tmp_path / "train.py", text)
    assert found[: len(entered)] == entered
    assert bool(found) is bool(entered) and doubts == []


@pytest.mark.parametrize(
    ("script", "doubt"),
    [
        (
            "for step in range(5000):\n    if step % 1000 == 0: model(step)\n    update()",
            "train.py:2 `if step % 1000 == 0: model(step)`",
        ),
        ("for step in range(300):\n    update()\nmodel(step)", "train.py:3 `model(step)`"),
        ("for x in iter(data):\n    update()\nmodel(0)", "train.py:3 `model(0)` follows the loop"),
        (
            "for epoch in (0, 1):\n    for step in range(100):\n        update()\n    model(epoch)",
            "train.py:4 `model(epoch)`",
        ),
        (
            "def train():\n    for step in range(200):\n        update()\n"
            "        if step % 64 == 63:\n            sample(step)\n"
            "def sample(step): model(step)\ntrain()",
            "train.py:4 `if step % 64 == 63:`",
        ),
    ],
)
def test_what_is_not_reached_is_a_doubt_with_its_line(
    later: Any, tmp_path: Path, script: str, doubt: str
) -> None:
    _, doubts = played(later, tmp_path / "train.py", script)
    assert len(doubts) == 1 and doubts[0].startswith(doubt)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("within", ["", "now = lambda: step", "local = 1"])
def test_a_counter_is_set_forward(later: Any, tmp_path: Path, first: bool, within: str) -> None:
    count = "    step += 1\n"
    text = (
        f"step = 0\nwhile step < 5000:\n{count * first}"
        "    if step % 2000 == 0 and step: model(step)\n"
        f"    update()\n{count * (not first)}"
        "    if step == 3000: model(step)\n"
    )
    if within:  # a function, which may have the counter of another one within
        text = f"def train():\n    {within}\n{indent(text, '    ')}train()\n"
    assert played(later, tmp_path / "train.py", text) == ([2000, 3000, 4000], [])


IN_FUNCTIONS = """
import types
class Trainer:
    every = 12
    def __init__(self): self.count = 0
    def sample(self, now):
        if now == self.every: model(now)
    def counted(self):
        self.count += 1
        if self.count == 20: model(self.count)
trainer = Trainer()
def inner(*, at, often=1):
    if at % 17 == 16 and often: model(at)
def outer(n, width):
    if width > 1: inner(at=n)
def never(n, on=False):
    if on and n == 9: model(n)
def plain(x):
    if x.sum() > 3: model(x)
def closed():
    def rest(i):
        if i == step: pass
        if i == 30: model(i)
    return rest
rest = closed()
"""


@pytest.mark.parametrize(
    ("call", "entered"),
    [
        ("outer(step, 64)", [16, 33]),
        ("outer(width=64, n=step + 1)", [16, 33]),
        ("outer(step, 0)", []),
        ("trainer.sample(step)", [12]),
        ("trainer.counted()", [20]),
        ("never(step)", []),
        ("never(step, on=True)", [9]),
        ("never(step, *[True])", [9]),
        ("rest(step)", [30]),
        ("if step > 2: outer(step, 8)", [16, 33]),
        ("found = [outer(each, 8) for each in (step,)]", []),
    ],
)
def test_a_counter_is_followed_into_functions_that_call_it_otherwise(
    later: Any, tmp_path: Path, call: str, entered: list[int]
) -> None:
    text = f"{IN_FUNCTIONS}for step in range(100):\n    {call}\n    update()\n"
    found, doubts = played(later, tmp_path / "train.py", text)
    assert (found[: len(entered)], doubts) == (entered, []) and bool(found) is bool(entered)


@pytest.mark.parametrize(
    ("condition", "is_doubted"),
    [
        ("low() > 3", True),
        ("step % 2 and low() > 3", True),
        ("best < 7", True),  # it is another one in each step, and no counter
        ("step > 90 and low() > 3", False),  # by its counter it comes after the loop's end
        ("args.on", False),
        ("args.on and low() > 3", False),
    ],
)
def test_a_branch_that_values_on_the_card_decide_is_a_doubt_if_it_took_nothing(
    later: Any, tmp_path: Path, condition: str, is_doubted: bool
) -> None:
    text = (
        "import types\nargs = types.SimpleNamespace(on=False)\nlow = lambda: 0\nbest = 9.5\n"
        f"for step in range(20):\n    best = best * 0.99\n    if {condition}:\n"
        "        x = step\n        model(step)\n    update()\n"
    )
    for lines in (set(), {(str(tmp_path / "train.py"), 9)}):
        watching = later.Later(600)
        played(later, tmp_path / "train.py", text, watching)
        watching.saw(lines)
        found = [each for each in watching.doubts if "took nothing here" in each]
        assert len(found) == (is_doubted and not lines)
        assert all(each.startswith(f"train.py:7 `if {condition}:`") for each in found)


def test_what_takes_no_memory_is_not_waited_for(later: Any, tmp_path: Path) -> None:
    text = (
        "import math, time\n"
        "def tell(step): print(step, math.cos(step), told.count(time.time()))\n"
        "class Told:\n"
        "    def count(self, at): return self.total() + at\n"
        "    def total(self): return 3\n"
        "told = Told()\n"
        "for step in range(1000):\n"
        "    if step % 100 == 50: tell(step)\n"
        "    update()\n"
        "print('done')\n"
    )
    assert played(later, tmp_path / "train.py", text) == ([], [])
