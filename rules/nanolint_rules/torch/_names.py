"""Which of torch's names an expression means, through imports and aliases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeVar

from nanolint_rules.torch._plain import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    import libcst as cst
    from libcst.metadata import BaseAssignment, ImportAssignment, Scope

    from nanolint.rule import Context
else:
    from nanolint_rules.torch import _cst as cst

_Node = TypeVar("_Node", bound="cst.CSTNode")


@dataclass(frozen=True)
class Reference:
    """A name of torch's, wherever it stands. ``binding`` is the import that its start is from."""

    node: cst.BaseExpression
    qualified: str  # "torch.cuda.amp.GradScaler"
    first_name: str
    scope: Scope
    binding: ImportAssignment

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
        parents: dict[cst.CSTNode, cst.CSTNode] = {}
        waiting: list[cst.CSTNode] = [self._tree]
        while waiting:
            node = waiting.pop()
            children = node.children
            parents.update(dict.fromkeys(children, node))
            waiting += children
        return parents

    @cached_property
    def _calls(self) -> list[cst.Call]:
        return found_in(self._tree, cst.Call)

    @cached_property
    def _aliases(self) -> frozenset[str]:
        """The names that stand for another one: ``import torch as t``."""
        names = (each.asname.name for each in found_in(self._tree, cst.ImportAlias) if each.asname)
        return frozenset(name.value for name in names if isinstance(name, cst.Name))

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
        spellings = self._spellings(wanted)
        for call in self._calls:
            if last_name(call.func) in spellings:
                found = self._resolve(call.func)
                if found is not None and found.qualified in wanted:
                    yield Use(**vars(found), call=call)

    def references(self, wanted: Collection[str]) -> Iterator[Reference]:
        """Where names in ``wanted`` (full ones) stand, calls included, in the order of the text."""
        if not self._mentions(wanted):
            return
        spellings = self._spellings(wanted)
        for node in found_in(self._tree, cst.Name):
            if node.value not in spellings:
                continue
            parent = self._parents[node]
            whole = parent if isinstance(parent, cst.Attribute) and parent.attr is node else node
            if whole is node and node not in self._used:
                continue  # a parameter, a keyword, or part of an import
            found = self._resolve(whole)
            if found is not None and found.qualified in wanted:
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
        spellings = self._spellings({function})
        calls = (call.func for call in found_in(node, cst.Call))
        resolved = (self._resolve(each) for each in calls if last_name(each) in spellings)
        return any(found is not None and found.qualified == function for found in resolved)

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

    def name_of(self, module: str, scope: Scope) -> str | None:
        """The name that means ``module`` in ``scope``, None when it is not imported there."""
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

    def _mentions(self, wanted: Collection[str]) -> bool:
        """Whether a name in ``wanted`` may stand in the text, whose last part no import hides."""
        mentioned = any(_last_part(name) in self._text for name in wanted)
        return mentioned and plain(self._text).may_mean(wanted)

    def _spellings(self, wanted: Collection[str]) -> frozenset[str]:
        """The names that a mention of something in ``wanted`` may end with."""
        return self._aliases.union(map(_last_part, wanted))

    def _bindings(self, node: cst.Name) -> Collection[BaseAssignment]:
        scope = self._scopes.get(node)
        return () if scope is None else scope[node.value]

    def _resolve(self, node: cst.BaseExpression) -> Reference | None:
        scope, first = self._scopes.get(node), _first_name(node)
        if scope is None or first is None:
            return None
        found = list(scope.get_qualified_names_for(node))
        if len(found) != 1 or found[0].source is not cst.metadata.QualifiedNameSource.IMPORT:
            return None  # defined here, or one of several
        (binding, *_) = (
            each for each in scope[first] if isinstance(each, cst.metadata.ImportAssignment)
        )
        return Reference(node, found[0].name, first, scope, binding)


@lru_cache(maxsize=4)
def names(context: Context) -> Names:
    """The names of a file, resolved once for all rules; read by libcst once a rule needs that."""
    return Names(context.text, lambda: context.tree)


@lru_cache(maxsize=4)
def names_in(tree: cst.Module) -> Names:
    """The names of another file."""
    return Names(tree.code, lambda: tree)


def _first_name(function: cst.BaseExpression) -> str | None:
    while isinstance(function, cst.Attribute):
        function = function.value
    return function.value if isinstance(function, cst.Name) else None


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
    return iter(_walked(node)) if isinstance(node, cst.Module) else _walk(node)


def _walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += reversed(each.children)


@lru_cache(maxsize=2)
def _walked(tree: cst.Module) -> tuple[cst.CSTNode, ...]:
    """All of a file, for which every rule asks: walking it takes as long as reading it."""
    return tuple(_walk(tree))
