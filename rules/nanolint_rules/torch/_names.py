"""Which of torch's functions a call means, through imports and aliases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst
from libcst.metadata import (
    ImportAssignment,
    MetadataWrapper,
    ParentNodeProvider,
    QualifiedNameSource,
    ScopeProvider,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from libcst.metadata import Scope


@dataclass(frozen=True)
class Use:
    """A call of one of torch's functions. ``binding`` is the import that its first name is from."""

    call: cst.Call
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


class Names:
    """The calls of one file, resolved to the functions that they mean."""

    def __init__(self, tree: cst.Module) -> None:
        wrapper = MetadataWrapper(tree, unsafe_skip_copy=True)
        self._scopes: Mapping[cst.CSTNode, Scope | None] = wrapper.resolve(ScopeProvider)
        self._parents: Mapping[cst.CSTNode, cst.CSTNode] = wrapper.resolve(ParentNodeProvider)
        self._calls = _calls_in(tree)

    def uses(self, wanted: Collection[str]) -> Iterator[Use]:
        """The calls of functions in ``wanted`` (full names), in the order of the text."""
        resolved = (self._resolve(call) for call in self._calls)
        return (use for use in resolved if use is not None and use.qualified in wanted)

    def is_fallback(self, use: Use, modern: str) -> bool:
        """Whether ``use`` serves older PyTorch only: ``modern`` is tried in the same branching."""
        node: cst.CSTNode = use.call
        while node in self._parents:
            node = self._parents[node]
            if isinstance(node, (cst.If, cst.IfExp, cst.Try)):
                beside = (self._resolve(call) for call in _calls_in(node))
                if any(other is not None and other.qualified == modern for other in beside):
                    return True
        return False

    def name_of(self, module: str, scope: Scope) -> str | None:
        """The name that means ``module`` in ``scope``, None when it is not imported there."""
        for assignment in scope.globals.assignments:
            name = assignment.name.partition(".")[0]
            found = scope.get_qualified_names_for(name)
            if isinstance(assignment, ImportAssignment) and {f.name for f in found} == {module}:
                return name
        return None

    def siblings(self, statement: cst.CSTNode) -> int:
        """How many statements stand in the block of a small statement, itself included."""
        line = self._parents[statement]
        block = self._parents.get(line)
        body = block.body if isinstance(block, (cst.Module, cst.IndentedBlock)) else ()
        return len(body) * len(getattr(line, "body", ()))

    def _resolve(self, call: cst.Call) -> Use | None:
        scope, first = self._scopes.get(call.func), _first_name(call.func)
        if scope is None or first is None:
            return None
        found = list(scope.get_qualified_names_for(call.func))
        if len(found) != 1 or found[0].source is not QualifiedNameSource.IMPORT:
            return None  # defined here, or one of several
        (binding, *_) = (each for each in scope[first] if isinstance(each, ImportAssignment))
        return Use(call, found[0].name, first, scope, binding)


@lru_cache(maxsize=4)
def names(tree: cst.Module) -> Names:
    """The names of a file, resolved once for all rules."""
    return Names(tree)


def _first_name(function: cst.BaseExpression) -> str | None:
    while isinstance(function, cst.Attribute):
        function = function.value
    return function.value if isinstance(function, cst.Name) else None


def _calls_in(node: cst.CSTNode) -> list[cst.Call]:
    collector = _Calls()
    node.visit(collector)
    return collector.found


class _Calls(cst.CSTVisitor):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[cst.Call] = []

    def visit_Call(self, node: cst.Call) -> None:  # noqa: N802
        self.found.append(node)
