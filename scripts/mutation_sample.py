"""Change the code in small ways and see whether a test notices: a table of docs/robustness.md.

    pip install mutmut==3.8.1
    python scripts/mutation_sample.py > table.md

mutmut only says which changes there are; those of the text of a string, which are many and seldom
matter, are left out, and so are a few SLOW tests. A seed chooses a share of the changes of each
module, more of CORE. Each is put into the running module of a fork, so that nothing is written to
disk, and the tests that reach the changed function run, the fastest first, until one fails. What
no test fails on has survived: its difference goes to stderr. A fork that takes more CPU time than
LIMIT_S is counted as killed, as a loop without end is what a user would notice.

``--only NAME...`` tries the changes of these names, as the survivors of an earlier run.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import gc
import importlib
import json
import os
import random
import re
import resource
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import libcst
import pytest
from _pytest.runner import runtestprotocol
from mutmut.mutation.file_mutation import create_mutations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType, FunctionType

    from mutmut.mutation.file_mutation import Mutation

ROOT = Path(__file__).parents[1]
CORE = ("allocator", "alternatives", "fit", "fixing", "replay", "rewrite", "search", "verdict")
MODULES = ("nanolint/memory/*.py", "nanolint/rewrite.py", "nanolint/fixing.py")
TESTS = (
    "tests/memory",
    "tests/test_rewrite.py",
    "tests/test_fixing.py",
    "tests/test_situations.py",
)
SLOW = (  # a third of the time of all tests
    "test_outcomes_worsen_as_the_card_shrinks",
    "test_a_larger_batch_allocates_hardly_less",
    "test_an_absurdly_deep_model_is_answered_in_bounded_work",
    "{'n_layer': 300}",
)
LIMIT_S = 30  # of CPU time; all the tests together take 10
LIMIT_BYTES = 8 << 30  # of address space

# mutmut passes over decorated functions. These two can be reached behind their decorator.
DECORATOR = re.compile(r"^( *)@(property|lru_cache.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Mutant:
    """One change of one function; ``function`` is "play" or "CachingAllocator.malloc"."""

    name: str
    module: str
    function: str
    before: libcst.Module
    change: Mutation

    @property
    def code(self) -> str:
        """The text of the changed module."""
        replaced = self.before.deep_replace(self.change.original_node, self.change.mutated_node)
        assert isinstance(replaced, libcst.Module)
        return replaced.code

    @property
    def difference(self) -> str:
        lines = self.before.code.splitlines(), self.code.splitlines()
        return "\n".join([self.name, *list(difflib.unified_diff(*lines, n=1, lineterm=""))[2:]])

    def apply(self) -> None:
        """Put the change into the imported module, for all who hold the function."""
        module = importlib.import_module(self.module)
        changed: dict[str, Any] = {"__name__": self.module}
        exec(compile(self.code, self.name, "exec"), changed)
        old, new = _function(vars(module), self.function), _function(changed, self.function)
        old.__code__, old.__defaults__, old.__kwdefaults__ = (
            new.__code__,
            new.__defaults__,
            new.__kwdefaults__,
        )


def _function(namespace: dict[str, Any], name: str) -> FunctionType:
    found: Any = namespace
    for part in name.split("."):
        found = (found if isinstance(found, dict) else vars(found))[part]
    found = getattr(found, "fget", found)
    found = getattr(found, "__func__", found)
    unwrapped: FunctionType = getattr(found, "__wrapped__", found)
    return unwrapped


def mutants(path: Path) -> Iterator[Mutant]:
    """All changes of one file, in the order of its text."""
    text = DECORATOR.sub(r"\1#", path.read_text("utf-8"))
    module, mutations, *_ = create_mutations(str(path), text)
    owners = {
        method: f"{item.name.value}."
        for item in module.body
        if isinstance(item, libcst.ClassDef)
        for method in item.body.body
    }
    dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    numbers: Counter[str] = Counter()
    for mutation in mutations:
        function = mutation.contained_by_top_level_function
        is_text = isinstance(mutation.original_node, libcst.SimpleString)
        if is_text or not isinstance(function, libcst.FunctionDef):
            continue
        qualified = owners.get(function, "") + function.name.value
        numbers[qualified] += 1
        name = f"{dotted}:{qualified}:{numbers[qualified]}"
        yield Mutant(name, dotted, qualified, module, mutation)


class Trial:
    """A pytest plugin that runs the collected tests once for each mutant, in a fork each."""

    def __init__(self, chosen: list[Mutant], jobs: int) -> None:
        self.chosen = chosen
        self.jobs = jobs
        self.results: dict[str, str] = {}
        self.running: dict[int, Mutant] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        _caches()
        session.items = [item for item in session.items if not any(s in item.name for s in SLOW)]
        reached = self._reached(session)
        for number, mutant in enumerate(self.chosen):
            items = [item for item in session.items if item.nodeid in reached(mutant)]
            items.sort(key=lambda item: reached(mutant)[item.nodeid])
            if not items:
                self.results[mutant.name] = "unreached"
                continue
            while len(self.running) >= self.jobs:
                self._wait()
            self.running[_fork(lambda mutant=mutant, items=items: _killed(mutant, items))] = mutant
            print(f"{number}/{len(self.chosen)}", end="\r", file=sys.stderr)
        while self.running:
            self._wait()
        return True

    def _wait(self) -> None:
        pid, status = os.wait()
        mutant = self.running.pop(pid)
        code = os.waitstatus_to_exitcode(status)
        outcome = {0: "survived", 1: "killed", 2: "impossible"}.get(code, "timeout")
        self.results[mutant.name] = outcome
        if outcome != "killed":
            print(outcome, file=sys.stderr)
            print(mutant.difference, file=sys.stderr, flush=True)

    def _reached(self, session: pytest.Session) -> Callable[[Mutant], dict[str, float]]:
        """The seconds of each test that reaches the function of a mutant."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "reached.json")
            _, status = os.waitpid(_fork(lambda: _profile(session.items, path)), 0)
            if status:
                raise pytest.UsageError("a test fails without any change")
            profile = json.loads(path.read_text("utf-8"))

        def reached(mutant: Mutant) -> dict[str, float]:
            code = _function(vars(importlib.import_module(mutant.module)), mutant.function).__code__
            found: dict[str, float] = profile.get(_key(code), {})
            return found

        return reached


def _key(code: CodeType) -> str:
    return f"{code.co_filename}:{code.co_firstlineno}"


def _fork(work: Callable[[], int]) -> int:
    """The process that does ``work`` and exits with what it returns, 2 when it raises."""
    pid = os.fork()
    if pid:
        return pid
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        _forget()
        os._exit(work())
    except BaseException:
        os._exit(2)


@functools.cache
def _caches() -> list[functools._lru_cache_wrapper[Any]]:
    wrappers = [one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper)]
    return [one for one in wrappers if one.__module__.startswith("nanolint")]


def _forget() -> None:
    """Empty nanolint's caches, which collecting the tests may have filled."""
    for cache in _caches():
        cache.cache_clear()


def _passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))


def _profile(items: list[pytest.Item], path: Path) -> int:
    reached: dict[str, dict[str, float]] = {}
    for item in items:
        _forget()
        codes: set[CodeType] = set()

        def saw(frame: FrameType, event: str, _: object, codes: set[CodeType] = codes) -> None:
            if event == "call":
                codes.add(frame.f_code)

        start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        sys.setprofile(saw)
        passed = _passes(item, None)  # so that every test makes the fixtures that it shares
        sys.setprofile(None)
        if not passed:
            return 1
        seconds = resource.getrusage(resource.RUSAGE_SELF).ru_utime - start
        for code in codes:
            if "nanolint" in code.co_filename:
                reached.setdefault(_key(code), {})[item.nodeid] = seconds
    path.write_text(json.dumps(reached), "utf-8")
    return 0


def _killed(mutant: Mutant, items: list[pytest.Item]) -> int:
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S + 1))
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    mutant.apply()
    return int(not all(map(_passes, items, [*items[1:], None])))


def table(everything: list[Mutant], results: dict[str, str]) -> str:
    """A row for each module, the sum last."""
    lines = [
        "| module | changes | tried | killed | survived | score |",
        "|---|---|---|---|---|---|",
    ]
    modules = list(dict.fromkeys(mutant.module for mutant in everything))
    for module in [*modules, "all"]:
        total = [m for m in everything if module in (m.module, "all")]
        outcomes = Counter(results[m.name] for m in total if m.name in results)
        tried = outcomes.total() - outcomes["impossible"]
        killed = outcomes["killed"] + outcomes["timeout"]
        if tried:
            row = (module, len(total), tried, killed, tried - killed, f"{killed / tried:.0%}")
            lines.append(f"| {' | '.join(map(str, row))} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--core", type=float, default=0.4, help="share of the changes of CORE")
    parser.add_argument("--rest", type=float, default=0.05, help="share of all others")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, help="a JSON file for the outcome of each change")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[])
    arguments = parser.parse_args()
    everything = [
        mutant
        for pattern in MODULES
        for path in sorted(ROOT.glob(pattern))
        for mutant in mutants(path)
    ]
    chance = random.Random(arguments.seed)
    chosen = []
    for module in dict.fromkeys(mutant.module for mutant in everything):
        own = [mutant for mutant in everything if mutant.module == module]
        share = arguments.core if module.rpartition(".")[2] in CORE else arguments.rest
        chosen += chance.sample(own, -int(-share * len(own) // 1))
    if arguments.only:
        chosen = [mutant for mutant in everything if mutant.name in arguments.only]
    hypothesis.settings.register_profile(
        "mutation",
        deadline=None,
        derandomize=True,
        database=None,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    )
    hypothesis.settings.load_profile("mutation")
    os.chdir(ROOT)
    trial = Trial(chosen, arguments.jobs)
    chance.shuffle(chosen)  # so that what an interrupted run has tried is a fair sample too
    quiet = ["-q", "-p", "no:cacheprovider", "-W", "ignore:Module already imported"]
    pytest.main([*quiet, *TESTS], plugins=[trial])
    if arguments.results:
        arguments.results.write_text(json.dumps(trial.results, indent=1), "utf-8")
    print(table(everything, trial.results))


if __name__ == "__main__":
    main()
