"""A traced script meets loggers that are not installed, and asks ``nvidia-smi``."""

from __future__ import annotations

import importlib
import subprocess
import sys
import types
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.trace.process import START

if TYPE_CHECKING:
    from pathlib import Path

NAME = "traced_child.silent"


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """``child/silent.py`` with two cards."""
    torch: Any = types.ModuleType("torch")
    card = types.SimpleNamespace(name="RTX 3060", total_memory=11 << 30, major=8, minor=6)
    torch.cuda = types.SimpleNamespace(get_device_properties=lambda _: card, device_count=lambda: 2)
    torch.utils = types.ModuleType("torch.utils")
    package = types.ModuleType("traced_child")
    package.__path__ = [str(START.parent)]
    for name, module in (("torch", torch), ("traced_child", package)):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    names = {*sys.modules}
    yield importlib.import_module(NAME)
    for name in {*sys.modules} - names:
        del sys.modules[name]


def test_a_logger_that_is_not_installed_logs_nothing_and_is_named(silent: Any) -> None:
    invented: dict[str, None] = {}
    silent.SilentLoggers(invented).install()
    swanlab, writers = map(importlib.import_module, ("swanlab", "trackio.writers"))
    assert invented == {}  # not used yet

    seven = swanlab.annotate("a step")(lambda: 7)
    with swanlab.init(project="x") as run:
        run.config["a"] = run.log({"loss": 1})
    assert (seven(), str(run.name), bool(writers.Writer("runs").flush())) == (7, "", False)
    assert [each.split(",")[0] for each in invented] == ["swanlab", "trackio"]


@pytest.mark.parametrize("name", ["nobody_has_this", "json.nobody_has_this"])
def test_any_other_package_is_missed(silent: Any, name: str) -> None:
    silent.SilentLoggers({}).install()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(name)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("", ["GPU 0: RTX 3060 (11264 MiB)", "GPU 1: RTX 3060 (11264 MiB)"]),
        (
            "--query-gpu=index,name,memory.total,driver_version --format=csv,noheader",
            ["0, RTX 3060, 11264 MiB, [N/A]", "1, RTX 3060, 11264 MiB, [N/A]"],
        ),
        ("--query-gpu=memory.free --format=csv,noheader,nounits", ["11264", "11264"]),
    ],
)
def test_nvidia_smi_tells_of_the_cards_that_are_pretended(
    silent: Any, options: str, told: list[str]
) -> None:
    silent.say_what_the_card_is()
    assert silent.asked() == []
    done = subprocess.run(
        ["nvidia-smi", *options.split()], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == told
    assert len(silent.asked()) == 1
