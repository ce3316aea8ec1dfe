"""The rates of PyTorch's schedules, and of transformers', by how often they have stepped.

torch/optim/lr_scheduler.py; transformers/optimization.py. Only those whose rate is one function of
the count: no restarts, cycles or metrics.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from nanolint.script.plainly import Unsure

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.interpreter.values import Value
    from nanolint.script.plainly import Plain

REQUIRED = object()
# The parameters after the optimizer, with their defaults.
SCHEDULES: dict[str, dict[str, Any]] = {
    "LambdaLR": {"lr_lambda": REQUIRED, "last_epoch": -1},
    "LinearLR": {"start_factor": 1 / 3, "end_factor": 1.0, "total_iters": 5, "last_epoch": -1},
    "ConstantLR": {"factor": 1 / 3, "total_iters": 5, "last_epoch": -1},
    "PolynomialLR": {"total_iters": 5, "power": 1.0, "last_epoch": -1},
    "CosineAnnealingLR": {"T_max": REQUIRED, "eta_min": 0.0, "last_epoch": -1},
    "SequentialLR": {"schedulers": REQUIRED, "milestones": REQUIRED, "last_epoch": -1},
    "OneCycleLR": {
        "max_lr": REQUIRED,
        **dict.fromkeys(("total_steps", "epochs", "steps_per_epoch")),
        "pct_start": 0.3,
        "anneal_strategy": "cos",
        "cycle_momentum": True,
        "base_momentum": 0.85,
        "max_momentum": 0.95,
        "div_factor": 25.0,
        "final_div_factor": 1e4,
        "three_phase": False,
        "last_epoch": -1,
    },
    "get_linear_schedule_with_warmup": {
        "num_warmup_steps": REQUIRED,
        "num_training_steps": REQUIRED,
        "last_epoch": -1,
    },
    "get_cosine_schedule_with_warmup": {
        "num_warmup_steps": REQUIRED,
        "num_training_steps": REQUIRED,
        "num_cycles": 0.5,
        "last_epoch": -1,
    },
    "get_constant_schedule_with_warmup": {"num_warmup_steps": REQUIRED, "last_epoch": -1},
}
QUIET = frozenset({"verbose"})


def rate_of(
    of: Plain, name: str, base: Value, arguments: list[Value], options: dict[str, Value]
) -> Callable[[int], float]:
    """Returns the rate by the number of steps of a schedule. Raises Unsure."""
    names = SCHEDULES[name]
    given = {**names, **dict(zip(names, arguments, strict=False)), **options}
    if len(arguments) > len(names) or not given.keys() <= names.keys() | QUIET:
        raise Unsure
    if REQUIRED in given.values() or given["last_epoch"] != -1:
        raise Unsure

    def part(key: str) -> Any:
        return of.number(given[key])

    if name == "LambdaLR":
        function = given["lr_lambda"]
        if isinstance(function, (list, tuple)):
            function = function[0]
        return lambda count: of.number(base) * of.called(function, [count])
    if name == "SequentialLR":
        return _sequence(of, base, given["schedulers"], given["milestones"])
    if name == "OneCycleLR":
        return _one_cycle(of, given)
    if name == "LinearLR":
        return lambda count: (
            of.number(base)
            * _between(
                part("start_factor"), part("end_factor"), min(count / part("total_iters"), 1)
            )
        )
    if name == "ConstantLR":
        return lambda count: (
            of.number(base) * (part("factor") if count < part("total_iters") else 1.0)
        )
    if name == "PolynomialLR":
        return lambda count: (
            of.number(base) * (1 - min(count / part("total_iters"), 1)) ** part("power")
        )
    if name == "CosineAnnealingLR":
        return lambda count: _cosine(of.number(base), part("eta_min"), count / part("T_max"))
    return _warmed_up(of, name, base, part)


def _warmed_up(
    of: Plain, name: str, base: Value, part: Callable[[str], Any]
) -> Callable[[int], float]:
    def rate(count: int) -> float:
        warm, top = part("num_warmup_steps"), of.number(base)
        if count < warm:
            return float(top * count / max(1, warm))
        if "constant" in name:
            return float(top)
        done = (count - warm) / max(1, part("num_training_steps") - warm)
        if "linear" in name:
            return float(top * max(0.0, 1 - done))
        wave = math.cos(math.pi * part("num_cycles") * 2 * done)
        return float(top * max(0.0, 0.5 * (1 + wave)))

    return rate


def _sequence(of: Plain, base: Value, parts: Any, milestones: Any) -> Callable[[int], float]:
    if not isinstance(parts, (list, tuple)) or not isinstance(milestones, (list, tuple)):
        raise Unsure
    if len(parts) != len(milestones) + 1 or not all(hasattr(each, "options") for each in parts):
        raise Unsure
    rates = [rate_of(of, each.name, base, each.arguments, each.options) for each in parts]

    def rate(count: int) -> float:
        starts = [0, *map(of.number, milestones)]
        place = max(at for at, start in enumerate(starts) if start <= count)
        return rates[place](count - starts[place])

    return rate


def _one_cycle(of: Plain, given: dict[str, Any]) -> Callable[[int], float]:
    def part(key: str) -> Any:
        return of.number(given[key])

    if given["three_phase"] is not False or given["anneal_strategy"] not in ("cos", "linear"):
        raise Unsure
    between = _between if given["anneal_strategy"] == "linear" else _eased

    def rate(count: int) -> float:
        total = part("total_steps")
        total = part("epochs") * part("steps_per_epoch") if total is None else total
        top = part("max_lr")
        first = top / part("div_factor")
        turn = float(part("pct_start") * total) - 1
        if count <= turn:
            return between(first, top, count / turn)
        done = min(1.0, (count - turn) / (total - 1 - turn))
        return between(top, first / part("final_div_factor"), done)

    return rate


def _cosine(top: float, low: float, done: float) -> float:
    return low + (top - low) * (1 + math.cos(math.pi * done)) / 2


def _eased(one: float, other: float, done: float) -> float:
    return other + (one - other) * (1 + math.cos(math.pi * done)) / 2


def _between(one: float, other: float, done: float) -> float:
    return one + (other - one) * done
