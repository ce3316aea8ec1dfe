"""The interpreter: a program's modules, read statement by statement over pretend tensors.

It touches no disk, no network and none of Python's own imports: the texts are handed in.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from nanolint.interpreter import (
    attention_packages,
    binding,
    builtins,
    calls,
    classes,
    generators,
    libraries,
    operators,
    plain,
    protocols,
)
from nanolint.interpreter.alike import Layers
from nanolint.interpreter.certain import certain
from nanolint.interpreter.exceptions import let_go
from nanolint.interpreter.expressions import EXPRESSIONS
from nanolint.interpreter.machine import Machine
from nanolint.interpreter.scopes import Frame, Kind
from nanolint.interpreter.torch import methods, modules, names, signatures, texts
from nanolint.interpreter.values import (
    ANNOTATION,
    PARAMETER,
    Absent,
    Class,
    Function,
    Instance,
    Later,
    Method,
    Namespace,
    Native,
    Partial,
    Place,
    Property,
    Super,
    Unknown,
    Unread,
    silent,
)
from nanolint.source.python import python_tree
from nanolint.tape.torch import BUFFER_SINCE
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from nanolint.interpreter.values import Options, Value
    from nanolint.run.program import SourceText
    from nanolint.tensors.device import Device

# Methods of every object that change it, or make another one.
CHANGES = frozenset({"__delattr__", "__getattribute__", "__init__", "__new__", "__setattr__"})
OF_PROGRAM = (Instance, Class, Namespace, Function, Method, Super, Partial, Property, Native)


class Interpreter(Machine):
    """Reads the modules of ``sources``."""

    def __init__(
        self,
        sources: Iterable[SourceText],
        card: Device,
        host: Device,
        *,
        version: tuple[int, int],
    ) -> None:
        super().__init__(card, host, version=version)
        self.layers = Layers(self)
        if card.tape.locator is not None:
            card.tape.locator.reader = self
        self._sources: Mapping[str, SourceText] = {each.module: each for each in sources}
        self.zero_super = Native("super", Super, plain=False)
        self.enumeration = Class("Enum", (), {}, Namespace("enum", {}))
        self.named_tuple = Class("NamedTuple", (), {}, Namespace("typing", {}))
        self._builtins = builtins.table(self)
        self._libraries = libraries.table(self) | names.table(self) | attention_packages.table(self)

    # Expressions and statements.

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        return EXPRESSIONS[node.__class__](self, node, frame)

    def generate(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame
    ) -> Iterator[Value]:
        return generators.generated(self, node.body, frame)

    def assign(self, target: ast.expr, value: Value, frame: Frame) -> None:
        binding.assign(self, target, value, frame)

    def call(
        self, function: Value, arguments: list[Value], keywords: dict[str, Value] | None = None
    ) -> Value:
        return calls.call(self, function, arguments, keywords)

    def convert(self, kind: type, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        return builtins.convert(self, kind, arguments, keywords)

    def decorate(self, decorator: Value, value: Value) -> Value:
        return calls.decorate(self, decorator, value)

    def define(self, node: ast.ClassDef, frame: Frame) -> Class:
        return classes.define(self, node, frame)

    def instantiate(self, cls: Class, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        return classes.instantiate(self, cls, arguments, keywords)

    def super_of(self, frame: Frame) -> Value:
        call: Frame | None = frame
        while call is not None and (call.function is None or call.function.owner is None):
            call = call.closure
        if call is None or call.function is None or call.function.owner is None:
            raise self.unread("super() outside of a method")
        first = call.function.node.args
        name = (*first.posonlyargs, *first.args)[0].arg
        return Super(call.function.owner, call.names[name])

    # Values.

    def builtin(self, name: str, module: Namespace) -> Value:
        try:
            return self._builtins[name]
        except KeyError:
            if module.starred is not None:
                return module.starred
            raise NameError(f"name '{name}' is not defined", name=name) from None

    def attribute(self, owner: Value, name: str) -> Value:
        if isinstance(owner, Unknown):
            return owner
        if owner is self.zero_super:  # super.__init__()
            why = f"descriptor '{name}' of 'super' object needs an argument"
            raise certain(TypeError(why), anywhere=True)
        try:
            return self._attribute(owner, name)
        except AttributeError as error:
            if name not in classes.INHERITED:
                raise
            let_go(error)
        if name in CHANGES:
            raise self.unread(f"object.{name} is not known")
        gives = self.unknown(f"the result of {name}")
        return gives if name == "__doc__" else silent(name, gives)

    def _attribute(self, owner: Value, name: str) -> Value:
        if isinstance(owner, Tensor):
            return methods.attribute(self, owner, name)
        if isinstance(owner, OF_PROGRAM):
            return classes.attribute(self, owner, name)
        if owner is ANNOTATION:
            return owner
        found = methods.of_setting(self, owner, name)
        return plain.attribute(self, owner, name) if found is None else found

    def set_attribute(self, owner: Value, name: str, value: Value) -> None:
        classes.set_attribute(self, owner, name, value)

    def set_native(self, owner: Value, name: str, value: Value) -> None:
        if not isinstance(owner, Tensor):
            raise AttributeError(f"{owner!r} cannot set '{name}'")
        methods.set_attribute(self, owner, name, value)

    def delete_attribute(self, owner: Value, name: str) -> None:
        if isinstance(owner, Namespace) and not owner.path:
            self.absent.add(f"{owner.name}.{name}")
        if isinstance(owner, Instance):
            if name not in owner.attributes:
                raise AttributeError(name)
            del owner.attributes[name]
            owner.buffers.discard(name)

    def item(self, owner: Value, index: Value) -> Value:
        if isinstance(owner, Tensor):
            return methods.item(self, owner, index)
        return operators.item(self, owner, index)

    def set_item(self, owner: Value, index: Value, value: Value) -> None:
        protocols.set_item(self, owner, index, value)

    def delete_item(self, owner: Value, index: Value) -> None:
        protocols.delete_item(self, owner, index)

    def iterate(self, value: Value) -> Iterator[Value]:
        return protocols.iterate(self, value)

    def truth(self, value: Value) -> bool:
        return protocols.truth(self, value)

    def instance_of(self, value: Value, kind: Value) -> Value:
        return protocols.instance_of(self, value, kind)

    def tensor_type(self, value: Tensor) -> Value:
        return methods.type_of(self, value)

    # Operators.

    def binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        is_tensors = isinstance(left, Tensor) or isinstance(right, Tensor)
        if is_tensors and not operators.has_method(op, left, right):
            return methods.binary(self, op, left, right)
        return operators.binary(self, op, left, right)

    def in_place(self, op: ast.operator, left: Value, right: Value) -> Value:
        if isinstance(left, Tensor):
            return methods.in_place(self, op, left, right)
        return operators.in_place(self, op, left, right)

    def unary(self, op: ast.unaryop, operand: Value) -> Value:
        if isinstance(operand, Tensor):
            return methods.unary(self, op, operand)
        return operators.unary(self, op, operand)

    def compare(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        if (isinstance(left, Tensor) or isinstance(right, Tensor)) and isinstance(
            op, (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
        ):
            return methods.compare(self, op, left, right)
        return operators.compare(self, op, left, right)

    # Modules.

    def copied(
        self,
        module: Instance,
        arguments: list[Value],
        keywords: dict[str, Value],
        read: Callable[[], Value],
        checkpointed: Options | None = None,
    ) -> Value:
        return self.layers.call(module, arguments, keywords, read, checkpointed)

    def runs(self, function: Function) -> None:
        self.layers.runs(function)

    def says(self, *words: str) -> bool:
        return any(word in each.text for each in self._sources.values() for word in words)

    def load(self, name: str) -> Value:
        module = self._loaded(name)
        within, _, own = name.rpartition(".")
        package = self.imported.get(within) if own and within else None
        if isinstance(package, Namespace) and package.path:
            package.names.setdefault(own, module)  # to its own statements, too
        return module

    def _loaded(self, name: str) -> Value:
        if name in self.imported:
            return self.imported[name]
        if name == f"{NN}.modules":  # all of its names are torch.nn's, too
            return self.load(NN)
        if name == NN:
            return self._torch_nn()
        if name == EINOPS_LAYERS:
            return self._of_nanolint(name, texts.EINOPS_LAYERS, {"__name__": name})
        if name == OPTIM:
            return self._of_nanolint(name, texts.OPTIMIZERS, {"__name__": name})
        source = self._sources.get(name) or self._sources.get(f"{name}.__init__")
        if source is None:
            if name in self._libraries:
                return self._library(name)
            if any(each.startswith(f"{name}.") for each in self._sources):
                return Namespace(name, {}, "")
            if is_pythons(name):
                return self.imported.setdefault(name, Namespace(name, {}))
            return Absent(f"{name} is not a module of the project", self.place)
        within = name.rpartition(".")[0]
        if within and (within in self._sources or f"{within}.__init__" in self._sources):
            self.load(within)  # Python runs a package before what lies in it
            if name in self.imported:
                return self.imported[name]
        package = name if source.path.endswith("__init__.py") else within
        given: dict[str, Value] = {
            "__name__": name, "__package__": package, "__file__": source.path,
        }  # fmt: skip
        module = self.imported[name] = Namespace(name, given, source.path)
        tree = parsed(source.text)
        if tree is None:
            raise Unread("no Python that is known", Place(source.path, 1))
        module.names["__doc__"] = ast.get_docstring(tree, clean=False)
        before = self.module, self.line
        self.execute(tree.body, Frame(module, module.names, kind=Kind.MODULE))
        self.module, self.line = before
        return module

    def _library(self, name: str) -> Value:
        found = self._libraries[name]
        if isinstance(found, Later):
            before = self.module, self.line
            found = self._libraries[name] = found.make()
            self.module, self.line = before
        return found

    def _torch_nn(self) -> Namespace:
        """``torch.nn`` is written in the language that is read, by ``member``."""
        names: dict[str, Value] = {
            "__name__": NN,
            "Module": modules.module_class(self),
            "Parameter": PARAMETER,
            "module_items": Native("items", modules.items, plain=False),
            "parameter_values": Native("values", modules.own_parameters, plain=False),
            "lets_go": self.version >= LETS_GO_SINCE,
        }
        if self.version >= BUFFER_SINCE:
            names["Buffer"] = Native("nn.Buffer", modules.make_buffer, plain=False)
        names["__all__"] = [each for each in (*names, *texts.of_nn()) if each[0].isupper()]
        self.imported[NN] = Namespace(NN, names)
        return self.imported[NN]

    def _of_nanolint(self, name: str, text: Path, names: dict[str, Value]) -> Namespace:
        return written(self, text, self.imported.setdefault(name, Namespace(name, names)))

    def move(self, module: Instance, device: Device | None) -> None:
        modules.move(self, module, device)

    def member(self, module: Value, name: str) -> Value:
        if isinstance(module, Unknown):
            return module
        if not isinstance(module, Namespace):
            return self.attribute(module, name)
        full = f"{module.name}.{name}"
        if full in self.absent:
            raise AttributeError(f"module '{module.name}' has no attribute '{name}'")
        if name in module.names:
            return module.names[name]
        if module.name == NN and name in texts.of_nn():
            self._of_nanolint(NN, texts.of_nn()[name], module.names)
            return module.names[name]
        if (
            full in (NN, OPTIM)
            or full in self._sources
            or full in self._libraries
            or any(each.startswith(f"{full}.") for each in self._sources)
        ):
            return self.load(full)
        if module.path:
            error = ImportError(f"cannot import name '{name}' from '{module.name}'")
            raise error if _may_bind(self._sources.get(module.name), name) else certain(error)
        if signatures.misspelt(module.name, name):
            raise certain(AttributeError(f"module '{module.name}' has no attribute '{name}'"))
        return self.unknown(f"{full} is not known")

    def absolute(self, name: str, level: int, module: Namespace) -> str:
        if not level:
            return name
        parts = module.name.split(".")
        source = self._sources.get(module.name)
        is_package = source is not None and source.path.endswith("__init__.py")
        drop = level - 1 if is_package else level
        base = parts[: len(parts) - drop] if drop else parts
        return ".".join((*base, name) if name else base)

    def is_foreign(self, name: str) -> bool:
        return (
            bool(name)
            and name not in self._sources
            and not is_pythons(name)
            and isinstance(self._libraries.get(name) or self._known_parent(name), type(None))
        )

    def _known_parent(self, name: str) -> Value:
        return next(
            (True for each in (*self._sources, *self._libraries) if each.startswith(f"{name}.")),
            None,
        )


BY_OTHERS = ("import *", "__getattr__", "globals", "setattr", "exec")  # what may bind any name


def _may_bind(source: SourceText | None, name: str) -> bool:
    """Whether a module of the project may have a name after all; a package has modules."""
    if source is None or source.path.endswith("__init__.py"):
        return True
    return any(each in source.text for each in (name, *BY_OTHERS))


NN, OPTIM, EINOPS_LAYERS = "torch.nn", "torch.optim", "einops.layers.torch"
LETS_GO_SINCE = (2, 12)  # ``del q, k, v`` in F.multi_head_attention_forward


def is_pythons(name: str) -> bool:
    """Whether a module is one of the standard library."""
    return name.partition(".")[0] in sys.stdlib_module_names


def written(machine: Machine, text: Path, module: Namespace) -> Namespace:
    """A module with what a text of nanolint's own binds, in the language that is read."""
    tree = python_tree(text.read_text(encoding="utf-8"))
    machine.execute(tree.body, Frame(module, module.names, kind=Kind.MODULE))
    return module


def parsed(text: str) -> ast.Module | None:
    """Returns the tree of a text; None if it is not Python."""
    try:
        return python_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
