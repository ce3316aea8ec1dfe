"""Dataclasses that a script keeps its sizes in: which values they have, and which are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
WIDTH = "B, T, V, C = 8, 256, 1000, 128\n"
IMPORTS = "import dataclasses\nfrom dataclasses import dataclass, field\n"


def sized(folder: Path, above: str, width: str) -> dict[str, Any]:
    """The script with ``above``, as wide as ``width`` says."""
    made = f"{IMPORTS}{above}B, T, V, C = 8, 256, 1000, {width}\n"
    assert WIDTH in BASE
    return explained(folder, BASE.replace(WIDTH, made))


def peak(found: dict[str, Any]) -> int:
    assert found["trust"] == "read", found
    size: int = found["peak"]["allocated_bytes"]
    return size


def test_a_class_without_the_decorator_has_the_values_of_the_one_it_extends(
    tmp_path: Path,
) -> None:
    small = "@dataclass\nclass Small:\n    width: int = 64\n    depth: int = 2\n"
    wide = "class Wide(Small):\n    width: int = 256\n"
    of_small = peak(sized(tmp_path, small, "64"))
    assert peak(sized(tmp_path, small + wide, "Wide().width")) == of_small
    assert peak(sized(tmp_path, f"{small}@dataclass\n{wide}", "Wide().width")) > of_small


def test_the_init_of_a_decorated_class_is_its_own_not_that_of_a_base(tmp_path: Path) -> None:
    above = (
        "class Any:\n    def __init__(self, width=512):\n        self.width = width\n"
        "@dataclass\nclass Settings(Any):\n    width: int = 64\n"
    )
    assert peak(sized(tmp_path, above, "Settings().width")) == peak(sized(tmp_path, "", "64"))


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ("sizes: list = [64]", "mutable default <class 'list'> for field sizes"),
        ("sizes: dict = {}", "mutable default <class 'dict'> for field sizes"),
        ("depth: int = 2\n    heads: int", "non-default argument 'heads' follows"),
    ],
)
def test_a_script_whose_dataclass_python_refuses_has_no_run(
    tmp_path: Path, fields: str, says: str
) -> None:
    found = sized(tmp_path, f"@dataclass\nclass Settings:\n    {fields}\n", "64")
    assert found["trust"] == "unknown"
    assert says in str(found)


@pytest.mark.parametrize(
    "fields",
    [
        "sizes: list = field(default_factory=list)",
        "kinds: ClassVar[list] = [64]",
        "depth: int = 2\n    heads: int = field(kw_only=True, default=2)",
        "depth: int = field(init=False, default=2)\n    heads: int = 1",
    ],
)
def test_fields_that_may_be(tmp_path: Path, fields: str) -> None:
    above = f"from typing import ClassVar\n@dataclass\nclass Settings:\n    {fields}\nSettings()\n"
    assert peak(sized(tmp_path, above, "64"))


def test_nothing_is_assigned_to_a_frozen_one(tmp_path: Path) -> None:
    above = "@dataclass(frozen=True)\nclass Settings:\n    width: int = 64\nsettings = Settings()\n"
    as_it_is = peak(sized(tmp_path, above, "settings.width"))
    found = sized(tmp_path, f"{above}settings.width = 256\n", "settings.width")
    assert found["trust"] == "unknown"
    assert "cannot assign to field 'width'" in str(found)
    replaced = f"{above}settings = dataclasses.replace(settings, width=256)\n"
    assert peak(sized(tmp_path, replaced, "settings.width")) > as_it_is
    forced = f"{above}object.__setattr__(settings, 'width', 256)\n"
    assert peak(sized(tmp_path, forced, "settings.width")) > as_it_is


def test_an_object_that_newer_pythons_refuse_as_a_default_is_a_doubt(tmp_path: Path) -> None:
    inner = "class Inner:\n    width: int = 64\n"
    outer = "@dataclass\nclass Settings:\n    inner: Inner = Inner()\n"
    found = sized(tmp_path, f"@dataclass\n{inner}{outer}", "Settings().inner.width")
    assert found["trust"] == "doubted"
    assert any("Python" in doubt and "Inner" in doubt for doubt in found["doubts"])
    for hashable in ("@dataclass(frozen=True)\n", ""):
        assert peak(sized(tmp_path, f"{hashable}{inner}{outer}", "Settings().inner.width"))
