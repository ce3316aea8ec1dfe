"""NL413: a norm that autocast runs in float32, between layers that run in bfloat16."""

from __future__ import annotations

import ast
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
    python_tree,
    rule,
    trainers_of,
)
from nanolint_rules.torch._names import found_in, last_name, names, names_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    import libcst as cst

    from nanolint_rules.torch._names import Names, Use
else:
    from nanolint_rules.torch import _cst as cst

# pytorch pull request 174824; before, autocast did not know the operation.
FLOAT32_SINCE = (2, 12)
FUNCTIONS = {"torch.nn.functional.rms_norm", "torch.rms_norm"}
MODULES = {"torch.nn.RMSNorm", "torch.nn.modules.normalization.RMSNorm"}
AUTOCAST = {
    *("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast"),
    "torch.cuda.amp.autocast",
}
LOW = {"bfloat16", "float16", "half"}
# What the activations come from, or all that makes them.
_MODULE = re.compile(r"model|wte|emb")
_CASTS = {"to", "type_as", "bfloat16", "half", "float", "type"}


@rule(
    "NL413",
    "float32-rms-norm",
    Severity.WARNING,
    needs=[],
    fix=FixAvailability.SOMETIMES,
    markers=("rms_norm", "RMSNorm"),
    once=Once.MESSAGE,
)
def float32_rms_norm(context: Context) -> Findings:
    """Under autocast rms_norm returns float32 from PyTorch 2.12 on, also for bfloat16."""
    version = context.options.torch_version
    if version is not None and version < FLOAT32_SINCE:
        return
    resolved = names(context)
    uses = [use for use in resolved.uses(FUNCTIONS | MODULES) if not _is_chosen(resolved, use)]
    if not uses or not _is_low(context.tree) or not _has_autocast(context):
        return
    for use in uses:
        called = "rms_norm" if use.qualified in FUNCTIONS else "RMSNorm"
        yield Finding(
            message=f"since PyTorch 2.12 {called} returns float32 under autocast, twice the bytes",
            span=context.spans([use.call.func])[use.call.func],
            fix=_fix(context, resolved, use) if use.qualified in FUNCTIONS else None,
            notes=() if version else ("PyTorch 2.11 and older keep the input's type",),
        )


def _has_autocast(context: Context) -> bool:
    """Whether this file, or a script that trains with it, runs something under autocast."""
    found = [names(context)]
    if context.script_tree is not None:
        found.append(names_in(context.script_tree))
    if any(not _is_off(use) for each in found for use in each.uses(AUTOCAST)):
        return True
    return any(_autocasts(text) for text in trainers_of(context) if "autocast" in text)


def _autocasts(text: str) -> bool:
    """Whether another script has a call of autocast that is not turned off, by name."""
    try:
        tree = python_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(
        isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] == "autocast"
        and not any(ast.unparse(each) == "enabled=False" for each in node.keywords)
        for node in ast.walk(tree)
    )


def _is_off(use: Use) -> bool:
    """``autocast('cuda', enabled=False)``."""
    return any(
        each.keyword is not None
        and each.keyword.value == "enabled"
        and isinstance(each.value, cst.Name)
        and each.value.value == "False"
        for each in use.call.args
    )


def _is_chosen(resolved: Names, use: Use) -> bool:
    """Whether its type is chosen where it stands: autocast is off, or the input or result cast."""
    offs = {id(each.call) for each in resolved.uses(AUTOCAST) if _is_off(each)}
    parent = next(resolved.ancestors(use.call), None)
    if isinstance(parent, cst.Attribute) and parent.attr.value in _CASTS:
        return True
    if use.call.args and any(map(_is_cast, found_in(use.call.args[0].value, cst.Call))):
        return True
    return any(
        id(call) in offs
        for node in resolved.ancestors(use.call)
        if isinstance(node, cst.With)
        for item in node.items
        for call in found_in(item, cst.Call)
    )


def _is_cast(call: cst.Call) -> bool:
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in _CASTS


def _is_low(tree: cst.Module) -> bool:
    """Whether weights are stored in two bytes, so that activations are, from the embedding on.

    A call that stands for itself, ``wte.to(dtype=torch.bfloat16)``, changes a module: on a tensor
    it would do nothing.
    """
    statements: list[cst.Expr | cst.Assign] = [*found_in(tree, cst.Expr)]
    statements += found_in(tree, cst.Assign)
    for statement in statements:
        call = statement.value
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
            continue
        things = [call.func.value]
        if isinstance(statement, cst.Assign):
            things += [each.target for each in statement.targets]
            if not any(_MODULE.search(last_name(each) or "") for each in things):
                continue
        words = [call.func.attr, *(each for arg in call.args for each in _attributes(arg))]
        if _is_cast(call) and LOW & {each.value for each in words}:
            return True
    return False


def _attributes(argument: cst.Arg) -> Iterator[cst.Name]:
    for each in found_in(argument.value, cst.Attribute):
        yield each.attr


def _fix(context: Context, resolved: Names, use: Use) -> Fix | None:
    """Put the statement, if it does nothing else that autocast decides about, under ``with``."""
    arguments = use.call.args
    torch = resolved.name_of("torch", use.node)
    around = (n for n in resolved.ancestors(use.call) if isinstance(n, cst.SimpleStatementLine))
    statements = next(around, None)
    if torch is None or statements is None or len(statements.body) > 1:
        return None
    if not arguments or not isinstance(arguments[0].value, cst.Name):
        return None
    line = statements.body[0]
    others = (call for call in found_in(line, cst.Call) if call is not use.call)
    if not all(isinstance(o.func, cst.Attribute) and o.func.attr.value == "size" for o in others):
        return None
    span = context.spans([line])[line]
    written = context.text[span.start : span.end]
    if "\n" in written or "\r" in written:
        return None
    start = max(context.text.rfind(newline, 0, span.start) for newline in "\r\n") + 1
    indent = context.text[start : span.start]
    newline = "\r\n" if "\r\n" in context.text else "\n"
    step = "\t" if "\t" in indent else "    "
    head = f"with {torch}.autocast({arguments[0].value.value}.device.type, enabled=False):"
    edit = Edit(span.start, span.start, f"{head}{newline}{indent}{step}")
    return Fix("Turn autocast off for the norm", Safety.UNSAFE, (edit,))
