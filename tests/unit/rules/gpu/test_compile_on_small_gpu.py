from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.rule import Severity
from tests.support.harness import Bench
from tests.support.project_tree import SETTINGS, SETUP, train_script, write_project
from tests.support.sizes import MODEL

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.source.values import Plain

BENCH = Bench("NL201", gpu="rtx-4070")
SMALL = "batch_size = 2\nblock_size = 256\n"
REST = "gradient_accumulation_steps = 40\n" + MODEL


def tuned(folder: Path, overrides: dict[str, Plain] | None = None) -> Bench:
    """The rule beside a train.py that asks for max-autotune."""
    setup = SETUP.replace("compile(model)", "compile(model, mode='max-autotune')")
    root = write_project(folder, {"train.py": train_script(setup=setup)})
    return Bench("NL201", gpu="rtx-4070", path=root / "config" / "x.py", overrides=overrides)


def test_where_the_warning_is_harmless_there_is_nothing_to_fix() -> None:
    found = BENCH.finding(f"{SMALL}{REST}compile = True\n")
    assert (found.fix, found.notes) == (None, ())


def test_it_says_what_eager_would_take_instead() -> None:
    found = BENCH.finding(f"{SMALL}compile = True\n")
    assert "(46 of 68 SMs)" in found.message
    assert found.remedy.startswith("compile = False would take ")
    assert found.remedy.endswith(" less")


def test_it_is_a_warning_when_train_py_asks_for_tuning(tmp_path: Path) -> None:
    assert tuned(tmp_path).finding(SMALL).severity is Severity.WARNING
    assert BENCH.finding(f"{SMALL}compile = True\n").severity is Severity.INFO


def test_the_command_line_asks_for_compile_too() -> None:
    asked = Bench("NL201", gpu="rtx-4070", overrides={"compile": True})
    assert asked.finding(SMALL).severity is Severity.INFO


@pytest.mark.parametrize("setting", ["compile = False", "device = 'cpu'", "device = 'mps'"])
def test_not_compiled_on_the_card(setting: str) -> None:
    assert BENCH.findings(f"{SMALL}compile = True\n{setting}\n") == []


def test_the_command_line_gets_the_corrected_flag(tmp_path: Path) -> None:
    bench = tuned(tmp_path, overrides={"compile": True})
    found = bench.finding(f"{SMALL}compile = False\n")
    assert (found.fix, found.notes[0]) == (None, "pass --compile=False instead")


def test_silent_where_the_run_is_eager_in_truth() -> None:
    bench, small = Bench("NL201", gpu="t4"), f"{SMALL}compile = True\n"
    assert bench.findings(f"{small}dtype = 'bfloat16'\n") == []
    assert "(40 of 68 SMs)" in bench.finding(f"{small}dtype = 'float16'\n").message


def test_silent_where_the_fork_dropped_the_key(tmp_path: Path) -> None:
    settings = SETTINGS.replace("compile = True\n", "")
    setup = SETUP.replace("compile(model)", "compile(model, mode='max-autotune')")
    script = train_script(settings=settings, setup=setup)
    root = write_project(tmp_path, {"train.py": script})
    assert Bench("NL201", gpu="rtx-4070", path=root / "config" / "x.py").findings(SMALL) == []
