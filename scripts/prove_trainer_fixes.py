"""Prove on public training scripts that what a fix writes keeps the tokens of a step.

``prove_trainer_fixes.py MIRRORS`` takes the versions of each script in the git
repositories of ``judge_trainers.py``, lets nanolint say which micro-batches are legal and what to
write for each, writes that, and works out the script's own arithmetic before and after: Python
itself evaluates the statements that are nothing but arithmetic, with Python's own argparse, in an
empty world of one process and of eight. What nanolint thinks of a value is not asked, but for a
total that the script works out from its model: that is taken for what nanolint found.
"""

from __future__ import annotations

import argparse
import ast
import math
import sys
from collections import Counter
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(Path(__file__).parent))

from judge_trainers import described, git, git_of, versions  # noqa: E402

from nanolint.run.terms import Operation, leaves  # noqa: E402
from nanolint.source.bounds import Unevaluable  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanolint.run.described import Described
    from nanolint.run.equation import Equation
    from nanolint.run.terms import Given

SCRIPTS = (
    ("karpathy/nanochat", "scripts/base_train.py"),
    ("karpathy/nanochat", "scripts/mid_train.py"),
    ("karpathy/nanochat", "scripts/chat_sft.py"),
    ("kschwethelm/looped_nanochat", "scripts/chat_sft.py"),
    ("karpathy/autoresearch", "train.py"),
    ("karpathy/build-nanogpt", "train_gpt2.py"),
    ("dewijones92/build-nanogpt", "train_gpt2.py"),
    ("csabapalfi/build-nanogpt", "train_gpt2.py"),
    ("KellerJordan/modded-nanogpt", "train_gpt2.py"),
    ("karpathy/llm.c", "train_gpt2.py"),
)
WORLDS = (1, 8)
# What scripts call the number of processes that a helper tells them.
_WORLD_NAMES = ("ddp_world_size", "world_size", "num_processes")
_BUILTINS = {"int": int, "float": float, "max": max, "min": min, "round": round, "abs": abs}
_PLAIN = (
    *(ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context, ast.Tuple, ast.Subscript),
    *(ast.Attribute, ast.Call, ast.keyword, ast.List, ast.Set),
)
_CALLED = ("math.", "parser.", "argparse.ArgumentParser", "os.environ.get", "os.getenv", "dict")


class Refused(Exception):
    """An assert of the script that does not hold."""


@lru_cache(maxsize=8)
def _tree(text: str) -> ast.Module:
    """The syntax tree of a text, which several questions are about."""
    return ast.parse(text)


class Arithmetic:
    """What a script's own statements make of its numbers, for so many processes.

    ``taken`` are values for names that are set from what only a run would tell.
    """

    def __init__(
        self, modules: Mapping[str, str], world: int, taken: Mapping[str, int] | None = None
    ) -> None:
        self._modules, self._world, self._taken = modules, world, taken or {}
        environ = {} if world == 1 else {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": str(world)}
        fake = SimpleNamespace(environ=environ, getenv=environ.get)
        worlds = dict.fromkeys(_WORLD_NAMES, world)
        self.names: dict[str, Any] = {
            **_BUILTINS,
            **worlds,
            "__name__": "__main__",
            "math": math,
            "os": fake,
            "argparse": SimpleNamespace(ArgumentParser=_Parser),
        }
        self.asserts = 0

    def run(self, text: str) -> Arithmetic:
        """Evaluate a text; raises Refused."""
        self._block(_tree(text).body)
        return self

    def _block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, ast.ImportFrom):
                self._import(statement)
            elif isinstance(statement, ast.If):
                found = self.value(statement.test)
                if found is not None:
                    self._block(statement.body if found else statement.orelse)
            elif isinstance(statement, ast.Assert):
                found = self.value(statement.test)
                self.asserts += found is not None
                if found is not None and not found:
                    raise Refused(ast.unparse(statement.test))
            elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)):
                self._statement(statement)

    def _import(self, statement: ast.ImportFrom) -> None:
        text = self._modules.get(f"{statement.module}.py")
        if text is not None:
            names = Arithmetic({}, self._world).run(text).names
            for alias in statement.names:
                if alias.name in names:
                    self.names[alias.asname or alias.name] = names[alias.name]

    def _statement(self, statement: ast.stmt) -> None:
        value = getattr(statement, "value", None)
        if value is None:
            return
        if _is_plain(value):
            tree = ast.fix_missing_locations(ast.Module([statement], []))
            try:
                exec(compile(tree, "<arithmetic>", "exec"), {"__builtins__": {}}, self.names)
            except Exception:
                self._forget(statement)
        else:
            self._forget(statement)

    def _forget(self, statement: ast.stmt) -> None:
        """What a statement sets that only a run would tell is not what it was before."""
        for target in getattr(statement, "targets", [getattr(statement, "target", None)]):
            if isinstance(target, ast.Name) and target.id not in _WORLD_NAMES:
                self.names.pop(target.id, None)
                if target.id in self._taken:
                    self.names[target.id] = self._taken[target.id]

    def value(self, node: ast.expr) -> Any:
        """The value of an expression, None where it is not made of known numbers."""
        if not _is_plain(node):
            return None
        try:
            code = compile(ast.Expression(node), "<arithmetic>", "eval")
            return eval(code, {"__builtins__": {}}, self.names)
        except Exception:
            return None


class _Parser(argparse.ArgumentParser):
    """Python's own, on an empty line."""

    def parse_args(self, *_: Any, **__: Any) -> Any:
        return super().parse_args([])


def _is_plain(node: ast.expr) -> bool:
    for each in ast.walk(node):
        if not isinstance(each, _PLAIN):
            return False
        if isinstance(each, ast.Call):
            called = ast.unparse(each.func)
            if called not in _BUILTINS and not called.startswith(_CALLED):
                return False
    return True


def passes_of(text: str, arithmetic: Arithmetic) -> Any:
    """N of the ``range(N)`` around ``backward()``."""
    loops = [
        each
        for each in ast.walk(_tree(text))
        if isinstance(each, ast.For)
        and ast.unparse(each.iter).startswith("range(")
        and any(
            isinstance(part, ast.Attribute) and part.attr == "backward" for part in ast.walk(each)
        )
    ]
    return arithmetic.value(loops[-1].iter.args[0]) if loops else None  # type: ignore[attr-defined]


def total_of(text: str, equation: Equation) -> dict[str, int]:
    """The total by its name, where the passes are that, divided: nanochat's follows from the number
    of parameters, which no arithmetic of its own tells. It is no micro-batch that changes it."""
    passes = equation.passes
    if not isinstance(passes, Operation) or passes.symbol != "//":
        return {}
    total, micro_batch = passes.operands[0], equation.micro_batch
    if not isinstance(total.value, int) or micro_batch in leaves(total):
        return {}
    return {
        each.value.left.id: total.value
        for each in ast.walk(_tree(text))
        if isinstance(each, ast.Assign)
        and isinstance(each.value, ast.BinOp)
        and isinstance(each.value.op, ast.FloorDiv)
        and isinstance(each.value.left, ast.Name)
        and "accum" in ast.unparse(each.targets[0])
    }


def size_of(given: Given, arithmetic: Arithmetic) -> Any:
    """What the script makes of the value that was rewritten."""
    key = given.key
    if key.startswith("-"):
        return getattr(arithmetic.names.get("args"), key.strip("-").replace("-", "_"), None)
    return arithmetic.value(ast.parse(key, mode="eval").body)


def proven(
    repository: Path, commit: str, script: str, world: int, found: Described | None
) -> Iterator[str]:
    """What comes of each fix of one version, of which nanolint found so much."""
    if found is None or found.equation is None or found.equation.factor is None:
        yield "no equation"
        return
    equation, factor = found.equation, found.equation.factor
    try:
        legal = equation.legal(4 * equation.number(factor))
    except Unevaluable:
        legal = ()
    text = git(repository, "show", f"{commit}:{script}")
    modules = {
        name: git(repository, "show", f"{commit}:{name}")
        for name in ("prepare.py",)
        if name in git(repository, "ls-tree", "--name-only", commit).split()
    }
    try:
        taken = total_of(text, equation)
        before = Arithmetic(modules, world, taken).run(text)
    except Refused:
        yield "refuses itself"
        return
    old = size_of(factor, before), passes_of(text, before)
    if not all(isinstance(each, int) for each in old):
        yield "made of more than arithmetic"
        return
    others = [each for each in legal if each != old[0]]
    if not others:
        yield "no other legal micro-batch"
    for micro_batch in others:
        changes = equation.changes_for(micro_batch)
        assert changes is not None
        fixed = rewritten(text, changes, script)
        if fixed is None:
            yield "stands in another file"
            continue
        try:
            after = Arithmetic(modules, world, taken).run(fixed)
        except Refused as refusal:
            yield f"WRONG: {commit} {micro_batch}: {refusal}"
            continue
        new = size_of(factor, after), passes_of(fixed, after)
        kept = new[0] == micro_batch and new[0] * new[1] == old[0] * old[1]
        kept = kept and after.asserts == before.asserts
        yield "kept" if kept else f"WRONG: {commit} {micro_batch}: {old} became {new}"


def rewritten(text: str, changes: Mapping[Given, Any], script: str) -> str | None:
    """The text with other values, None where one does not stand in it."""
    for given, value in sorted(changes.items(), key=lambda pair: _start(pair[0]), reverse=True):
        span = given.place.span
        path = given.place.path
        if span is None or path is None or not path.as_posix().endswith(script):
            return None
        if not text[span.start : span.end].strip("0123456789_*<() "):
            text = f"{text[: span.start]}{value}{text[span.end :]}"
        else:
            return None
    return text


def _start(given: Given) -> int:
    return given.place.span.start if given.place.span else -1


def main() -> None:
    """Print a row for each script and number of processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("--most", type=int, default=1000, metavar="N", help="versions of each")
    parser.add_argument("--only", default="", metavar="OWNER/NAME", help="of this repository")
    options = parser.parse_args()
    print("| repository | script | processes | versions | fixes that keep the step | others |")
    print("|---|---|---|---|---|---|")
    for name, script in SCRIPTS:
        if options.only not in ("", name):
            continue
        repository = git_of(options.mirrors, name)
        commits = versions(repository, script)[: options.most]
        for world in WORLDS:
            outcomes: Counter[str] = Counter()
            for commit in commits:
                found = described(repository, commit, script, world)
                outcomes.update(proven(repository, commit, script, world, found))
            kept = outcomes.pop("kept", 0)
            told = ", ".join(f"{each}: {times}" for each, times in outcomes.most_common())
            row = f"{name} | {script} | {world} | {len(commits)} | {kept:,} | {told}"
            print(f"| {row} |", flush=True)


if __name__ == "__main__":
    main()
