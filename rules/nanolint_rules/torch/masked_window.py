"""NL416: a sliding window that is a mask, which FlashAttention does not take."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.rule import (
    Context,
    Edit,
    Finding,
    Findings,
    Fix,
    FixAvailability,
    Once,
    Safety,
    Severity,
    rule,
)
from nanolint_rules.torch._names import found_in, last_name, names

if TYPE_CHECKING:
    from collections.abc import Iterator

    import libcst as cst

    from nanolint_rules.torch._names import Names
else:
    from nanolint_rules.torch import _cst as cst

ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
MASK = 3  # the index of its argument
_PATTERN = re.compile(r"(?i)window_?pattern")
_WINDOWS = re.compile(r"(?i)[SL]+")  # short and long (full), one letter a layer
# FlashAttention 3 takes windows, where there is a kernel: nanochat's flash_attention.py.
_TAKES_WINDOWS = re.compile(r"\bflash_attn_func\b")
_LOADS = re.compile(r"\bget_kernel\(|\bimport\b.*\bflash_attn")
_IS_HOPPER = re.compile(r"==\s*(?:\(9,\s*0\)|9\b)")
_NOT_HOPPER = re.compile(r"!=\s*(?:\(9,\s*0\)|9\b)")
_NO_SIZE = {"none", "false", "int", "os", "environ", "get", "getenv"}
KERNELS = ((8, 0), (9, 0))  # the oldest and the newest capability


@rule(
    "NL416",
    "masked-window",
    Severity.WARNING,
    needs=[],
    fix=FixAvailability.SOMETIMES,
    markers=("scaled_dot_product_attention",),
    once=Once.MESSAGE,
)
def masked_window(context: Context) -> Findings:
    """Attention over a sliding window uses a mask, so FlashAttention is off."""
    if "window" not in context.text.lower() or _has_kernels(context):
        return
    resolved = names(context)
    masked = [use.call for use in resolved.uses({ATTENTION}) if _is_windowed(resolved, use.call)]
    if not masked:
        return
    pattern = _pattern(context)
    if pattern is not None and "S" not in _text(pattern).upper():
        return
    if pattern is None and "backward(" in context.text and not any(_sizes(context)):
        return  # the whole program is here, and nothing in it gives a window
    call = masked[0]
    fix, span = None, context.spans([call])[call]
    if pattern is not None:
        inside = context.spans([pattern])[pattern]
        span, edit = inside, Edit(inside.start, inside.end, _full(pattern))
        if _has_full_context(resolved, call):
            fix = Fix("Attend to the full context in every layer", Safety.UNSAFE, (edit,))
    yield Finding(
        message=(
            "PyTorch's attention accepts a window only as a mask: (T, T) more values per layer, "
            "and FlashAttention is off"
        ),
        span=span,
        fix=fix,
    )


def _has_kernels(context: Context) -> bool:
    """Whether the masks are what is left for cards that are none of the targets."""
    if not _TAKES_WINDOWS.search(context.text):
        return False
    oldest, newest = KERNELS
    oldest = newest if _is_for_hopper(context.tree) else oldest
    capabilities = [case.target.gpu.compute_capability for case in context.cases if case.target]
    return all(each is None or oldest <= each <= newest for each in capabilities)


def _is_for_hopper(tree: cst.Module) -> bool:
    """Whether the script takes a kernel on compute capability 9.0 alone: ``if cap == (9, 0):`` with
    no kernel else, or ``if major != 9: return None``."""
    for branch in found_in(tree, cst.If):
        test, body = tree.code_for_node(branch.test), tree.code_for_node(branch.body)
        other = "" if branch.orelse is None else tree.code_for_node(branch.orelse)
        if _IS_HOPPER.search(test) and _LOADS.search(body) and not _LOADS.search(other):
            return True
        if _NOT_HOPPER.search(test) and body.strip() == "return None":
            return True
    return False


def _is_windowed(resolved: Names, call: cst.Call) -> bool:
    """Whether the call gets a mask, in a function that speaks of a window."""
    masks = [
        argument.value
        for index, argument in enumerate(call.args)
        if (argument.keyword.value == "attn_mask" if argument.keyword else index == MASK)
    ]
    if not masks or (isinstance(masks[0], cst.Name) and masks[0].value == "None"):
        return False
    function = _function(resolved, call)
    return function is not None and any(
        "window" in name.value.lower() for name in found_in(function, cst.Name)
    )


def _has_full_context(resolved: Names, call: cst.Call) -> bool:
    """Whether the function has another way, for layers without a window."""
    function = _function(resolved, call)
    return function is not None and any(
        each.keyword is not None and each.keyword.value == "is_causal"
        for other in found_in(function, cst.Call)
        if other is not call and last_name(other.func) == last_name(call.func)
        for each in other.args
    )


def _function(resolved: Names, call: cst.Call) -> cst.FunctionDef | None:
    return next((n for n in resolved.ancestors(call) if isinstance(n, cst.FunctionDef)), None)


def _pattern(context: Context) -> cst.SimpleString | None:
    """The value that says which layers have a window: of a constant, else of a class's field."""
    found: list[cst.SimpleString] = []
    fields: list[cst.SimpleString] = []
    for assignment in found_in(context.tree, cst.Assign):
        for target in assignment.targets:
            if isinstance(target.target, cst.Name) and _PATTERN.search(target.target.value):
                found += _windows(assignment.value)
    for annotated in found_in(context.tree, cst.AnnAssign):
        if isinstance(annotated.target, cst.Name) and _PATTERN.search(annotated.target.value):
            fields += _windows(annotated.value)
    return next(iter(found or fields), None)


def _sizes(context: Context) -> Iterator[cst.BaseExpression]:
    """The values that windows are given, but for those that pass another on, and for none: 0, -1.

    ``sliding_window=512``, ``add_argument("--window", default=1024)``; a parameter without a
    default, which has to be given one.
    """
    tree = context.tree
    for parameter in found_in(tree, cst.Param):
        if parameter.default is None and "window" in parameter.name.value.lower():
            yield parameter.name
    given: list[tuple[str, cst.BaseExpression | None]] = [
        *((each.keyword.value, each.value) for each in found_in(tree, cst.Arg) if each.keyword),
        *((each.name.value, each.default) for each in found_in(tree, cst.Param)),
        *((last_name(each.target) or "", each.value) for each in found_in(tree, cst.AnnAssign)),
    ]
    for assignment in found_in(tree, cst.Assign):
        given += ((last_name(each.target) or "", assignment.value) for each in assignment.targets)
    for call in found_in(tree, cst.Call):
        if last_name(call.func) == "add_argument" and "window" in _first_text(call):
            given += (("window", each.value) for each in call.args if each.keyword)
    for name, value in given:
        if "window" in name.lower() and value is not None and _is_size(value):
            yield value


def _is_size(value: cst.BaseExpression) -> bool:
    """Whether an expression has a number of its own, or is made of other things than windows."""
    numbers = [each.value for each in found_in(value, cst.Integer)]
    texts = [_text(each) for each in found_in(value, cst.SimpleString)]
    if any(each.isdigit() and int(each) > 1 for each in (*numbers, *texts)):
        return True
    named = [each.value.lower() for each in found_in(value, cst.Name)]
    return bool(set(named) - _NO_SIZE) and not any("window" in each for each in named)


def _first_text(call: cst.Call) -> str:
    first = call.args[0].value if call.args else None
    return _text(first) if isinstance(first, cst.SimpleString) else ""


def _windows(value: cst.BaseExpression | None) -> list[cst.SimpleString]:
    is_pattern = isinstance(value, cst.SimpleString) and _WINDOWS.fullmatch(_text(value))
    return [value] if isinstance(value, cst.SimpleString) and is_pattern else []


def _text(string: cst.SimpleString) -> str:
    value = string.evaluated_value
    return value if isinstance(value, str) else ""


def _full(string: cst.SimpleString) -> str:
    return f"{string.prefix}{string.quote}L{string.quote}"
