"""``nn.Module``: what it owns, in order, what is done to all of it, and the names of its tensors.

Its tables ``_modules``, ``_parameters`` and ``_buffers`` are as PyTorch has them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from nanolint.interpreter.certain import certain
from nanolint.interpreter.torch import signatures
from nanolint.interpreter.torch.calling import card_of, device_of
from nanolint.interpreter.torch.methods import learn
from nanolint.interpreter.values import Class, Event, Instance, Namespace, Native, Unknown
from nanolint.run.stop import Cause
from nanolint.tape.tape import Component
from nanolint.tensors.autograd import Leaf
from nanolint.tensors.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, FLOATING, Dtype
from nanolint.tensors.parameter import Parameter, Registered
from nanolint.tensors.role import role
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value
    from nanolint.tensors.device import Device

PASSING = "_non_persistent_buffers_set"  # in no checkpoint
PRE_HOOKS, HOOKS = "_forward_pre_hooks", "_forward_hooks"  # as nn.Module itself calls them
MOST_SAID = 4  # keys of a checkpoint that do not fit
OF_PYTHON = frozenset({bool, int, float, str, type(None)})


def module_class(machine: Machine) -> Class:
    """The class ``torch.nn.Module``."""
    names: dict[str, Value] = {
        name: Native(f"Module.{name}", partial(method, machine), plain=False)
        for name, method in METHODS.items()
    }
    return Class("Module", (), names, Namespace("torch.nn", {}))


def children(module: Instance) -> Iterator[tuple[str, Instance]]:
    """The modules that it is made of, each once, by the names that they have in it."""
    seen: set[int] = set()
    for name, value in list(module.attributes.items()):
        if is_module(value) and id(value) not in seen:
            seen.add(id(value))
            yield name, value


def modules(
    module: Instance, prefix: str = "", seen: set[int] | None = None
) -> Iterator[tuple[str, Instance]]:
    """Itself and all below it, each once and before those below it."""
    seen = set() if seen is None else seen
    if id(module) in seen:
        return
    seen.add(id(module))
    yield prefix, module
    for name, value in list(module.attributes.items()):
        if is_module(value):
            yield from modules(value, f"{prefix}.{name}" if prefix else name, seen)


def parameters(
    module: Instance, prefix: str = "", *, recurse: bool = True
) -> Iterator[tuple[str, Parameter]]:
    """All parameters below it, each once, as ``nn.Module.named_parameters`` lists them."""
    seen: set[int] = set()
    below = _below(module, prefix) if recurse else [(prefix, module)]
    for path, each in below:
        for name, value in list(each.attributes.items()):
            if isinstance(value, Parameter) and id(value) not in seen:
                seen.add(id(value))
                yield f"{path}.{name}" if path else name, value


def weights(module: Instance) -> Iterable[Parameter]:
    """Those parameters without their names, in less time: each call of a model asks for them."""
    found: dict[int, Parameter] = {}
    inside, seen = [module], {id(module)}
    for each in inside:  # which grows
        for value in each.attributes.values():
            if type(value) in OF_PYTHON:
                continue
            if isinstance(value, Parameter):
                found[id(value)] = value
            elif (
                isinstance(value, Instance)
                and id(value) not in seen
                and (value.cls.is_module or _is_part(value))
            ):
                seen.add(id(value))
                inside.append(value)
    return found.values()


def _below(module: Instance, prefix: str) -> list[tuple[str, Instance]]:
    """``modules``, all at once."""
    found: list[tuple[str, Instance]] = []
    _look(module, prefix, found, set())
    return found


def _look(inside: Instance, path: str, found: list[tuple[str, Instance]], seen: set[int]) -> None:
    # No function within a function: one that calls itself holds itself, and what it has found.
    seen.add(id(inside))
    found.append((path, inside))
    for name, value in inside.attributes.items():
        if isinstance(value, Instance) and id(value) not in seen and _is_part(value):
            _look(value, f"{path}.{name}" if path else name, found, seen)


def _is_part(value: Instance) -> bool:
    """Whether it is a module. Raises Unread where that is not known."""
    if not value.cls.is_module and value.cls.unknown is not None and _holds(value):
        raise value.cls.unknown.unread()
    return value.cls.is_module


def _holds(inside: Instance) -> bool:
    """Whether an object has what a module would have."""
    return any(isinstance(each, Tensor) or is_module(each) for each in inside.attributes.values())


def buffers(module: Instance, prefix: str = "") -> Iterator[tuple[str, Instance, Tensor]]:
    """All buffers below it with their owners."""
    for path, each in _below(module, prefix):
        for name, value in list(each.attributes.items()):
            if name in each.buffers and isinstance(value, Tensor):
                yield f"{path}.{name}" if path else name, each, value


def state(module: Instance) -> Iterator[tuple[Instance, str, Tensor]]:
    """Parameters and buffers in the order in which ``.to(device)`` moves them."""
    seen: set[int] = set()
    yield from _state(module, seen)


def _state(module: Instance, seen: set[int]) -> Iterator[tuple[Instance, str, Tensor]]:
    for _, child in children(module):
        if id(child) not in seen:
            yield from _state(child, seen)
    seen.add(id(module))
    own = list(module.attributes.items())
    for name, value in own:
        if isinstance(value, Parameter):
            yield module, name, value
    for name, value in own:
        if name in module.buffers and isinstance(value, Tensor):
            yield module, name, value


def train(module: Instance, mode: bool = True) -> Instance:
    """``.train()``; ``.eval()`` with False."""
    for _, each in _below(module, ""):
        each.attributes["training"] = mode
    return module


def _init(_machine: Machine, module: Instance, *_: Value, **__: Value) -> None:
    module.attributes["training"] = True


def _set(_machine: Machine, module: Instance, name: str, value: Value = None, **_: Value) -> None:
    module.attributes[name] = value


def _buffer(
    _machine: Machine, module: Instance, name: str, tensor: Value, persistent: bool = True
) -> None:
    if isinstance(tensor, Unknown):
        raise tensor.unread()
    module.attributes[name] = tensor
    module.buffers.add(name)
    if not persistent:
        module.attributes.setdefault(PASSING, set()).add(name)


def _named_modules(
    _machine: Machine, module: Instance, _memo: Value = None, prefix: str = "", **_: Value
) -> Value:
    return modules(module, prefix)


def _parameters(_machine: Machine, module: Instance, recurse: bool = True) -> Value:
    return [each for _, each in parameters(module, recurse=recurse)]


def _named_parameters(
    _machine: Machine, module: Instance, prefix: str = "", recurse: bool = True, *_: Value
) -> Value:
    return parameters(module, prefix, recurse=recurse)


def _buffers(_machine: Machine, module: Instance, *_: Value, **__: Value) -> Value:
    return [each for _, _, each in buffers(module)]


def _named_buffers(_machine: Machine, module: Instance, prefix: str = "", *_: Value) -> Value:
    return [(name, each) for name, _, each in buffers(module, prefix)]


def _state_dict(_machine: Machine, module: Instance, *_: Value, **__: Value) -> Value:
    return {name: each.detach() for name, each in _saved(module, "")}


def _saved(module: Instance, prefix: str) -> Iterator[tuple[str, Tensor]]:
    """What a checkpoint has, tied parameters by each of their names."""
    own = list(module.attributes.items())
    passing = module.attributes.get(PASSING, ())
    for name, value in own:
        if isinstance(value, Parameter):
            yield f"{prefix}{name}", value
    for name, value in own:
        if name in module.buffers and name not in passing and isinstance(value, Tensor):
            yield f"{prefix}{name}", value
    for name, value in own:
        if is_module(value):
            yield from _saved(value, f"{prefix}{name}.")


def _load(
    machine: Machine,
    module: Instance,
    state: Value = None,
    strict: Value = True,
    assign: Value = False,
) -> Value:
    """``load_state_dict``; with ``assign`` what was loaded takes the place of what was there."""
    saved = list(_saved(module, ""))
    if isinstance(state, Unknown):
        machine.loads_weights(state, saved)
    elif type(state) is dict and type(strict) is bool and _has_plain_names(machine, module):
        _misfit(module.cls.name, dict(saved), state, strict=strict)
    elif assign is True and isinstance(state, dict):
        for name, each in saved:
            loaded = state.get(name)
            if isinstance(loaded, Tensor) and isinstance(each, Parameter):
                each.storage = loaded.storage
    return machine.unknown("which keys of a checkpoint match")


def _has_plain_names(machine: Machine, module: Instance) -> bool:
    """Whether a state has the names that nanolint gives its tensors, and nobody changes them."""
    libraries = (
        cls.name for _, each in modules(module) for cls in each.cls.mro if not cls.module.path
    )
    plain = all(name in signatures.WHOLE or name == "object" for name in libraries)
    return plain and not machine.presumes and not machine.says("load_from_state_dict", "pre_hook")


def _misfit(name: str, own: dict[str, Tensor], state: dict[Value, Value], *, strict: bool) -> None:
    """Raises RuntimeError for weights that are missing, not wanted, or of another shape."""
    wrong = []
    for what, some, other in (("Missing", own, state), ("Unexpected", state, own)):
        keys = [f'"{key}"' for key in some if key not in other]
        if strict and keys:
            rest = f" and {len(keys) - MOST_SAID} more" if len(keys) > MOST_SAID else ""
            wrong.append(f"{what} key(s) in state_dict: {', '.join(keys[:MOST_SAID])}{rest}.")
    for key, each in own.items():
        given = state.get(key)
        if isinstance(given, Tensor) and given.shape != each.shape:
            shapes = (f"torch.Size({list(shape)})" for shape in (given.shape, each.shape))
            wrong.append(
                f"size mismatch for {key}: copying a param with shape {next(shapes)} from "
                f"checkpoint, the shape in current model is {next(shapes)}."
            )
    if wrong:
        words = f"Error(s) in loading state_dict for {name}: {' '.join(wrong[:MOST_SAID])}"
        raise certain(RuntimeError(words), Cause.OPERANDS)


def _apply(machine: Machine, module: Instance, function: Value) -> Instance:
    for _, child in children(module):
        _apply(machine, child, function)
    machine.call(function, [module])
    return module


def _train(machine: Machine, module: Instance, mode: bool = True) -> Instance:
    machine.happens(Event.TRAINS if mode else Event.EVALUATES)
    machine.listener.sets_mode(module, trains=mode)
    return train(module, mode)


def _requires(machine: Machine, module: Instance, requires_grad: Value = True) -> Instance:
    for _, each in parameters(module):
        learn(machine, each, requires_grad)
    return module


def _zero_grad(machine: Machine, module: Instance, *_given: Value, **_named: Value) -> None:
    for _, each in parameters(module):
        machine.listener.puts(each, None)
        each.gradient = None


def _to(machine: Machine, module: Instance, *targets: Value, **options: Value) -> Instance:
    given = (*targets, options.get("device"), options.get("dtype"))
    for target in given:  # of the host's it makes the other type there
        if isinstance(target, Dtype):
            _retype(machine, module, target)
    for target in given:
        if not (target is None or isinstance(target, (bool, Dtype))):
            move(machine, module, device_of(machine, target))
    return module


def _retype(machine: Machine, module: Instance, target: Dtype) -> None:
    for _, each in parameters(module):
        if each.dtype.kind == FLOATING and each.dtype is not target:
            old = each.node
            each.retype(target)
            each.node = None
            if isinstance(old, Leaf):
                each.node = new = Leaf(each)
                new.before, new.after = old.before, old.after
    for key, owner, tensor in list(buffers(module)):
        if tensor.dtype.kind == FLOATING:
            changed = machine.call(machine.attribute(tensor, "to"), [target])
            owner.attributes[key.rpartition(".")[2]] = changed


def _found(_machine: Machine, module: Instance, name: str) -> Value:
    found: Value = module
    for part in name.split("."):
        found = found.attributes[part]
    return found


def _register(
    kind: str, machine: Machine, module: Instance, hook: Value, **options: Value
) -> Namespace:
    """Call ``hook`` around each ``forward`` from now on; what is returned can ``remove`` it."""
    if options:
        raise machine.unread(f"a hook with {', '.join(options)} is not known")
    hooks = module.attributes.setdefault(kind, {})
    key = object()
    hooks[key] = hook
    return Namespace("hook", {"remove": Native("remove", lambda: hooks.pop(key, None))})


def _other(name: str) -> Callable[..., Value]:
    """A method of every module, of which no more is known."""

    def refuse(machine: Machine, _module: Instance, *_: Value, **__: Value) -> Value:
        raise machine.unread(f"nn.Module.{name} is not known")

    return refuse


OTHERS = (
    *("register_full_backward_hook", "register_full_backward_pre_hook", "register_backward_hook"),
    *("register_state_dict_pre_hook", "register_state_dict_post_hook", "set_extra_state", "type"),
    *("register_load_state_dict_pre_hook", "register_load_state_dict_post_hook", "get_buffer"),
    *("get_extra_state", "set_submodule", "xpu", "ipu", "mtia"),
)
METHODS: dict[str, Callable[..., Value]] = {
    "__init__": _init,
    "register_buffer": _buffer,
    "register_parameter": _set,
    "add_module": _set,
    "register_module": _set,
    "children": lambda _, module: [child for _, child in children(module)],
    "named_children": lambda _, module: list(children(module)),
    "modules": lambda _, module: [each for _, each in modules(module)],
    "named_modules": _named_modules,
    "parameters": _parameters,
    "named_parameters": _named_parameters,
    "buffers": _buffers,
    "named_buffers": _named_buffers,
    "state_dict": _state_dict,
    "load_state_dict": _load,
    "apply": _apply,
    "train": _train,
    "eval": lambda machine, module: _train(machine, module, False),
    "requires_grad_": _requires,
    "zero_grad": _zero_grad,
    "to": _to,
    "to_empty": _to,
    "cuda": lambda machine, module, device=None: _to(machine, module, card_of(machine, device)),
    "cpu": lambda machine, module: _to(machine, module, machine.host),
    "float": lambda machine, module: _to(machine, module, FLOAT32),
    "half": lambda machine, module: _to(machine, module, FLOAT16),
    "bfloat16": lambda machine, module: _to(machine, module, BFLOAT16),
    "double": lambda machine, module: _to(machine, module, FLOAT64),
    "share_memory": lambda _, module: module,
    "get_submodule": _found,
    "get_parameter": _found,
    "extra_repr": lambda *_: "",
    "register_forward_hook": partial(_register, HOOKS),
    "register_forward_pre_hook": partial(_register, PRE_HOOKS),
    **{name: _other(name) for name in OTHERS},
}


def items(module: Instance) -> dict[str, Instance]:
    """The modules of a list or a dictionary of modules by their keys.

    Raises Unread if one of them is not known: nobody may pass it over.
    """
    found: dict[str, Instance] = {}
    for name, each in module.attributes.items():
        if isinstance(each, Unknown):
            raise each.unread()
        if isinstance(each, Instance) and not each.cls.is_module and each.cls.unknown is not None:
            raise each.cls.unknown.unread()
        if is_module(each):
            found[name] = each
    return found


def own_parameters(module: Instance) -> list[Parameter]:
    """The parameters of a list of parameters."""
    return [each for each in module.attributes.values() if isinstance(each, Parameter)]


def move(machine: Machine, module: Instance, device: Device | None) -> None:
    """``module.to(device)``: what is not there yet takes memory there."""
    for owner, name, tensor in state(module):
        if device is None or tensor.device is device:
            continue
        if isinstance(tensor, Parameter):
            tensor.device, tensor.storage = device, None  # what it had is where it was
            tensor.move()
        else:
            owner.attributes[name] = machine.call(machine.attribute(tensor, "to"), [device])


def make_parameter(machine: Machine, data: Value = None, requires_grad: bool = True) -> Parameter:
    """``nn.Parameter(data)``."""
    if isinstance(data, Unknown):
        raise data.unread()
    made = Parameter(data.device, "parameter", data.shape, data.dtype)
    made.storage = data.storage if data.device is machine.card else None
    if not requires_grad or not data.dtype.is_differentiable:
        made.node = None
    return made


def make_buffer(data: Value, persistent: bool = True) -> Registered:
    """``nn.Buffer(data)``."""
    if isinstance(data, Unknown):
        raise data.unread()
    return Registered(data, persistent=persistent)


MODULES, PARAMETERS, BUFFERS = TABLES = ("_modules", "_parameters", "_buffers")


class Table(dict[str, "Value"]):
    """One of them; what is put there is the module's."""

    def __init__(self, module: Instance, kind: str) -> None:
        self._module, self._kind = module, kind
        super().__init__(items(module) if kind == MODULES else _tensors(module, kind))

    def __setitem__(self, name: str, value: Value) -> None:
        super().__setitem__(name, value)
        self._module.attributes[name] = value
        if self._kind == BUFFERS:
            self._module.buffers.add(name)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        del self._module.attributes[name]

    def pop(self, name: str, *default: Value) -> Value:
        """As a dictionary's."""
        self._module.attributes.pop(name, None)
        return super().pop(name, *default)


def _tensors(module: Instance, kind: str) -> dict[str, Value]:
    return {
        name: value
        for name, value in module.attributes.items()
        if isinstance(value, Tensor)
        and (name in module.buffers if kind == BUFFERS else isinstance(value, Parameter))
    }


def is_module(value: Value) -> bool:
    """Whether a value is a module."""
    return isinstance(value, Instance) and value.cls.is_module


def is_kind_of_module(cls: Class) -> bool:
    """Whether the objects of a class are modules."""
    return cls.is_module


def held_by_modules(values: Iterable[Value]) -> Iterator[Tensor]:
    """All tensors that are found on those of some values that are modules: parameters, buffers,
    and what is kept in their lists and other objects."""
    unseen: list[Value] = [each for each in values if is_module(each)]
    seen = set(map(id, unseen))
    for each in unseen:  # which grows
        inside: Iterable[Value] = ()
        if isinstance(each, Tensor):
            yield each
        elif isinstance(each, Instance):
            inside = each.attributes.values()
        elif isinstance(each, dict):
            inside = each.values()
        elif isinstance(each, (list, tuple)):
            inside = each
        for one in inside:
            if id(one) not in seen:
                seen.add(id(one))
                unseen.append(one)


def name_parameters(machine: Machine, model: Instance) -> None:
    """Gives each parameter of ``model`` its name, also if it lies on the card by now."""
    tape = machine.card.tape
    for name, parameter in parameters(model):
        parameter.role = role(kind_of(name), Component.PARAMETERS)
        if isinstance(parameter.node, Leaf):
            parameter.node.outputs = ((parameter.shape, parameter.dtype, parameter.role),)
        if parameter.storage is not None and parameter.device is machine.card:
            called = parameter.role.describe(parameter.shape, parameter.dtype)
            tape.names[parameter.storage.handle] = called


def count_tokens(model: Instance) -> int:
    """The rows of the largest table of embeddings: the vocabulary; 0 if there is none."""
    tables = [
        value.shape[0]
        for _, module in modules(model)
        if module.cls.name == "Embedding"
        for value in module.attributes.values()
        if isinstance(value, Parameter)
    ]
    return max(tables, default=0)


def kind_of(name: str) -> str:
    """A name without the numbers of layers: what is alike is called alike."""
    for wrapper in ("module.", "_orig_mod.", "transformer."):
        name = name.removeprefix(wrapper)
    parts = name.split(".")
    return ".".join(each for each in parts if not each.isdigit())
