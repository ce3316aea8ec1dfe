"""Roles of a training script in ``explain --format json``: the values that its run has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.support.command import nanolint
from tests.unit.trainers.written_scripts import script

if TYPE_CHECKING:
    from pathlib import Path

PRESETS = """
presets = {"small": {"rows": 8}, "large": {"rows": 512}}
B, T, total = presets["small"]["rows"], 512, 2**15
assert total % (B * T) == 0
passes = total // (B * T)
"""


def roles_of(path: Path, text: str) -> Any:
    """What the JSON says of a script."""
    path.write_text(text, encoding="utf-8")
    return json.loads(nanolint("explain", str(path), "--format", "json").out)["roles"]


def test_of_several_values_with_one_name_it_has_the_one_that_counts(tmp_path: Path) -> None:
    """A table of presets gives the same key many times; the run takes one of them."""
    text = script(PRESETS)
    found = roles_of(tmp_path / "train.py", text)["micro-batch"]
    line = text.splitlines().index(PRESETS.splitlines()[1]) + 1
    assert (found["key"], found["value"], found["line"]) == ("rows", 8, line)


def test_what_is_known_of_a_run_that_is_not_judged(tmp_path: Path) -> None:
    roles = roles_of(tmp_path / "train.py", script(PRESETS))
    assert (roles["accumulation"]["key"], roles["accumulation"]["value"]) == (None, 8)
    assert (roles["dtype"]["value"], roles["compile"]["value"]) == ("bfloat16", True)


def test_a_value_of_another_module_has_its_line_there(tmp_path: Path) -> None:
    sizes = tmp_path / "sizes.py"
    sizes.write_text("# sizes\nrows = 8\n", encoding="utf-8")
    own = PRESETS.replace('presets["small"]["rows"]', "rows").replace("presets", "others")
    found = roles_of(tmp_path / "train.py", script(f"from sizes import rows\n{own}"))
    assert (found["micro-batch"]["file"], found["micro-batch"]["line"]) == (str(sizes), 2)
