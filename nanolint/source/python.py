"""Python's own tree of a text: the only place that makes one."""

from __future__ import annotations

import ast
import warnings
from contextlib import contextmanager
from functools import lru_cache, wraps
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Node = TypeVar("Node", bound=ast.AST)
Answer = TypeVar("Answer")

# One thread at a time. Before 3.11.8, CPython counts the depth of two trees in one place, and
# raises SystemError (https://github.com/python/cpython/issues/106905); and what is done about
# warnings counts for all threads.
_one_at_a_time = RLock()


@contextmanager
def _alone() -> Iterator[None]:
    """No other thread makes a tree, and invalid escapes are the author's business."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@lru_cache(maxsize=16)  # a script, what it imports, and our own texts beside them
def python_tree(text: str) -> ast.Module:
    """``new_tree``, for nobody to change."""
    return new_tree(text)


def new_tree(text: str) -> ast.Module:
    """The tree of ``text``. Raises what ``ast.parse`` raises."""
    with _alone():
        return ast.parse(text)


def expression_tree(text: str) -> ast.expr:
    """The tree of a text that is one expression. Raises what ``ast.parse`` raises."""
    with _alone():
        return ast.parse(text, mode="eval").body


def compile_only(text: str, name: str) -> None:
    """Make nothing of a program, the file ``name``. Raises what ``compile`` raises."""
    with _alone():
        compile(text, name, "exec", dont_inherit=True)


def literal(text: str) -> Any:
    """The value that a literal has, as ``ast.literal_eval`` has it, which raises the same."""
    return ast.literal_eval(expression_tree(text.lstrip(" \t")))


def of_node(function: Callable[[Node], Answer]) -> Callable[[Node], Answer]:
    """What ``function`` finds in a node that nobody changes, once: it is kept with the node, and
    goes with its tree, which is large."""
    name = f"_{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def found(node: Node) -> Answer:
        known = node.__dict__
        if name not in known:
            known[name] = function(node)
        answer: Answer = known[name]
        return answer

    return found


@of_node
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """``walked``, once for a tree that nobody changes; a dozen questions look for some."""
    return tuple(walked(tree))


def walked(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a tree, outermost first, but for the contexts of names.

    As ``ast.walk`` has them, in half the time.
    """
    found = [tree]
    for node in found:  # which grows
        found += inside(node)
    return found


def inside(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, as ``ast.iter_child_nodes`` has them, without such contexts."""
    found: list[ast.AST] = []
    if isinstance(node, (ast.Name, ast.Constant)):  # as half of them are
        return found
    for field in node._fields:
        if field == "ctx":
            continue
        value = getattr(node, field, None)
        if isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def statements(tree: ast.Module) -> list[ast.AST]:
    """All statements of a module, and what has some in it, without a look at expressions."""
    found: list[ast.AST] = [tree]
    for each in found:  # which grows
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            found += getattr(each, name, ())
    return found[1:]
