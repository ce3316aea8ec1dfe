"""What an expression or a name of a script can stand for before the run. Nothing is ever run."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import posixpath
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from nanolint.frozen import dataclass
from nanolint.source.bounds import Unevaluable
from nanolint.source.from_ast import OPERATORS
from nanolint.source.operations import BUILTINS, binary, compare, unary
from nanolint.source.scope import Scope, guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.run.trust import Doubt
    from nanolint.source.values import Plain


@dataclass(frozen=True, slots=True)
class Just:
    """A plain value. ``key`` names the setting whose value it is, unchanged."""

    value: Plain
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Mystery:
    """Only a run would tell; ``line`` (from 1) is where the reason stands, 0 for a setting."""

    reason: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Named:
    """A module, a class or a function, by its full name: ``torch.compile``, ``model.GPT``."""

    name: str


@dataclass(frozen=True, slots=True)
class Row:
    """A tuple or a list."""

    items: tuple[Thing, ...]


@dataclasses.dataclass(slots=True)
class Table:
    """A dictionary, or the attributes of an object. ``rest`` says why it may hold more."""

    entries: dict[object, Thing] = field(default_factory=dict)
    rest: Mystery | None = None

    def get(self, key: object) -> Thing | None:
        """The entry, or why it may be anything; None: there is none."""
        return self.entries.get(key, self.rest)


@dataclass(frozen=True, slots=True)
class Built:
    """What a call of a class or of an unknown function gave: ``GPT(gptconf)``."""

    callee: str
    arguments: tuple[Thing, ...]
    fields: Table
    line: int


Thing: TypeAlias = "Just | Mystery | Named | Row | Table | Built"


def merged(one: Thing | None, other: Thing | None, doubt: Callable[[], Mystery]) -> Thing:
    """What a name stands for below an ``if`` of which only a run tells which branch is taken."""
    if one is not None and one == other:
        return one
    if isinstance(one, Table) and isinstance(other, Table):
        return _merged_tables(one, other, doubt)
    if isinstance(one, Built) and isinstance(other, Built) and _are_alike(one, other):
        pairs = zip(one.arguments, other.arguments, strict=True)
        arguments = tuple(merged(left, right, doubt) for left, right in pairs)
        fields = _merged_tables(one.fields, other.fields, doubt)
        return Built(one.callee, arguments, fields, one.line)
    return doubt()


def _are_alike(one: Built, other: Built) -> bool:
    return one.callee == other.callee and len(one.arguments) == len(other.arguments)


def _merged_tables(one: Table, other: Table, doubt: Callable[[], Mystery]) -> Table:
    keys = {**one.entries, **other.entries}
    entries = {key: merged(one.get(key), other.get(key), doubt) for key in keys}
    return Table(entries, one.rest or other.rest)


# What they are given, they give back with more around it, which holds no size.
WRAPPERS = frozenset(
    {
        *("torch.compile", "DDP", "DistributedDataParallel", "torch.jit.script"),
        *("torch.nn.parallel.DistributedDataParallel", "torch.nn.DataParallel", "deepcopy"),
    }
)
# Methods that give back the object that they are called on.
FLUENT = frozenset({"to", "cuda", "train", "eval", "bfloat16", "half", "float"})
_STRING_METHODS = frozenset({"startswith", "endswith", "lower", "upper", "strip"})
WORLD_VARIABLES = ("RANK", "LOCAL_RANK", "WORLD_SIZE")  # which a launcher of processes sets
_PICKLED = ("pickle.load", "pickle.loads")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a script finds around it when it is run.

    ``exists`` says whether there is a file at a path, and ``vocabulary`` what the pickle at one
    says of its ``vocab_size``; paths are as the script has them. ``doubts`` gathers what those two
    had to assume.
    """

    world_size: int
    has_bfloat16: bool
    exists: Callable[[str], Just | Mystery]
    vocabulary: Callable[[str], Just | Mystery]
    doubts: list[Doubt] = field(default_factory=list)

    def variable(self, name: str) -> str | None:
        """What the environment of the first of several processes holds; of one alone, nothing."""
        if self.world_size == 1:
            return None
        return {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": str(self.world_size)}.get(name)


def call(
    name: str, arguments: Sequence[Thing], fields: Table, line: int, at: Surroundings
) -> Thing:
    """What calling the function or class ``name`` gives."""
    first = arguments[0] if arguments else None
    last = name.rpartition(".")[2]
    if name in WRAPPERS or last in WRAPPERS:
        return first or Mystery(f"calls {name}", line)
    if last == "dict" and not arguments:
        return fields
    if name == "dict" and isinstance(first, Table):
        return Table({**first.entries, **fields.entries}, first.rest or fields.rest)
    if name in _PICKLED and isinstance(first, Built):
        return Built("pickle", first.arguments, Table(), line)
    if name == "open" and isinstance(first, Just):
        return Built("open", (first,), Table(), line)
    if name == "torch.cuda.is_available":
        return Just(value=True)
    if name == "torch.cuda.is_bf16_supported":
        return Just(at.has_bfloat16)
    if name in ("os.getenv", "os.environ.get"):
        return _variable(arguments, line, at)
    if name in ("torch.distributed.get_world_size", "dist.get_world_size"):
        return Just(at.world_size)
    plain = [each.value for each in arguments if isinstance(each, Just)]
    if len(plain) == len(arguments) and not fields.entries and fields.rest is None:
        if name == "os.path.join" and plain and all(isinstance(part, str) for part in plain):
            return Just(posixpath.join(*plain))  # type: ignore[arg-type]
        if name in ("os.path.exists", "os.path.isfile") and isinstance(plain[0], str):
            return at.exists(plain[0])
        if name in BUILTINS:
            return operation(BUILTINS[name], plain, line)
    if name in BUILTINS or name.startswith("os.path."):
        for argument in arguments:
            if isinstance(argument, Mystery):
                return argument
        return Mystery(f"calls {name} at run time", line)
    return Built(name, tuple(arguments), fields, line)


def _variable(arguments: Sequence[Thing], line: int, at: Surroundings) -> Thing:
    first = arguments[0] if arguments else None
    if not isinstance(first, Just) or not isinstance(first.value, str):
        return Mystery("reads the environment at run time", line)
    value = at.variable(first.value)
    if value is not None:
        return Just(value)
    if first.value in WORLD_VARIABLES:
        return arguments[1] if len(arguments) > 1 else Just(None)
    return Mystery(f"reads {first.value} of the environment", line)


def method(owner: Thing, name: str, arguments: Sequence[Thing], fields: Table, line: int) -> Thing:
    """What calling the method ``name`` of ``owner`` gives; a table may be changed by it."""
    if isinstance(owner, Just) and isinstance(owner.value, str) and name in _STRING_METHODS:
        plain = [each.value for each in arguments if isinstance(each, Just)]
        if len(plain) == len(arguments):
            return operation(getattr(owner.value, name), plain, line)
    if isinstance(owner, Table):
        return _table_method(owner, name, arguments, fields, line)
    if isinstance(owner, Built):
        if name in FLUENT:
            return owner
        return Mystery(f"calls {owner.callee}(...).{name}", line)
    return owner if isinstance(owner, Mystery) else Mystery(f"calls {name}", line)


def _table_method(
    owner: Table, name: str, arguments: Sequence[Thing], fields: Table, line: int
) -> Thing:
    first = arguments[0] if arguments else None
    if name == "get" and isinstance(first, Just) and isinstance(first.value, str):
        return owner.get(first.value) or (arguments[1] if len(arguments) > 1 else Just(None))
    if name == "copy":
        return Table(dict(owner.entries), owner.rest)
    if name == "update":
        owner.entries.update(fields.entries)
        if isinstance(first, Table):
            owner.entries.update(first.entries)
            owner.rest = owner.rest or first.rest
        elif first is not None:
            owner.rest = Mystery("a dictionary is filled at run time", line)
            owner.entries.clear()
    elif name in ("pop", "setdefault", "clear", "popitem"):
        owner.rest = Mystery("a dictionary is changed at run time", line)
        owner.entries.clear()
    return Mystery(f"calls {name} of a dictionary", line)


def operation(function: Callable[..., object], operands: Sequence[object], line: int) -> Thing:
    """The plain result of a function on plain values, or what it would raise."""
    try:
        return Just(guarded(Scope({}), function, *operands))
    except Unevaluable as error:
        return Mystery(error.reason, line)


def known_field(owner: Built, name: str, line: int) -> Thing:
    """The attribute ``name`` of an object: one that it was given, or one of its first argument."""
    found = owner.fields.get(name)
    if found is not None:
        return found
    first = owner.arguments[0] if owner.arguments else None
    if name == "config" and isinstance(first, (Built, Table)):
        return first
    if name == "module":  # of DistributedDataParallel
        return owner
    return Mystery(f"reads {name} of the result of {owner.callee}", line)


_GLOBALS = ("globals", "locals", "vars")


class Evaluator:
    """Evaluates expressions over ``names``, which is the follower's own and changes."""

    def __init__(self, names: dict[str, Thing], surroundings: Surroundings) -> None:
        self.names = names
        self._surroundings = surroundings

    def value(self, node: ast.expr) -> Thing:
        """What ``node`` stands for."""
        handler = _HANDLERS.get(type(node))
        if handler is None:
            return Mystery(f"{_noun(node)} at run time", node.lineno)
        return handler(self, node)

    def values(self, nodes: list[ast.expr]) -> tuple[Thing, ...]:
        """What each of ``nodes`` stands for."""
        return tuple(self.value(node) for node in nodes)

    def _constant(self, node: ast.Constant) -> Thing:
        if isinstance(node.value, (int, float, str)) or node.value is None:
            return Just(node.value)
        return Mystery("a constant that no setting has", node.lineno)

    def _name(self, node: ast.Name) -> Thing:
        found = self.names.get(node.id)
        if found is not None:
            return found
        if hasattr(builtins, node.id):
            return Named(node.id)
        return Mystery(f"{node.id} is set nowhere above", node.lineno)

    def _attribute(self, node: ast.Attribute) -> Thing:
        owner = self.value(node.value)
        if isinstance(owner, Named):
            return Named(f"{owner.name}.{node.attr}")
        if isinstance(owner, Built):
            return known_field(owner, node.attr, node.lineno)
        if isinstance(owner, Mystery):
            return owner
        return Mystery(f"reads {node.attr}", node.lineno)

    def _subscript(self, node: ast.Subscript) -> Thing:
        owner, index = self.value(node.value), self.value(node.slice)
        if isinstance(owner, Mystery):
            return owner
        if isinstance(owner, Named) and owner.name == "os.environ" and isinstance(index, Just):
            given: list[Thing] = [
                index,
                Mystery(f"reads {index.value} of the environment", node.lineno),
            ]
            return call("os.environ.get", given, Table(), node.lineno, self._surroundings)
        if isinstance(owner, Table) and isinstance(index, Just):
            key = index.value
            found = owner.get(key) if isinstance(key, (int, float, str)) or key is None else None
            return found or Mystery(f"an entry {key!r} that is nowhere set", node.lineno)
        if isinstance(owner, Row) and isinstance(index, Just):
            at = index.value
            if isinstance(at, int) and -len(owner.items) <= at < len(owner.items):
                return owner.items[at]
        if isinstance(owner, Built) and owner.callee == "pickle":
            return self._unpickled(owner, index, node.lineno)
        return Mystery("an item that only the run knows", node.lineno)

    def _unpickled(self, owner: Built, index: Thing, line: int) -> Thing:
        path = owner.arguments[0] if owner.arguments else None
        if index == Just("vocab_size") and isinstance(path, Just) and isinstance(path.value, str):
            return self._surroundings.vocabulary(path.value)
        return Mystery("an entry of a pickle", line)

    def _binary(self, node: ast.BinOp) -> Thing:
        left, right = self.value(node.left), self.value(node.right)
        symbol = OPERATORS.get(type(node.op))
        for operand in (left, right):
            if isinstance(operand, Mystery):
                return operand
        if symbol is None or not isinstance(left, Just) or not isinstance(right, Just):
            return Mystery("an operation at run time", node.lineno)
        return operation(lambda a, b: binary(symbol, a, b), (left.value, right.value), node.lineno)

    def _unary(self, node: ast.UnaryOp) -> Thing:
        operand = self.value(node.operand)
        symbol = OPERATORS.get(type(node.op))
        if isinstance(operand, Mystery):
            return operand
        if symbol is None or not isinstance(operand, Just):
            return Mystery("an operation at run time", node.lineno)
        return operation(lambda a: unary(symbol, a), (operand.value,), node.lineno)

    def _boolean(self, node: ast.BoolOp) -> Thing:
        found: Thing = Just(None)
        for operand in node.values:
            found = self.value(operand)
            if not isinstance(found, Just):
                return found if isinstance(found, Mystery) else _untested(node)
            if bool(found.value) is isinstance(node.op, ast.Or):
                return found
        return found

    def _comparison(self, node: ast.Compare) -> Thing:
        left = self.value(node.left)
        for operator, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator)
            for operand in (left, right):
                if isinstance(operand, Mystery):
                    return operand
            if not isinstance(left, Just):
                if isinstance(operator, (ast.Is, ast.IsNot)) and right == Just(None):
                    return Just(isinstance(operator, ast.IsNot))  # an object is not None
                return _untested(node)
            found = self._compared(operator, left, right, node)
            if not isinstance(found, Just) or not found.value:
                return found
            left = right
        return Just(value=True)

    def _compared(self, operator: ast.cmpop, left: Just, right: Thing, node: ast.Compare) -> Thing:
        if isinstance(operator, (ast.In, ast.NotIn)):
            if right == Named("os.environ") and left.value in WORLD_VARIABLES:
                holds = self._surroundings.variable(str(left.value)) is not None
                return Just(holds is isinstance(operator, ast.In))
            if isinstance(right, Table) and right.rest is None:
                holds = left.value in right.entries if _is_key(left.value) else False
                return Just(holds is isinstance(operator, ast.In))
            if isinstance(right, Row) and all(isinstance(item, Just) for item in right.items):
                holds = any(item == Just(left.value) for item in map(_keyless, right.items))
                return Just(holds is isinstance(operator, ast.In))
            if not isinstance(right, Just) or not isinstance(right.value, str):
                return _untested(node)
        symbol = OPERATORS.get(type(operator), "in" if isinstance(operator, ast.In) else "not in")
        if not isinstance(right, Just):
            return _untested(node)
        return operation(lambda a, b: compare(symbol, a, b), (left.value, right.value), node.lineno)

    def _conditional(self, node: ast.IfExp) -> Thing:
        test = self.value(node.test)
        if isinstance(test, Just):
            return self.value(node.body if test.value else node.orelse)
        unknown = test if isinstance(test, Mystery) else _untested(node)
        one, other = self.value(node.body), self.value(node.orelse)
        return merged(one, other, lambda: unknown)

    def _row(self, node: ast.Tuple | ast.List) -> Thing:
        return Row(self.values(node.elts))

    def _dict(self, node: ast.Dict) -> Thing:
        table = Table()
        for key, value in zip(node.keys, node.values, strict=True):
            found = self.value(value)
            name = None if key is None else self.value(key)
            if key is None and isinstance(found, Table):
                table.entries.update(found.entries)
                table.rest = table.rest or found.rest
            elif isinstance(name, Just) and _is_key(name.value):
                table.entries[name.value] = found
            else:
                table.rest = Mystery("a dictionary is filled at run time", node.lineno)
        return table

    def _f_string(self, node: ast.JoinedStr) -> Thing:
        parts = []
        for part in node.values:
            found = self.value(part.value if isinstance(part, ast.FormattedValue) else part)
            plain = not isinstance(part, ast.FormattedValue) or (
                part.format_spec is None and part.conversion == -1
            )
            if not isinstance(found, Just) or not plain:
                return found if isinstance(found, Mystery) else Mystery("a text", node.lineno)
            parts.append(str(found.value))
        return Just("".join(parts))

    def _call(self, node: ast.Call) -> Thing:
        arguments = self.values([each for each in node.args if not isinstance(each, ast.Starred)])
        fields = Table()
        for keyword in node.keywords:
            found = self.value(keyword.value)
            if keyword.arg is not None:
                fields.entries[keyword.arg] = found
            elif isinstance(found, Table):
                fields.entries.update(found.entries)
                fields.rest = fields.rest or found.rest
            else:
                reason = found.reason if isinstance(found, Mystery) else "arguments at run time"
                fields.rest = Mystery(reason, node.lineno)
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value)
            if not isinstance(owner, Named):
                return method(owner, node.func.attr, arguments, fields, node.lineno)
        function = self.value(node.func)
        if not isinstance(function, Named):
            reason = function.reason if isinstance(function, Mystery) else "a call"
            return Mystery(reason, node.lineno)
        if function.name in _GLOBALS:
            return Table({}, Mystery("names set by their text", node.lineno))
        if function.name == "getattr" and len(arguments) >= 2:
            owner, name = arguments[0], arguments[1]
            if isinstance(owner, Built) and isinstance(name, Just) and isinstance(name.value, str):
                return known_field(owner, name.value, node.lineno)
        return call(function.name, arguments, fields, node.lineno, self._surroundings)


def _untested(node: ast.expr) -> Mystery:
    return Mystery("a condition at run time", node.lineno)


def _is_key(value: object) -> bool:
    return isinstance(value, (int, float, str)) or value is None


def _keyless(thing: Thing) -> Thing:
    return Just(thing.value) if isinstance(thing, Just) else thing


def _noun(node: ast.expr) -> str:
    return {"ListComp": "a comprehension", "DictComp": "a comprehension", "Lambda": "a lambda"}.get(
        type(node).__name__, "an expression"
    )


_HANDLERS: dict[type[ast.expr], Callable[..., Thing]] = {
    ast.Attribute: Evaluator._attribute,
    ast.BinOp: Evaluator._binary,
    ast.BoolOp: Evaluator._boolean,
    ast.Call: Evaluator._call,
    ast.Compare: Evaluator._comparison,
    ast.Constant: Evaluator._constant,
    ast.Dict: Evaluator._dict,
    ast.IfExp: Evaluator._conditional,
    ast.JoinedStr: Evaluator._f_string,
    ast.List: Evaluator._row,
    ast.Name: Evaluator._name,
    ast.Subscript: Evaluator._subscript,
    ast.Tuple: Evaluator._row,
    ast.UnaryOp: Evaluator._unary,
}
