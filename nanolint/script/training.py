"""Training: optimizers, clipping, gradient scalers (torch/amp/grad_scaler.py)."""

from __future__ import annotations

from functools import cache, partial
from math import inf, prod
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.interpreter.calls import undecorated
from nanolint.interpreter.certain import certain
from nanolint.interpreter.interpreter import written
from nanolint.interpreter.torch.calling import operation
from nanolint.interpreter.values import (
    Event,
    Function,
    Instance,
    Later,
    Namespace,
    Native,
    Unknown,
)
from nanolint.interpreter.watched import Watched
from nanolint.run.stop import Cause
from nanolint.source.python import python_tree
from nanolint.source.updates import STEP, updates
from nanolint.tape.symbolic import Symbolic
from nanolint.tape.tape import Component
from nanolint.tape.torch import GRAD_NORM_CHUNK
from nanolint.tensors.dtypes import FLOAT32, FLOAT64
from nanolint.tensors.names import METHODS
from nanolint.tensors.ops.pointwise import mul
from nanolint.tensors.parameter import Parameter
from nanolint.tensors.role import role
from nanolint.tensors.tensor import Tensor, empty

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script
    from nanolint.tensors.device import Device
    from nanolint.tensors.dtypes import Dtype

OPTIM, SCHEDULES = "torch.optim", "torch.optim.lr_scheduler"
OPTIMIZER = Component.OPTIMIZER
MOMENTS = {"exp_avg": "Adam first moment", "exp_avg_sq": "Adam second moment"}
TEXTS = Path(__file__).parents[1] / "packages"
# torch/optim/adamax.py and _muon.py, by their texts in 2.2 to 2.15.
ADAMAX_HAS_MAXIMUM_SINCE, MUON_SINCE, MUON_COPIES_SINCE = (2, 4), (2, 9), (2, 15)
ADAFACTOR_SINCE = (2, 5)
# The optimizers that few use, by the release that brought them.
OTHERS = {
    **dict.fromkeys(("RMSprop", "Adagrad", "NAdam", "Adamax"), (0, 0)),
    "Muon": MUON_SINCE,
    "Adafactor": ADAFACTOR_SINCE,
}

# What each setting of an optimizer is called where it is refused, and what it has to be below.
RANGES = {
    "lr": ("learning rate", inf),
    "eps": ("epsilon value", inf),
    "betas": ("beta parameter at index", 1.0),
    **{
        name: (f"{name} value", inf)
        for name in ("momentum", "weight_decay", "alpha", "lr_decay", "momentum_decay")
    },
}
RATES = frozenset({"lr", "initial_lr", "momentum", "weight_decay"})


def is_rate(group: Value, name: Value) -> bool:
    """Whether an entry is a number by which an optimizer steps: a learning rate."""
    if not isinstance(group, dict) or name not in RATES or "params" not in group:
        return False
    return isinstance(group.get(name), float)


def is_optimizer(value: Instance) -> bool:
    """Whether an object updates parameters: one of torch's optimizers, or of the program's own."""
    return is_torch_optimizer(value) or is_own_optimizer(value)


def is_torch_optimizer(value: Instance) -> bool:
    """Whether a class of torch's is below it."""
    return any(each.name == "Optimizer" and each.module.name == OPTIM for each in value.cls.mro)


def is_own_optimizer(value: Instance) -> bool:
    """Whether its class is the program's alone, with a ``step`` that updates parameters."""
    if value.cls.is_module or value.cls.unknown is not None or not value.cls.module.path:
        return False
    step = undecorated(value.cls.find(STEP))
    return isinstance(step, Function) and updates(step.node)


def read_text(machine: Script, name: str, module: str, given: dict[str, Value]) -> Namespace:
    """A module that is written in the language that is read."""
    return written(machine, TEXTS / name, Namespace(module, dict(given)))


def later(names: Iterable[str], table: Callable[[], Mapping[str, Namespace]]) -> dict[str, Value]:
    """Modules of one text, which is read when the first of them is imported."""
    made = cache(table)
    return {name: Later(partial(_one_of, made, name)) for name in names}


def _one_of(made: Callable[[], Mapping[str, Namespace]], name: str) -> Namespace:
    return made()[name]


def nested(made: Mapping[str, Namespace], package: str) -> None:
    """Let each module of a package be a name of it, too: ``package.module``."""
    below = {name.rpartition(".")[2]: each for name, each in made.items() if name != package}
    made[package].names.update(below)


def install(machine: Script, libraries: dict[str, Value]) -> None:
    """Puts them in the modules that programs import."""
    torch: dict[str, Value] = libraries["torch"].names
    for name in ("sqrt", "neg", "reciprocal", "abs", "sign"):
        torch[f"_foreach_{name}"] = _each(machine, name)
    for name in ("add", "sub", "mul", "div", "lerp"):
        torch[f"_foreach_{name}"] = _each(machine, name)
        torch[f"_foreach_{name}_"] = _in_each(machine, f"{name}_")
    for name in ("sqrt_", "neg_", "addcmul_", "addcdiv_", "copy_", "zero_", "pow_", "clamp_min_"):
        torch[f"_foreach_{name}"] = _in_each(machine, name)
    torch["_foreach_norm"] = _native(machine, "_foreach_norm", _norm_of_each)
    torch["Generator"] = Native("Generator", lambda *_, **__: _generator())
    optim = read_text(
        machine,
        "optimizers.py",
        OPTIM,
        {
            "kept": Native("kept", lambda *given: _kept(machine, *given), plain=False),
            "made": Native("made", lambda optimizer: made(machine, optimizer), plain=False),
            "in_range": Native("in_range", _in_range, plain=False),
            "loaded": Native("loaded", lambda *given: _loaded(machine, *given), plain=False),
        },
    )
    machine.imported[OPTIM] = optim
    libraries["torch.optim.optimizer"] = optim

    def schedules() -> dict[str, Namespace]:
        given: dict[str, Value] = {
            "rate": Native("rate", lambda: machine.unknown("the rate of a schedule")),
            "told": machine.unknown(f"{SCHEDULES}.OneCycleLR is not known"),
        }
        return {SCHEDULES: read_text(machine, "schedulers.py", SCHEDULES, given)}

    libraries |= later([SCHEDULES], schedules)
    clip = _native(machine, "clip_grad_norm_", _clip)
    utils = Namespace(
        "torch.nn.utils",
        {
            "clip_grad_norm_": clip,
            "get_total_norm": _native(machine, "get_total_norm", _total),
            "clip_grads_with_norm_": _native(machine, "clip_grads_with_norm_", _clip_with),
            "clip_grad_value_": _native(machine, "clip_grad_value_", _clip_value),
        },
    )
    libraries["torch.nn.utils"] = utils
    libraries["torch.nn.utils.clip_grad"] = utils


def schedules() -> ast.Module:
    """The text of the schedules that have an end."""
    return python_tree((TEXTS / "schedulers.py").read_text("utf-8"))


def other_optimizers(machine: Script, optim: Namespace) -> dict[str, Value]:
    """The optimizers of ``OTHERS`` that this release has."""

    def refused(what: str) -> None:
        raise machine.unread(f"nanolint does not model a step of torch.optim.{what}")

    shared = ("Optimizer", "uses_foreach", "by_type", "kept", "in_range")
    given: dict[str, Value] = {name: optim.names[name] for name in shared}
    given["refused"] = Native("refused", refused, plain=False)
    given["has_maximum"] = machine.version >= ADAMAX_HAS_MAXIMUM_SINCE
    given["copies"] = machine.version >= MUON_COPIES_SINCE
    names = read_text(machine, "other_optimizers.py", OPTIM, given).names
    return {name: names[name] for name, since in OTHERS.items() if machine.version >= since}


def _generator() -> Namespace:
    seed = Native("seed", lambda *_, **__: None)
    return Namespace("generator", {"manual_seed": seed, "seed": seed})


def made(machine: Script, optimizer: Instance) -> None:
    """An optimizer is there: what comes next is for training."""
    machine.phases.optimizers.append(optimizer)
    machine.happens(Event.OPTIMIZER_MADE)


def _in_range(settings: Value) -> None:
    """The settings that an optimizer is made with; of a sum of watched numbers nobody asks."""
    if settings.get("fused") is True and settings.get("foreach") is True:
        words = "`fused` and `foreach` cannot be `True` together."
        raise certain(RuntimeError(words), Cause.ARGUMENT)
    for name, (called, most) in RANGES.items():
        value = settings.get(name)
        for place, each in enumerate(value if type(value) in (tuple, list) else (value,)):
            is_number = type(each) in (int, float, Watched, Symbolic)
            if is_number and not (each >= 0 and (most == inf or each < most)):
                shown = f"{called} {place}" if name == "betas" else called
                raise certain(ValueError(f"Invalid {shown}: {each}"), Cause.ARGUMENT)


def _loaded(machine: Script, optimizer: Instance, state: Value) -> bool:
    """``load_state_dict``: what a file held lies on the card from here on, as AdamW has it. False
    if ``state`` is none of a file."""
    if not isinstance(state, Unknown):
        return False
    if optimizer.cls.name not in ("Adam", "AdamW"):
        return True
    states = optimizer.attributes["state"]
    for group in optimizer.attributes["param_groups"]:
        for each in group["params"]:
            states[each] = {
                "step": _scalar(machine.card, "Adam step"),
                **{
                    name: empty(machine.card, each.shape, each.dtype, role(label, OPTIMIZER))
                    for name, label in MOMENTS.items()
                },
            }
    return True


def _kept(
    machine: Script,
    parameter: Parameter,
    label: str,
    shape: tuple[int, ...] | None = None,
    on_card: bool = True,
    alike: bool = False,
) -> Tensor:
    """State of an optimizer, as its parameter lies or of a shape of its own."""
    kind = role(label, Component.OPTIMIZER)
    if shape is not None and alike:
        return empty(parameter.device, tuple(shape), parameter.dtype, kind)
    if shape is not None:
        return empty(parameter.device if on_card else machine.host, shape, FLOAT32, kind)
    return empty(parameter.device, parameter.shape, parameter.dtype, kind, parameter.strides)


def _each(machine: Script, name: str) -> Native:
    function = METHODS[name]

    def call(tensors: Sequence[Tensor], *others: Value, **options: Value) -> list[Tensor]:
        options.pop("alpha", None)
        found = []
        for place, each in enumerate(tensors):
            given = [
                other[place] if isinstance(other, (list, tuple)) else other for other in others
            ]
            found.append(operation(machine, f"_foreach_{name}", function, (each, *given), {}))
        return found

    return Native(f"_foreach_{name}", call, plain=False)


def _in_each(machine: Script, name: str) -> Native:
    """An operation that writes into each of some tensors."""

    def call(tensors: Value = (), *_: Value, **__: Value) -> None:
        for each in tensors if isinstance(tensors, (list, tuple)) else ():
            machine.listener.writes(each, name)

    return Native(f"_foreach_{name}", call)


def _native(machine: Script, name: str, function: Callable[..., Value]) -> Native:
    return Native(name, lambda *a, **k: function(machine, *a, **k), plain=False)


def _clip(
    machine: Script, parameters: Value, max_norm: Value = None, *_: Value, **__: Value
) -> Value:
    """``clip_grad_norm_``: a norm per tensor in chunks, then the norm of the norms.

    torch/nn/utils/clip_grad.py; ForeachReduceOp.cu.
    """
    listed = [parameters] if isinstance(parameters, Tensor) else list(machine.iterate(parameters))
    machine.teller.clips(listed, max_norm, machine.phases.optimizers)
    grads = [
        each.gradient
        for each in listed
        if isinstance(each, Parameter) and each.gradient is not None
    ]
    del listed
    norm = _norm(machine, grads)
    if grads:
        _coefficient(grads[0].device)
    return norm


def _total(machine: Script, tensors: Value, *_: Value, **__: Value) -> Value:
    """``get_total_norm``: the first half of clipping, of any tensors."""
    listed = [tensors] if isinstance(tensors, Tensor) else list(machine.iterate(tensors))
    return _norm(machine, [each for each in listed if isinstance(each, Tensor)])


def _clip_with(_machine: Script, _parameters: Value, _most: Value, norm: Value, *_: Value) -> None:
    """``clip_grads_with_norm_``: the second half."""
    if isinstance(norm, Tensor):
        _coefficient(norm.device)


def _clip_value(machine: Script, parameters: Value, clip_value: Value = None, *_: Value) -> None:
    """``clip_grad_value_``: in place."""
    listed = [parameters] if isinstance(parameters, Tensor) else list(machine.iterate(parameters))
    machine.teller.clips(listed, clip_value, machine.phases.optimizers)


def _norm(machine: Script, grads: Sequence[Tensor]) -> Tensor:
    if not grads:
        return empty(machine.host, (), FLOAT32, role("total gradient norm", Component.OPTIMIZER))
    card = grads[0].device
    norms = _norms(grads)
    stacked = _vector(card, len(norms), "gradient norms")
    norm = _scalar(card, "total gradient norm")
    del stacked, norms
    return norm


def _norms(tensors: Sequence[Tensor]) -> list[Tensor]:
    """A norm of each, which those of a type make together."""
    norms: list[Tensor] = []
    for dtype in dict.fromkeys(each.dtype for each in tensors):
        alike = [each for each in tensors if each.dtype is dtype]
        chunks = max(-(-prod(each.shape) // GRAD_NORM_CHUNK) for each in alike)
        partial = _vector(alike[0].device, len(alike) * chunks, "partial gradient norms")
        norms += [_scalar(each.device, "gradient norm") for each in alike]
        del partial
    return norms


def _norm_of_each(machine: Script, tensors: Value, *_: Value, **options: Value) -> list[Tensor]:
    """``torch._foreach_norm``, of tensors of one type."""
    listed = [each for each in machine.iterate(tensors) if isinstance(each, Tensor)]
    if options or {each.dtype for each in listed} != {FLOAT32}:
        raise machine.unread("torch._foreach_norm of these")
    return _norms(listed)


def _coefficient(card: Device) -> None:
    """What the gradients are multiplied with."""
    summed = _scalar(card, "clip coefficient")
    inverse = _scalar(card, "clip coefficient")
    coefficient = _scalar(card, "clip coefficient")
    del inverse, summed
    clamped = _scalar(card, "clip coefficient")
    del coefficient, clamped


def _scalar(device: Device, label: str) -> Tensor:
    return empty(device, (), FLOAT32, role(label, Component.OPTIMIZER))


def _vector(device: Device, numel: int, label: str) -> Tensor:
    return empty(device, (numel,), FLOAT32, role(label, Component.OPTIMIZER))


def scaler_pieces(machine: Script) -> Namespace:
    """Returns the functions of a gradient scaler that allocate, and that the story is told of."""
    scaler, teller = GradScaler(machine.card), machine.teller

    def scale(loss: Tensor) -> Value:
        return teller.scales(scaler.scale(loss))

    def unscale(optimizer: Instance) -> Tensor:
        teller.unscales(optimizer)
        return scaler.unscale()

    return Namespace(
        "scaler",
        {
            "scale": Native("scale", scale, plain=False),
            "unscale": Native("unscale", unscale, plain=False),
            "found_inf": Native("found_inf", scaler.found_inf, plain=False),
            "updates": Native("updates", teller.updates, plain=False),
        },
    )


SCALED_LOSS = role("scaled loss", Component.LOGITS_AND_LOSS)


class GradScaler:
    """Its scale and growth tracker are made by the first ``scale``."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._state: tuple[Tensor, Tensor] | None = None

    def _scalar(self, label: str, dtype: Dtype = FLOAT32) -> Tensor:
        return empty(self._device, (), dtype, role(label, Component.OPTIMIZER))

    def scale(self, loss: Tensor) -> Tensor:
        """The loss times the scale."""
        if self._state is None:
            scale = self._scalar("gradient scale")
            self._state = scale, self._scalar("gradient scaler's growth tracker")
        return mul(loss, self._state[0], role=SCALED_LOSS)

    def unscale(self) -> Tensor:
        """``unscale_``: 1/scale in float64, then a found_inf per device, which it returns."""
        wide = self._scalar("gradient scale", FLOAT64)
        inverse = self._scalar("inverse gradient scale", FLOAT64)
        del wide
        narrow = self._scalar("inverse gradient scale")
        del inverse
        on_host = self._scalar("found_inf")
        found = self._scalar("found_inf")
        moved = self._scalar("inverse gradient scale")
        del moved, narrow, on_host
        return found

    def found_inf(self) -> Tensor:
        """The sum over devices that the optimizer reads."""
        return self._scalar("gradient scaler's found_inf")
