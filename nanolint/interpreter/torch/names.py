"""``torch`` and the modules below it, as far as they are known.

What ``torch.jit.script`` is given is read as it runs without it, in doubt.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from nanolint.interpreter.torch import attention_settings, constructors, functions, pytree
from nanolint.interpreter.torch.calling import device_of, native
from nanolint.interpreter.torch.functions import checkpoints
from nanolint.interpreter.torch.methods import equal, types
from nanolint.interpreter.torch.modules import is_module
from nanolint.interpreter.values import (
    ANNOTATION,
    NOT_COMPILED,
    PARAMETER,
    TELLS,
    Class,
    Function,
    Instance,
    Manager,
    Namespace,
    Native,
    Unknown,
)
from nanolint.tape.tape import Component
from nanolint.tape.torch import LINEAR_CROSS_ENTROPY_SINCE
from nanolint.tensors.dtypes import (
    BFLOAT16,
    FLOAT8_E4M3FN,
    FLOAT8_E5M2,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    FLOATING,
    UINT8,
    Dtype,
)
from nanolint.tensors.layout import normalized
from nanolint.tensors.names import EINOPS, FUNCTIONAL, FUNCTIONS, LINALG
from nanolint.tensors.ops.creation import zeros
from nanolint.tensors.ops.linear import linear
from nanolint.tensors.ops.linear_cross_entropy import CHUNKED, linear_cross_entropy
from nanolint.tensors.ops.reductions import reduced
from nanolint.tensors.parameter import Parameter
from nanolint.tensors.role import role
from nanolint.tensors.tensor import Tensor, empty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value
    from nanolint.tensors.role import Role

FILLS = (  # torch.nn.init: values change, memory does not
    *("normal_", "uniform_", "zeros_", "ones_", "constant_", "eye_", "dirac_", "orthogonal_"),
    *("trunc_normal_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_"),
    *("sparse_",),
)
# Devices beside CUDA's, of which a run has none.
OTHERS = {each: Native(each, lambda: False) for each in ("is_available", "is_built")}
DYNAMO = "torch._dynamo.config"
CASTING = tuple(
    f"{package}{part}"
    for package in ("torch.amp", "torch.cuda.amp")
    for part in ("", ".autocast_mode")
)
OPTIONS = "LinearCrossEntropyOptions"
ANNOTATIONS = ("Size", "FloatStorage")


def _filled(tensor: Value, *_: Value, **__: Value) -> Value:
    return tensor


def table(machine: Machine) -> dict[str, Value]:
    """The modules by their names; ``torch.nn`` itself is read from a text."""
    functional = {
        name: native(machine, f"F.{name}", function) for name, function in FUNCTIONAL.items()
    }
    functional["linear"] = _linear(machine)
    if machine.version < LINEAR_CROSS_ENTROPY_SINCE:
        del functional["linear_cross_entropy"]
    else:
        functional["linear_cross_entropy"] = _linear_cross_entropy(machine)
    functional[OPTIONS] = _chunks(machine)  # for the text of torch.nn
    torch: dict[str, Value] = {
        name: native(machine, f"torch.{name}", each) for name, each in FUNCTIONS.items()
    }
    torch |= types() | {
        **constructors.classes(),
        "__version__": ".".join(map(str, (*machine.version, 0))),
        "device": Native("torch.device", lambda *named: device_of(machine, *named)),
        "no_grad": Native("no_grad", lambda *f: _decorating(machine, _no_grad(machine), f)),
        "inference_mode": Native(
            "inference_mode", lambda *f: _decorating(machine, _no_grad(machine), f)
        ),
        "enable_grad": Native("enable_grad", lambda *f: _decorating(machine, _grad(machine), f)),
        "set_grad_enabled": Native(
            "set_grad_enabled", lambda mode: _grad(machine) if mode else _no_grad(machine)
        ),
        "is_grad_enabled": Native("is_grad_enabled", lambda: machine.card.grad_enabled),
        "equal": Native("torch.equal", lambda x, other: equal(machine, x, other)),
        "quantile": Native("torch.quantile", partial(_quantile, machine)),
        "is_tensor": Native("is_tensor", lambda value: isinstance(value, Tensor)),
        "is_floating_point": Native("is_floating_point", lambda x: x.dtype.kind == FLOATING),
        "autocast": _autocast(machine),
        "finfo": Native("finfo", limits),
        "set_float32_matmul_precision": Native("precision", lambda how: _precision(machine, how)),
        "is_autocast_enabled": Native(
            "is_autocast_enabled", lambda *_: machine.card.half is not None
        ),
        "get_autocast_dtype": Native("get_autocast_dtype", lambda *_: machine.card.half or FLOAT16),
        "get_autocast_gpu_dtype": Native("get_autocast_gpu_dtype", lambda: machine.card.half),
        "strided": ANNOTATION,
        **dict.fromkeys(("contiguous_format", "channels_last"), ANNOTATION),
        "preserve_format": None,  # as where none is named
        "get_rng_state": Native("get_rng_state", lambda *_: _random_state(machine)),
        "set_rng_state": Native("set_rng_state", lambda *_: None, plain=False),
        "seed": Native("seed", lambda: machine.unknown("a random seed")),
        "initial_seed": Native("initial_seed", lambda: machine.unknown("a random seed")),
        "inf": float("inf"),
        "pi": 3.141592653589793,
    }
    torch |= dict.fromkeys(ANNOTATIONS, ANNOTATION)
    silent = {
        "is_available": Native("is_available", lambda: True),
        "get_rng_state": Native("get_rng_state", lambda *_: _random_state(machine)),
        "set_rng_state": Native("set_rng_state", lambda *_: None, plain=False),
    }
    functional_module = Namespace("torch.nn.functional", functional)
    checkpointing = checkpoints(machine)
    casting = {name: _casting(machine, name) for name in CASTING}
    dynamo = Namespace(DYNAMO, {})
    compiler: dict[str, Value] = {
        "disable": Native("disable", _disabled),
        "is_compiling": Native("is_compiling", lambda: machine.card.tracer is not None),
        **{name: Native(name, lambda: None) for name in ("cudagraph_mark_step_begin", "reset")},
    }
    return {
        "torch": Namespace("torch", torch),
        "torch.nn.functional": functional_module,
        "torch.nn.init": Namespace(
            "torch.nn.init",
            {name: Native(f"init.{name}", _filled, plain=False) for name in FILLS},
        ),
        "torch.nn.parameter": Namespace("torch.nn.parameter", {"Parameter": PARAMETER}),
        "einops": Namespace(
            "einops", {name: native(machine, f"einops.{name}", f) for name, f in EINOPS.items()}
        ),
        "torch.linalg": Namespace(
            "torch.linalg",
            {name: native(machine, f"linalg.{name}", f) for name, f in LINALG.items()},
        ),
        "torch.cuda": Namespace("torch.cuda", silent),
        "torch.mps": Namespace("torch.mps", {"manual_seed": Native("seed", lambda *_: None)}),
        "torch.functional": Namespace("torch.functional", {**torch, "F": functional_module}),
        **casting,
        "torch.autograd": functions.module(machine),
        "torch.jit": jit(machine),
        "torch.compiler": Namespace("torch.compiler", compiler),
        DYNAMO: dynamo,
        "torch._dynamo": Namespace(
            "torch._dynamo",
            {
                **compiler,
                "allow_in_graph": Native("allow_in_graph", functions.allow, plain=False),
                "config": dynamo,
            },
        ),
        "torch.backends": Namespace("torch.backends", {}),
        **{name: Namespace(name, {**OTHERS}) for name in ("torch.backends.mps", "torch.xpu")},
        "torch.backends.cuda": Namespace(
            "torch.backends.cuda", attention_settings.switches(machine)
        ),
        "torch.nn.attention": attention_settings.module(machine),
        "torch.backends.cudnn": Namespace("torch.backends.cudnn", {}),
        "torch.utils": Namespace("torch.utils", {"checkpoint": checkpointing}),
        pytree.PYTREE: pytree.module(machine),
        "torch.utils.checkpoint": checkpointing,
        "torch.distributed": Namespace("torch.distributed", {}),
    }


def _casting(machine: Machine, name: str) -> Namespace:
    """A module that has ``autocast``; those of ``torch.cuda`` are told no device."""
    of_card = ("cuda",) if name.startswith("torch.cuda") else ()
    return Namespace(name, {"autocast": _autocast(machine, *of_card), **functions.casting(machine)})


def _random_state(machine: Machine) -> Tensor:
    """The state of the random numbers, copied to the host."""
    return zeros(5056, device=machine.host, dtype=UINT8)


def _disabled(function: Value = None, *_: Value, **__: Value) -> Value:
    """``torch.compiler.disable``: marks a function as PyTorch does."""
    if function is None:
        return Native("disable", _disabled, plain=False)
    if isinstance(function, Function):
        function.attributes[NOT_COMPILED] = True
    return function


def _decorating(machine: Machine, manager: Manager, function: tuple[Value, ...]) -> Value:
    """``@torch.no_grad`` without parentheses."""
    return machine.decorate(manager, function[0]) if function else manager


def _quantile(
    machine: Machine, x: Tensor, q: Value, dim: int | None = None, keepdim: bool = False
) -> Tensor:
    """``torch.quantile`` on the host. Raises Unread for one on the card, which sorts."""
    if x.device is not machine.host or isinstance(q, Tensor):
        raise machine.unread("torch.quantile is not known")
    over = range(x.ndim) if dim is None else (normalized(dim, x.ndim),)
    return empty(x.device, reduced(x.shape, over, keepdim), x.dtype, x.role)


def _precision(machine: Machine, how: Value) -> None:
    """``torch.set_float32_matmul_precision``: TF32 for "high" and "medium"."""
    machine.card.allows_tf32 = how in ("high", "medium")


def _no_grad(machine: Machine) -> Manager:
    @contextmanager
    def enter() -> Iterator[None]:
        with machine.card.no_grad(), machine.host.no_grad():
            yield

    return Manager(enter)


def _grad(machine: Machine) -> Manager:
    @contextmanager
    def enter() -> Iterator[None]:
        before = machine.card.grad_enabled
        machine.card.grad_enabled = machine.host.grad_enabled = True
        try:
            yield
        finally:
            machine.card.grad_enabled = machine.host.grad_enabled = before

    return Manager(enter)


def _autocast(machine: Machine, device: str | None = None) -> Native:
    """``torch.autocast(device_type, dtype, enabled)``, and with ``device`` the older names."""

    def autocast(*given: Value, **named: Value) -> Value:
        names = ["enabled", "dtype"] if device else ["device_type", "dtype", "enabled"]
        names.append("cache_enabled")
        options = dict(zip(names, given, strict=False)) | named
        for name in options.keys() - {"device_type", "dtype", "enabled", "cache_enabled"}:
            machine.assume(f"nanolint does not model {name}= of autocast")
        kind = options.get("device_type", device)
        caches = options.get("cache_enabled", True)
        for each in (kind, options.get("enabled"), options.get("dtype"), caches):
            if isinstance(each, Unknown):
                raise each.unread()
        if isinstance(kind, str) and not kind.startswith("cuda"):
            return Manager(nullcontext)
        dtype = options.get("dtype") or FLOAT16
        half = dtype if options.get("enabled", True) and dtype is not FLOAT32 else None
        return Manager(lambda: machine.card.autocast(half, caches=bool(caches)))

    return Native("autocast", autocast, plain=False)


def _linear(machine: Machine) -> Native:
    """``F.linear``, whose result is called after the module of its weight."""

    def call(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        return linear(input, weight, bias, output_role(machine, weight))

    return native(machine, "F.linear", call)


def _linear_cross_entropy(machine: Machine) -> Native:
    def call(input: Tensor, weight: Tensor, target: Tensor, **named: Any) -> Tensor:
        logits = output_role(machine, weight)
        return linear_cross_entropy(input, weight, target, **named, role=logits)

    return native(machine, "F.linear_cross_entropy", call)


def _chunks(machine: Machine) -> Native:
    """``torch.nn.LinearCrossEntropyOptions``."""

    def made(*given: Value, **named: Value) -> Value:
        if given or named or machine.version < LINEAR_CROSS_ENTROPY_SINCE:
            raise machine.unread(f"{OPTIONS} is not known for these arguments")
        return CHUNKED

    return Native(OPTIONS, made, plain=False)


def output_role(machine: Machine, weight: Tensor) -> Role | None:
    """Returns the role of a product with a parameter: logits if it has a row for each token."""
    if not isinstance(weight, Parameter) or not weight.role.label.endswith(".weight"):
        return None
    if weight.shape[0] == machine.tokens:
        return role("logits", Component.LOGITS_AND_LOSS)
    return role(f"{weight.role.label.removesuffix('.weight')} output", Component.ACTIVATIONS)


SMALLEST = {
    FLOAT8_E4M3FN: -448.0,
    FLOAT8_E5M2: -57344.0,
    FLOAT16: -65504.0,
    BFLOAT16: -3.3895e38,
    FLOAT32: -3.4028e38,
    FLOAT64: -1.797e308,
}


def limits(dtype: Dtype) -> Namespace:
    """``torch.finfo(dtype)``."""
    least = SMALLEST.get(dtype, -1.0)
    return Namespace("finfo", {"min": least, "max": -least, "eps": 1e-7, "tiny": 1e-38})


def jit(machine: Machine) -> Namespace:
    """``torch.jit``: the fuser of what is scripted casts and keeps otherwise."""

    def told(name: str) -> None:
        machine.card.tape.doubt(f"nanolint does not model torch.jit.script of {name}")

    def script(what: Value = None, *_: Value, **__: Value) -> Value:
        if what is None:
            return Native("torch.jit.script", script, plain=False)
        if isinstance(what, Function):
            what.attributes[TELLS] = lambda: told(what.name)
        elif isinstance(what, Instance) and is_module(what):
            _mark_module(machine, what, told)
        return what

    names: dict[str, Value] = {
        "script": Native("torch.jit.script", script, plain=False),
        "is_scripting": Native("is_scripting", lambda: False),
    }
    return Namespace("torch.jit", names)


def _mark_module(machine: Machine, module: Instance, told: Callable[[str], None]) -> None:
    cls = module.cls
    plain = Instance(cls)
    plain.attributes, plain.buffers = module.attributes, module.buffers

    def call(_self: Value, *given: Value, **named: Value) -> Value:
        told(cls.name)
        return machine.call(plain, list(given), named)

    names = {"__call__": Native("__call__", call, plain=False)}
    module.cls = Class(cls.name, (cls,), names, cls.module)
