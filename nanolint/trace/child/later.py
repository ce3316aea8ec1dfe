"""Finds branches of the loop that a trace has not reached: evaluations, samples, another state.

Conditions on what counts steps are evaluated ahead from the loop's source; nothing of it is run.

It is not ``nanolint/script/course.py``: here the user's Python runs the loop, so that a counter has
no formula, and all that is known of it is its value after each step.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import ctypes
import inspect
import linecache
import sys
import time
from collections.abc import Iterator, Sized
from itertools import chain
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import torch

from . import history

FIRST = 3  # steps before anything is decided: three values say how a name counts
LAST = 50  # the step that a trace goes to by itself
TIMES = 2  # that a branch is entered
SETTLING = 4  # steps more, for what is reserved
PATIENCE = 0.5  # of --timeout, for the steps after the first three
MOST_ALLOCATIONS = 400_000
FARTHEST = 100_000  # steps that are looked ahead
FAR_AWAY = [10**power for power in range(6, 13)]  # where a loop may be at its end
OPEN = "open"  # of a constant that stands for what is not known
CALLS_DEEP = 3  # functions of the loop that are looked into
FINE = 64  # a counter that moves by more in a step is looked at once a step
TEXT = 60  # characters of a line of source

# Calls that take no memory to speak of, by their last name. Others of torch do, and of the project
# if theirs do; what is of another package does not.
HARMLESS = frozenset(
    """
    all_reduce backward barrier cpu destroy_process_group detach dim eval exp get_lr get_rank item
    get_world_size is_available is_initialized load_state_dict manual_seed max_memory_allocated mean
    max_memory_reserved memory_allocated memory_reserved named_parameters norm numel save parameters
    reset_peak_memory_stats size state_dict step sum synchronize tolist train zero_grad
    add add_scalar close extend flush format get info items join keys log pop print set_postfix
    set_description split strip update values warning write
    """.split()  # noqa: SIM905
)
UNKNOWN = object()
PLAIN = (int, float, str, type(None))
SEVERAL, MOST_VALUES = (tuple, list, set, frozenset, range, dict), 1000
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
EVALUABLE = (
    ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.Constant, ast.Compare,
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Tuple, ast.List, ast.Set, ast.Name,
)  # fmt: skip


class Branch(NamedTuple):
    """Statements that may take memory, and the condition of that over ``atoms``: names that have
    numbers, as they are written."""

    of: CodeType  # the function whose loop it is in
    where: str  # its line, for people
    file: str
    lines: tuple[int, int]  # the first and the last
    is_open: bool  # a condition is not over names that have numbers
    after_step: bool  # it stands after the optimizer's step
    behind: bool  # it follows a loop, of which nobody knows when it ends
    code: CodeType
    atoms: tuple[str, ...]
    settable: frozenset[str]  # names that the function counts up, as ``step += 1``


class Called(NamedTuple):
    """A function that the loop calls: its conditions are over names of the loop."""

    function: Any
    owner: Any  # of a method
    given: dict[str, ast.expr]  # its parameters, in names of the loop
    at: int  # the line of the loop
    conditions: int  # that lead to the call
    deep: int  # functions that may be called from it


class Jump(NamedTuple):
    """Counters of a loop that are set forward, to just before a branch is entered."""

    of: CodeType
    values: dict[str, int]
    doubt: str  # if the script does not go on from there


class Later:
    """Says when a trace has gone far enough; ``doubts`` are about what it has not reached."""

    def __init__(self, seconds: float) -> None:
        self.doubts: list[str] = []
        self._until = time.monotonic() + seconds * PATIENCE
        self._branches: list[Branch] = []
        self._values: dict[tuple[CodeType, str], list[Any]] = {}  # by function and atom
        self._steps: list[tuple[float, int, int]] = []  # clock, allocations, reserved bytes
        self._target = FIRST
        self._jumps: list[Jump] = []
        self.jumped: list[Jump] = []

    def enough(self, step: int) -> bool:
        """After each optimizer step: whether the script may end here."""
        if step <= FIRST:
            self._look(first=step == 1)
        reserved = torch.cuda.max_memory_reserved()
        self._steps.append((time.monotonic(), history.allocations(), reserved))
        if step == FIRST:
            self._plan()
        if step < self._target:
            return False
        if len({reserved for _, _, reserved in self._steps[-3:]}) == 1:
            return not self._jump(step)
        if step < LAST + SETTLING and self._affords(step + 1):
            return False
        self.doubts.append(f"reserved memory still grows after {step} steps: use a larger --steps")
        return True

    @property
    def unsure(self) -> list[Branch]:
        """Branches that values on the card decide about, or what else is no counter."""
        return [each for each in self._branches if not each.behind and self._is_unsure(each)]

    def _is_unsure(self, branch: Branch) -> bool:
        values = [self._values.get((branch.of, atom), []) for atom in branch.atoms]
        moves = [_move(each) for each in values]
        if None in moves:
            return True
        now = {_variable(number): each[-1] for number, each in enumerate(values)}
        return branch.is_open and bool(_holds(branch.code, now) or self._ahead(branch))

    def saw(self, lines: set[tuple[str, int]]) -> None:
        """Doubt those of them that took nothing; ``lines`` are those that took memory."""
        for each in self.unsure:
            first, last = each.lines
            if not any((each.file, line) in lines for line in range(first, last + 1)):
                self.doubts.append(f"{each.where} took nothing here, where all on the card are 0")

    def _jump(self, step: int) -> bool:
        """Set the counters forward to the next branch that is far away; false if there is none."""
        while self._jumps:
            jump = self._jumps.pop(0)
            frame: FrameType | None = sys._getframe(1)
            while frame is not None and frame.f_code is not jump.of:
                frame = frame.f_back
            if frame is not None and self._affords(step + 2):
                _set(frame, jump.values)
                self.jumped.append(jump)
                self._target = step + 2
                return True
            self.doubts.append(jump.doubt)
        return False

    def _affords(self, step: int) -> bool:
        (start, first, _), (now, last, _) = self._steps[0], self._steps[-1]
        more = (step - len(self._steps)) / max(len(self._steps) - 1, 1)
        return (
            now + (now - start) * more < self._until
            and last + (last - first) * more < MOST_ALLOCATIONS
        )

    def _look(self, *, first: bool) -> None:
        """Note the values that the conditions of the loops around this step ask for."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if history.is_own(frame.f_code.co_filename):
                local = frame.f_locals
                names = {**frame.f_globals, **local}
                if first:
                    self._branches += _branches(frame.f_code, frame.f_lineno, names)
                for branch in self._branches:
                    if branch.of is frame.f_code:
                        for atom in branch.atoms:
                            values = self._values.setdefault((branch.of, atom), [])
                            values[len(self._steps) :] = [_plain(_value(atom, names))]
                if frame.f_code.co_flags & inspect.CO_OPTIMIZED and sys.version_info < (3, 13):
                    local.clear()  # a function's are a copy, which would hold tensors
                del local, names
            frame = frame.f_back

    def _plan(self) -> None:
        for branch in self._branches:
            where = branch.where
            targets = [FIRST + steps + branch.after_step for steps in self._ahead(branch)]
            near = [each for each in targets if each <= LAST + 2 and self._affords(each)]
            near += [FIRST] * (FIRST in targets)
            if branch.behind and targets:
                self.doubts.append(f"{where} follows the loop, and may come after the trace's end")
            elif targets and not near:
                doubt = f"{where} comes after the trace's end: --steps {targets[0]} includes it"
                moves = {atom: _move(self._values[branch.of, atom]) for atom in branch.atoms}
                counters = {atom: move for atom, move in moves.items() if move}
                if branch.settable.issuperset(counters):
                    last = {atom: self._values[branch.of, atom][-1] for atom in counters}
                    for target in targets:
                        ahead = target - branch.after_step - FIRST - 1
                        values = {
                            each: last[each] + move * ahead for each, move in counters.items()
                        }
                        self._jumps.append(Jump(branch.of, values, doubt))
                else:
                    self.doubts.append(doubt)
            self._target = max(self._target, *near, 0)
        self._jumps.sort(key=lambda jump: max(jump.values.values()))

    def _ahead(self, branch: Branch) -> list[int]:
        """How many steps later it is entered for the first and the second time after one step; none
        if never. What it keeps from the first time is there at the second."""
        values = [self._values.get((branch.of, atom), []) for atom in branch.atoms]
        moves = [_move(each) for each in values]
        most = max((abs(move) for move in moves if move), default=0)
        if None in moves or not most:
            return [0] * branch.behind
        found: list[int] = []
        fine = most if most <= FINE else 1  # a counter of micro-steps has values between
        for turn in chain(range(-fine, FARTHEST), FAR_AWAY):
            now = {
                _variable(number): each[-1] + move * turn // fine if move else each[-1]
                for number, (each, move) in enumerate(zip(values, moves))  # noqa: B905 (3.9)
            }
            if _holds(branch.code, now):
                found.append(max(0, -(-turn // fine)))
            if len(found) == TIMES:
                break
        return found


def _set(frame: FrameType, values: dict[str, int]) -> None:
    """Give names of a function that is under way, or of a module, other values."""
    local = frame.f_locals
    local.update(values)
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED and sys.version_info < (3, 13):
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
        local.clear()  # a copy, which would hold tensors


def _move(values: list[Any]) -> int | None:
    """By how much a step moves it; None if that is not known."""
    if len(values) < FIRST or UNKNOWN in values:
        return None
    first, second, third = values[-3:]
    if first == second == third:
        return 0
    if not all(type(each) is int for each in values) or third - second != second - first:
        return None
    return int(third - second)


def _holds(code: CodeType, values: dict[str, Any]) -> bool:
    try:
        return bool(eval(code, {"__builtins__": {}}, values))
    except Exception:
        return False


def _branches(code: CodeType, line: int, names: dict[str, Any]) -> Iterator[Branch]:
    """Those of a function that is at ``line``, in the loops around it and after them."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
        body = _function(tree, code, line)
        own = (*code.co_varnames, *code.co_cellvars)
        counted = (
            each for part in body for each in ast.walk(part) if isinstance(each, ast.AugAssign)
        )
        settable = frozenset(
            each.target.id
            for each in counted
            if isinstance(each.target, ast.Name)
            and (code.co_name == "<module>" or each.target.id in own)
        )
        yield from _Reader(code, line, names, settable).walk(body, [])


def _function(tree: ast.Module, code: CodeType, line: int) -> list[ast.stmt]:
    found = tree.body
    functions = (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))
    for node in functions:  # the outer ones first
        if node.name == code.co_name and _has(node, line):
            found = node.body
    return found


def _has(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


class _Reader:
    """Finds the branches of one function that is at ``line``, or of one that its loop calls."""

    def __init__(
        self,
        code: CodeType,
        line: int,
        names: dict[str, Any],
        settable: frozenset[str],
        called: Called | None = None,
    ) -> None:
        self._of, self._stands, self._names = code, line, names
        self._line = 0 if called else line  # no statement of a function that it calls is under way
        self._settable, self._called = settable, called
        function = called and called.function
        self._file = function.__code__.co_filename if function else code.co_filename
        self._own = _names_in(called.function, called.owner) if called else names

    def walk(
        self,
        body: list[ast.stmt],
        path: list[ast.expr],
        at: ast.stmt | None = None,
        *,
        inside: bool = False,
        behind: bool = False,
    ) -> Iterator[Branch]:
        """Of statements that ``path`` leads to, the conditions of the branch that begins ``at``;
        ``inside`` a loop that is under way, ``behind`` (after) one whose end nobody knows."""
        told = False
        for each in body:
            under_way = _has(each, self._line)
            if isinstance(each, ast.If):
                for wanted, part in ((True, each.body), (False, each.orelse)):
                    test = self._possible(self._named(each.test), wanted=wanted)
                    yield from self.walk(part, [*path, test], each, inside=inside, behind=behind)
            elif isinstance(each, (ast.For, ast.While)):
                lasting = self._lasting(each) if under_way else []
                around = inside or under_way
                yield from self.walk(each.body, [*path, *lasting], at, inside=around, behind=behind)
                if under_way:
                    told, inside, behind = False, True, behind or not lasting
                    over = ast.UnaryOp(ast.Not(), _all(lasting))
                    path = [*path, *([over] if lasting else ())]
            elif isinstance(each, (ast.With, ast.Try)):
                yield from self.walk(each.body, path, at, inside=inside, behind=behind)
            elif isinstance(each, (*FUNCTIONS, ast.ClassDef)):
                continue
            elif inside:
                if not under_way:
                    yield from self._within(each, path, behind=behind)
                wanted = not told and (path or behind) and self._decides(path)
                if wanted and _takes(each, self._own):
                    told = True
                    lines = each.lineno, body[-1].end_lineno or each.lineno
                    yield self._branch(at or each, lines, path, behind=behind)

    def _decides(self, path: list[ast.expr]) -> bool:
        """Whether a function decides by a name of the loop: else its call is what counts."""
        own = path[self._called.conditions :] if self._called else ()
        return self._called is None or not all(isinstance(each, ast.Constant) for each in own)

    def _within(
        self, statement: ast.stmt, path: list[ast.expr], *, behind: bool
    ) -> Iterator[Branch]:
        """The branches of the project's functions that a statement calls."""
        deep = self._called.deep if self._called else CALLS_DEEP
        at = self._called.at if self._called else statement.lineno
        for call in ast.walk(statement) if deep else ():
            if not isinstance(call, ast.Call):
                continue
            bound = _value(ast.unparse(call.func), self._own)
            function = inspect.unwrap(getattr(bound, "__func__", bound))
            if not (isinstance(function, FunctionType) and _is_own(function)):
                continue
            owner, body = getattr(bound, "__self__", None), _body(function)
            given = _given(call, function, owner)
            given = {name: self._named(each) for name, each in given.items()}
            called = Called(function, owner, given, at, len(path), deep - 1)
            reader = _Reader(self._of, self._stands, self._names, self._settable, called)
            yield from reader.walk(body or [], path, inside=True, behind=behind)

    def _named(self, test: ast.expr) -> ast.expr:
        """An expression of a function that the loop calls in names of the loop."""
        if self._called is None:
            return test
        named: ast.expr = _Named(self._called, self._names).visit(copy.deepcopy(test))
        return named

    def _branch(
        self, at: ast.stmt, lines: tuple[int, int], path: list[ast.expr], *, behind: bool
    ) -> Branch:
        atoms: dict[str, None] = {}
        condition = ast.Expression(_Atoms(atoms).visit(copy.deepcopy(_all(path))))
        code = compile(ast.fix_missing_locations(condition), "condition", "eval")
        text = linecache.getline(self._file, at.lineno).strip()[:TEXT]
        where = f"{Path(self._file).name}:{at.lineno} `{text}`"
        after = (self._called.at if self._called else at.lineno) > self._stands
        is_open = self._called is None and any(
            getattr(each, "kind", None) == OPEN for test in path for each in ast.walk(test)
        )
        place = self._of, where, self._file, lines
        return Branch(*place, is_open, after, behind, code, (*atoms,), self._settable)

    def _lasting(self, loop: ast.For | ast.While) -> list[ast.expr]:
        """Conditions under which a loop goes on, as far as they are known."""
        found = []
        if isinstance(loop, ast.While):
            found.append(self._possible(loop.test, wanted=True))
        elif isinstance(loop.iter, ast.Call):
            found += self._counted(loop.target, loop.iter)
        for statement in loop.body:
            if isinstance(statement, ast.If) and isinstance(
                statement.body[-1], (ast.Break, ast.Return)
            ):
                found.append(self._possible(statement.test, wanted=False))
        return [each for each in found if not isinstance(each, ast.Constant)]

    def _counted(self, target: ast.expr, call: ast.Call) -> Iterator[ast.expr]:
        """That the target of ``for i in range(n)``, ``for i, x in enumerate(data)`` is in it."""
        name = getattr(call.func, "id", "")
        if name == "range" and 1 <= len(call.args) <= 2:
            end = call.args[-1]
            if self._is_plain(end) and isinstance(target, ast.Name):
                yield ast.Compare(target, [ast.Lt()], [end])
        elif name == "enumerate" and len(call.args) == 1 and isinstance(target, ast.Tuple):
            many = _value(ast.unparse(call.args[0]), self._names)
            if isinstance(many, Sized) and isinstance(target.elts[0], ast.Name):
                yield ast.Compare(target.elts[0], [ast.Lt()], [ast.Constant(len(many))])

    def _possible(self, test: ast.expr, *, wanted: bool) -> ast.expr:
        """An expression that is true if ``test`` may be as wanted: what is unknown may be."""
        if isinstance(test, ast.BoolOp):
            values = [self._possible(each, wanted=wanted) for each in test.values]
            together = isinstance(test.op, ast.And) is wanted
            return ast.BoolOp(ast.And() if together else ast.Or(), values)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._possible(test.operand, wanted=not wanted)
        if not self._is_plain(test):
            return ast.Constant(True, kind=OPEN)
        return test if wanted else ast.UnaryOp(ast.Not(), test)

    def _is_plain(self, node: ast.expr) -> bool:
        if _is_atom(node):
            return _plain(_value(ast.unparse(node), self._names)) is not UNKNOWN
        return isinstance(node, EVALUABLE) and all(
            self._is_plain(each)
            for each in ast.iter_child_nodes(node)
            if isinstance(each, ast.expr)
        )


class _Named(ast.NodeTransformer):
    """Puts what a function was given in place of its parameters; what else is its own has no name
    in the loop."""

    def __init__(self, called: Called, names: dict[str, Any]) -> None:
        code = called.function.__code__
        self._given, self._globals = called.given, called.function.__globals__
        self._own, self._shared = {*code.co_varnames, *code.co_cellvars}, code.co_freevars
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        unknown = ast.Call(ast.Name("unknown", ast.Load()), [], [])
        if node.id in self._own:
            return self._given.get(node.id, unknown)
        value = self._globals.get(node.id, UNKNOWN)
        if node.id in self._names and (node.id in self._shared or self._names[node.id] is value):
            return node
        return ast.Constant(value) if isinstance(value, PLAIN) else unknown


class _Atoms(ast.NodeTransformer):
    """Puts variables in place of names and attributes, whose texts it collects."""

    def __init__(self, atoms: dict[str, None]) -> None:
        self._atoms = atoms

    def visit(self, node: ast.AST) -> Any:
        if not _is_atom(node):
            return self.generic_visit(node)
        text = ast.unparse(node)
        self._atoms.setdefault(text)
        return ast.Name(_variable([*self._atoms].index(text)), ast.Load())


def _variable(number: int) -> str:
    return f"_{number}"


def _is_atom(node: ast.AST) -> bool:
    """A name, or attributes and items of one: ``args.steps``, ``config["steps"]``."""
    if isinstance(node, ast.Attribute) or (
        isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    ):
        return _is_atom(node.value)
    return isinstance(node, ast.Name)


def _all(tests: list[ast.expr]) -> ast.expr:
    return ast.BoolOp(ast.And(), [ast.Constant(True), ast.Constant(True), *tests])


def _value(text: str, names: dict[str, Any]) -> Any:
    """The value of a name; UNKNOWN if it has none."""
    try:
        return eval(text, names) if _is_atom(ast.parse(text, mode="eval").body) else UNKNOWN
    except Exception:
        return UNKNOWN


def _plain(value: Any) -> Any:
    """A value that holds nothing on a card; else UNKNOWN."""
    if isinstance(value, SEVERAL) and len(value) <= MOST_VALUES:
        value = tuple(value)
        return value if all(isinstance(each, PLAIN) for each in value) else UNKNOWN
    return value if isinstance(value, PLAIN) else UNKNOWN


def _takes(statement: ast.AST, names: dict[str, Any], deep: int = 3) -> bool:
    """Whether a statement may take memory on the card, or change what a step takes."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and _call_takes(node, names, deep):
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("requires_grad", "requires_grad_"):
            return True
    return False


def _call_takes(call: ast.Call, names: dict[str, Any], deep: int) -> bool:
    last = getattr(call.func, "attr", getattr(call.func, "id", ""))
    called = _value(ast.unparse(call.func), names)
    owner = getattr(called, "__self__", None)
    if last == "append":
        return any(isinstance(_value(ast.unparse(each), names), torch.Tensor) for each in call.args)
    if last == "step" and isinstance(owner, torch.optim.Optimizer):
        return True
    if last in HARMLESS:
        return False
    if called is UNKNOWN or isinstance(called, torch.nn.Module) or isinstance(owner, torch.Tensor):
        return True
    function = inspect.unwrap(getattr(called, "__func__", called))
    if isinstance(function, FunctionType) and _is_own(function):
        return deep > 0 and _body_takes(function, owner, deep - 1)
    module = getattr(called, "__module__", None) or type(called).__module__
    if last == "deepcopy" or str(module).partition(".")[0] == "torch":
        return True
    return history.is_own(getattr(sys.modules.get(str(module)), "__file__", None) or "<builtin>")


def _is_own(function: FunctionType) -> bool:
    return history.is_own(function.__code__.co_filename)


def _body_takes(function: FunctionType, owner: Any, deep: int) -> bool:
    body, names = _body(function), _names_in(function, owner)
    return body is None or any(_takes(each, names, deep) for each in body)


def _names_in(function: FunctionType, owner: Any) -> dict[str, Any]:
    """Returns the values of names in a function, or in a method of ``owner``, that are known."""
    own = function.__code__.co_varnames[: owner is not None]
    return {**function.__globals__, **dict.fromkeys(own, owner)}


def _body(function: FunctionType) -> list[ast.stmt] | None:
    """Its statements; None if it has no source."""
    code = function.__code__
    with contextlib.suppress(SyntaxError, ValueError):
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
        for node in ast.walk(tree):
            if isinstance(node, FUNCTIONS) and node.name == code.co_name:
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                if first == code.co_firstlineno:
                    return node.body
    return None


def _given(call: ast.Call, function: FunctionType, owner: Any) -> dict[str, ast.expr]:
    """Returns what a call gives to parameters, as far as that is plain."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    first = [call.func.value] if owner is not None and isinstance(call.func, ast.Attribute) else []
    given: dict[str, ast.expr] = {}
    for name, each in zip(names[: code.co_argcount], [*first, *call.args]):  # noqa: B905 (3.9)
        if isinstance(each, ast.Starred):
            break
        given[name] = each
    given.update({each.arg: each.value for each in call.keywords if each.arg})
    values = function.__defaults__ or ()
    usual = dict(zip(names[code.co_argcount - len(values) :], values))  # noqa: B905 (3.9)
    usual.update(function.__kwdefaults__ or {})
    plain = not any(isinstance(each, ast.Starred) for each in call.args)
    if plain and all(each.arg for each in call.keywords):
        for name in names:
            if name not in given and isinstance(usual.get(name, UNKNOWN), PLAIN):
                given[name] = ast.Constant(usual[name])
    return given
