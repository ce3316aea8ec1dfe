"""A model that is read from its own source, as a module among nanolint's own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nanolint.interpreter import checkpoints
from nanolint.interpreter.exceptions import CATCHABLE
from nanolint.interpreter.interpreter import Interpreter
from nanolint.interpreter.module import Module
from nanolint.interpreter.naming import count_tokens, kind_of
from nanolint.interpreter.torch import modules
from nanolint.interpreter.values import Function, Instance, Method, Place, Raised, Unknown, Unread
from nanolint.run.program import FromRun, NotKnown
from nanolint.tape.tape import Component, Tape
from nanolint.tensors.autograd import Leaf
from nanolint.tensors.device import Device
from nanolint.tensors.parameter import Buffer, Parameter
from nanolint.tensors.role import role
from nanolint.tensors.tensor import Tensor
from nanolint.trainers.nanogpt.keys import PRETRAINED_SIZES

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.interpreter.values import Value
    from nanolint.run.program import ReadModel
    from nanolint.run.run import Run
    from nanolint.source.values import Plain


CONTEXT = "block_size"


class Read(Module):
    """The model of a program, built by reading its ``__init__``.

    Raises Unread, here and when it is called, where its memory depends on what is not known.
    """

    def __init__(
        self,
        program: ReadModel,
        run: Run,
        device: Device,
        absent: frozenset[str],
        capability: tuple[int, int] | None = None,
    ) -> None:
        self.host = Device(Tape())
        self._machine = Interpreter(
            program.modules, device, self.host,
            version=run.torch, absent=absent, capability=capability,
        )  # fmt: skip
        self._model: Instance = self._reading(lambda: self._build(program, run))
        self._settle(device)
        self._file = program.modules[0].path
        self._machine.rest()

    def _reading(self, part: Callable[[], Any]) -> Any:
        """What ``part`` returns; where the program would fail, it is not read."""
        try:
            return part()
        except Raised as error:
            raise self._machine.unread(f"raises {error}") from error
        except CATCHABLE as error:
            raise self._machine.unread(f"raises {type(error).__name__}: {error}") from error
        except RecursionError as error:
            raise self._machine.unread("nested too deeply") from error

    def _build(self, program: ReadModel, run: Run) -> Value:
        machine = self._machine
        module = machine.load(program.modules[0].module)
        arguments = {name: _argument(value, run) for name, value in program.arguments}
        cls = machine.member(module, program.class_name)
        machine.at(module, 1)
        if isinstance(cls, Unknown):
            raise cls.unread()
        if program.pretrained is not None:
            built = self._pretrained(cls, program.pretrained, arguments)
        elif program.config_class is None:
            built = machine.call(cls, [], arguments)
        else:
            config = machine.member(module, program.config_class)
            built = machine.call(cls, [machine.call(config, [], arguments)])
        if not modules.is_module(built):
            raise machine.unread(f"{program.class_name} is not a module")
        return built

    def _pretrained(self, cls: Value, name: str, arguments: dict[str, Value]) -> Value:
        """What the class makes of a checkpoint, cropped to the context of the run."""
        machine, context = self._machine, arguments.pop(CONTEXT)
        machine.provide(checkpoints.NAME, checkpoints.library(machine, PRETRAINED_SIZES))
        built = machine.call(machine.attribute(cls, "from_pretrained"), [name, arguments])
        if isinstance(built, Unknown):
            raise built.unread()
        longest = machine.attribute(machine.attribute(built, "config"), CONTEXT)
        if machine.truth(machine.compare(ast.Lt(), context, longest)):
            machine.call(machine.attribute(built, "crop_block_size"), [context])
        return built

    def _settle(self, device: Device) -> None:
        """All that it owns has its name, and belongs to the card from now on."""
        self._machine.tokens = count_tokens(self._model)
        self._machine.layers.look_at(self._model)
        for name, parameter in modules.parameters(self._model):
            learns = parameter.requires_grad
            parameter.device = device
            parameter.role = role(kind_of(name), Component.PARAMETERS)
            parameter.node = Leaf(parameter) if learns else None
        for name, owner, tensor in list(modules.buffers(self._model)):
            if tensor.device is device:  # made there
                continue
            attribute = name.rpartition(".")[2]
            owner.attributes[attribute] = Buffer(device, kind_of(name), tensor.shape, tensor.dtype)

    def parameters(self) -> tuple[Parameter, ...]:
        """Those that learn, as ``nn.Module.parameters`` lists them."""
        return tuple(each for _, each in modules.parameters(self._model) if each.requires_grad)

    def decayed_first(self) -> tuple[Parameter, ...]:
        """As the project's own optimizer has them, where that is known."""
        return self.adam_order() or super().decayed_first()

    def state(self) -> tuple[Buffer, ...]:
        """Parameters and buffers in the order in which ``.to(device)`` moves them."""
        found = [each for _, _, each in modules.state(self._model) if isinstance(each, Buffer)]
        return tuple(dict.fromkeys(found))

    def adam_order(self) -> tuple[Parameter, ...] | None:
        """The parameters in the order in which a fused AdamW steps them; None if there is none.

        That is what ``configure_optimizers`` makes, whatever its numbers are.
        """
        try:
            return self._reading(self._adam_order)  # type: ignore[no-any-return]
        except Unread:
            return None
        finally:
            self._machine.rest()  # what the loop makes from now on is of no line here

    def _adam_order(self) -> tuple[Parameter, ...] | None:
        machine = self._machine
        configure = machine.attribute(self._model, "configure_optimizers")
        made = machine.call(configure, [], _named(configure))
        if not isinstance(made, Instance) or made.cls.name not in ("Adam", "AdamW"):
            return None
        groups = made.attributes["param_groups"]
        plain = all(group["fused"] is True and group["amsgrad"] is False for group in groups)
        found = [each for group in groups for each in group["params"]]
        are_all = {id(each) for each in found} == {id(each) for each in self.parameters()}
        return tuple(found) if plain and are_all else None

    def train(self, mode: bool = True) -> None:
        """``.train()``; ``.eval()`` with False."""
        modules.train(self._model, mode)

    def __call__(self, *arguments: Any) -> tuple[Tensor | None, Tensor]:
        """What is kept beside the loss, and the loss, of indices and targets, both (B, T)."""
        passed = list(arguments)
        del arguments
        out = self._reading(lambda: self._machine.call(self._model, passed))
        if isinstance(out, Unknown):
            raise out.unread()
        kept, loss = _parts(out)
        if isinstance(loss, Unknown):
            raise loss.unread()
        if loss is None:
            raise Unread("the model returns no loss", Place(self._file, 1))
        return kept, loss


def _parts(out: Value) -> tuple[Tensor | None, Tensor | Unknown | None]:
    """What a loop keeps of a model's output: the first other tensor, if any, and the loss."""
    if isinstance(out, Tensor):
        return None, out
    values = _values(out)
    if len(values) > 1 and (isinstance(values[1], Unknown) or _is_number(values[1])):
        return values[0] if isinstance(values[0], Tensor) else None, values[1]
    loss = next((each for each in values if _is_number(each)), None)
    others = (each for each in values if isinstance(each, Tensor) and each.ndim)
    return next(others, None), loss


def _values(out: Value) -> list[Value]:
    """The parts of a tuple, a list, a dictionary or an object."""
    if isinstance(out, Instance):
        out = out.attributes
    if isinstance(out, dict):
        return list(out.values())
    return list(out) if isinstance(out, (tuple, list)) else []


def _is_number(value: Value) -> bool:
    return isinstance(value, Tensor) and not value.ndim


# What a script passes to ``configure_optimizers``: of the numbers nothing follows.
PASSED: dict[str, Value] = {
    **dict.fromkeys(("weight_decay", "learning_rate", "lr", "max_lr"), 0.1),
    **dict.fromkeys(("device_type", "device"), "cuda"),
    **dict.fromkeys(("betas", "beta"), (0.9, 0.95)),
}


def _named(configure: Value) -> dict[str, Value]:
    """The arguments of ``configure_optimizers``. Raises TypeError where one is not known."""
    function = configure.function if isinstance(configure, Method) else configure
    if not isinstance(function, Function):
        raise TypeError("configure_optimizers is not a function of the project")
    spec = function.node.args
    names = [each.arg for each in (*spec.args[1:], *spec.kwonlyargs)]
    return {name: PASSED[name] for name in names if name in PASSED}


def _argument(value: Plain | FromRun | NotKnown, run: Run) -> Value:
    """What the model is built with; of what is not known, what depends on it is not known."""
    if isinstance(value, NotKnown):
        return Unknown(value.reason, Place(value.path, value.line))
    return getattr(run, value.field) if isinstance(value, FromRun) else value


__all__ = ["Read", "Unread"]
