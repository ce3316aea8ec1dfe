"""Which of torch's names an expression means, through imports and aliases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from nanolint_rules.torch._plain import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import libcst as cst
    from libcst.metadata import BaseAssignment, ImportAssignment, Scope

    from nanolint.rule import Context
    from nanolint_rules.torch._plain import Plain
else:
    from nanolint_rules.torch import _cst as cst

_Node = TypeVar("_Node", bound="cst.CSTNode")


@dataclass(frozen=True)
class Reference:
    """A name of torch's, wherever it stands."""

    node: cst.BaseExpression
    qualified: str  # "torch.cuda.amp.GradScaler"
    first_name: str
    names: Names

    @property
    def binding(self) -> ImportAssignment:
        """The import that its start is from."""
        scope = self.names.scope(self.node)
        imports = (
            e for e in scope[self.first_name] if isinstance(e, cst.metadata.ImportAssignment)
        )
        return next(imports)

    @property
    def statement(self) -> cst.Import | cst.ImportFrom:
        """The import."""
        node = self.binding.node
        assert isinstance(node, (cst.Import, cst.ImportFrom))
        return node

    @property
    def imported(self) -> str:
        """What the first name means: ``torch``, a module below it, or the function itself."""
        (found,) = self.binding.get_qualified_names_for(self.first_name)
        return found.name


@dataclass(frozen=True)
class Use(Reference):
    """A call of one of torch's functions; ``node`` is the function."""

    call: cst.Call

    def given(self, parameter: str) -> bool:
        """Whether the call may pass ``parameter`` by name."""
        return any(
            argument.star == "**" or (argument.keyword and argument.keyword.value == parameter)
            for argument in self.call.args
        )


class Names:
    """The expressions of one file, resolved to what they mean once a question needs it."""

    def __init__(self, text: str, tree: Callable[[], cst.Module]) -> None:
        self._text = text
        self._parse = tree
        self._held: dict[tuple[int, str], bool] = {}

    @cached_property
    def _tree(self) -> cst.Module:
        return self._parse()

    @cached_property
    def _scopes(self) -> Mapping[cst.CSTNode, Scope | None]:
        wrapper = cst.metadata.MetadataWrapper(self._tree, unsafe_skip_copy=True)
        return wrapper.resolve(cst.metadata.ScopeProvider)

    @cached_property
    def _parents(self) -> Mapping[cst.CSTNode, cst.CSTNode]:
        return _walked(self._tree).parents

    @cached_property
    def _calls(self) -> list[cst.Call]:
        return found_in(self._tree, cst.Call)

    @cached_property
    def _used(self) -> frozenset[cst.CSTNode]:
        """The names that read a variable."""
        scopes = {id(scope): scope for scope in self._scopes.values() if scope is not None}
        bindings = (each for scope in scopes.values() for each in scope.assignments)
        return frozenset(use.node for each in bindings for use in each.references)

    def uses(self, wanted: Collection[str]) -> Iterator[Use]:
        """The calls of functions in ``wanted`` (full names), in the order of the text."""
        if not self._mentions(wanted):
            return
        for call in self._calls:
            found = self._resolve(call.func, wanted)
            if found is not None:
                yield Use(**vars(found), call=call)

    def references(self, wanted: Collection[str]) -> Iterator[Reference]:
        """Where names in ``wanted`` (full ones) stand, calls included, in the order of the text."""
        if not self._mentions(wanted):
            return
        for node in found_in(self._tree, cst.Name):
            parent = self._parents[node]
            whole = parent if isinstance(parent, cst.Attribute) and parent.attr is node else node
            found = self._resolve(whole, wanted)
            if found is None or (whole is node and node not in self._used):
                continue  # a parameter, a keyword, or part of an import
            yield found

    def is_fallback(self, reference: Reference, modern: str) -> bool:
        """Whether it serves older PyTorch only: ``modern`` is tried in the same branching."""
        return any(
            self.holds_call(node, modern)
            for node in self.ancestors(reference.node)
            if isinstance(node, (cst.If, cst.IfExp, cst.Try))
        )

    def holds_call(self, node: cst.CSTNode, function: str) -> bool:
        """Whether ``function`` is called inside ``node``."""
        key = id(node), function
        if key not in self._held:
            self._held[key] = self._holds_call(node, function)
        return self._held[key]

    def _holds_call(self, node: cst.CSTNode, function: str) -> bool:
        calls = (call.func for call in found_in(node, cst.Call))
        return any(self._resolve(each, {function}) is not None for each in calls)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What ``node`` stands in, innermost first."""
        while node in self._parents:
            node = self._parents[node]
            yield node

    def is_read(self, variable: cst.Name) -> bool:
        """Whether the variable that ``variable`` gives a value to is used or deleted anywhere."""
        return any(each.references for each in self._bindings(variable))

    def gets_values_at(self, variable: cst.Name) -> Iterator[cst.CSTNode]:
        """Where the variable that ``variable`` gives a value to gets one."""
        return (
            each.node
            for each in self._bindings(variable)
            if isinstance(each, cst.metadata.Assignment)
        )

    def name_of(self, module: str, node: cst.CSTNode) -> str | None:
        """The name that means ``module`` at ``node``, None when it is not imported there."""
        for name in self._plain.imported:
            if self._plain.surely(name, ()) == module:
                return name
        scope = self.scope(node)
        for assignment in scope.globals.assignments:
            name = assignment.name.partition(".")[0]
            found = scope.get_qualified_names_for(name)
            if isinstance(assignment, cst.metadata.ImportAssignment) and {
                f.name for f in found
            } == {module}:
                return name
        return None

    def siblings(self, statement: cst.CSTNode) -> int:
        """How many statements stand in the block of a small statement, itself included."""
        line = self._parents[statement]
        block = self._parents.get(line)
        body = block.body if isinstance(block, (cst.Module, cst.IndentedBlock)) else ()
        return len(body) * len(getattr(line, "body", ()))

    def scope(self, node: cst.CSTNode) -> Scope:
        """The scope of a name that was found."""
        scope = self._scopes[node]
        assert scope is not None
        return scope

    @cached_property
    def _plain(self) -> Plain:
        return plain(self._text)

    def _mentions(self, wanted: Collection[str]) -> bool:
        """Whether a name in ``wanted`` may stand in the text, whose last part no import hides."""
        mentioned = any(_last_part(name) in self._text for name in wanted)
        return mentioned and self._plain.may_mean(wanted)

    def _bindings(self, node: cst.Name) -> Collection[BaseAssignment]:
        scope = self._scopes.get(node)
        return () if scope is None else scope[node.value]

    def _resolve(self, node: cst.BaseExpression, wanted: Collection[str]) -> Reference | None:
        """What ``node`` is where that is in ``wanted``; scopes are looked at where they matter."""
        first, *rest = _parts(node) or [""]
        possible = self._plain.possible(first, rest)
        if self._plain.tree is not None and not any(each in wanted for each in possible):
            return None
        qualified = self._plain.surely(first, rest) or self._in_scope(node)
        if qualified is None or qualified not in wanted:
            return None
        return Reference(node, qualified, first, self)

    def _in_scope(self, node: cst.BaseExpression) -> str | None:
        """What ``node`` is by the imports of its own scope."""
        scope = self._scopes.get(node)
        found = list(scope.get_qualified_names_for(node)) if scope is not None else []
        if len(found) != 1 or found[0].source is not cst.metadata.QualifiedNameSource.IMPORT:
            return None  # defined here, or one of several
        return found[0].name


@lru_cache(maxsize=4)
def names(context: Context) -> Names:
    """The names of a file, resolved once for all rules; read by libcst once a rule needs that."""
    return Names(context.text, lambda: context.tree)


@lru_cache(maxsize=4)
def names_in(tree: cst.Module) -> Names:
    """The names of another file."""
    return Names(tree.code, lambda: tree)


def _parts(node: cst.BaseExpression) -> Sequence[str]:
    """``torch``, ``amp`` and ``autocast`` of ``torch.amp.autocast``; nothing of what is no name."""
    parts = list[str]()
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    return [node.value, *reversed(parts)] if isinstance(node, cst.Name) else ()


def last_name(function: cst.BaseExpression) -> str | None:
    """``amp`` of ``torch.amp``; None where it has none."""
    name = function.attr if isinstance(function, cst.Attribute) else function
    return name.value if isinstance(name, cst.Name) else None


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


def found_in(node: cst.CSTNode, kind: type[_Node]) -> list[_Node]:
    """The nodes of one kind in ``node``, in the order of the text."""
    return [each for each in all_in(node) if isinstance(each, kind)]


def all_in(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``node`` and all that it is made of, in the order of the text."""
    return iter(_walked(node).nodes) if isinstance(node, cst.Module) else _walk(node)


def _walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += reversed(each.children)


class _Walked(NamedTuple):
    nodes: list[cst.CSTNode]
    parents: dict[cst.CSTNode, cst.CSTNode]


@lru_cache(maxsize=2)
def _walked(tree: cst.Module) -> _Walked:
    """All of a file, for which every rule asks: walking it takes as long as reading it."""
    nodes, parents = list[cst.CSTNode](), dict[cst.CSTNode, cst.CSTNode]()
    waiting: list[cst.CSTNode] = [tree]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        children = node.children
        parents.update(dict.fromkeys(children, node))
        waiting += reversed(children)
    return _Walked(nodes, parents)
