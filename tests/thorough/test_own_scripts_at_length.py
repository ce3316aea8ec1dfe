"""Fixes of scripts that are their own config, held to what Python makes of their arithmetic.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.support.own_scripts import GPU, own_script, step_of

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.rules.test_own_scripts import (
    FIELDS,
    FLAGS,
    RAISED,
    ROUNDED,
    TOTAL,
    VALIDATED,
    _codes,
    _runs,
    put,
    root,
)


@pytest.mark.parametrize(
    ("arithmetic", "before", "after"),
    [
        (TOTAL, "B = 32  # micro-batch", "B = 16  # micro-batch"),
        (VALIDATED.replace("24 *", "96 *"), "B = 32 ", "B = 16 "),
        (FIELDS, "device_batch_size: int = 32  # of one", "device_batch_size: int = 16  # of one"),
        (FLAGS, "type=int, default=32)", "type=int, default=16)"),
        (TOTAL.replace("{B}", 'int(os.environ.get("B", {B}))'), '("B", 32)', '("B", 16)'),
        (TOTAL.replace("{B}", "2**5"), "B = 2**5  #", "B = 2**4  #"),
    ],
    ids=["constant", "validation", "field", "flag", "environment", "power"],
)
def test_one_number_changes_where_a_total_is_given(
    root: Path, arithmetic: str, before: str, after: str
) -> None:
    text = own_script(arithmetic.replace("{B}", "32"))
    script = put(root, text)
    assert nanolint("--gpu", GPU, "train.py").status == 1
    outcome = nanolint("--fix", "--gpu", GPU, "train.py")
    fixed = script.read_text()
    assert fixed == text.replace(before, after), outcome.out
    assert step_of(text)[0] == 32
    assert step_of(fixed) == (16, step_of(text)[1])


@pytest.mark.parametrize(
    ("line", "fixed", "words"),
    [
        (
            "python train.py --device-batch-size 32  # small",
            "python train.py --device-batch-size 16  # small",
            ("--device-batch-size", "16"),
        ),
        (
            "python -m train --seed=7 > log",
            "python -m train --seed=7 --device-batch-size=16 > log",
            ("--seed=7", "--device-batch-size=16"),
        ),
        (
            "uv run train.py",
            "uv run train.py --device-batch-size=16",
            ("--device-batch-size=16",),
        ),
    ],
    ids=["flag", "absent", "no flag at all"],
)
def test_the_flag_is_fixed_where_it_stands_or_put_there(
    root: Path, line: str, fixed: str, words: tuple[str, ...]
) -> None:
    text = own_script(FLAGS.replace("{B}", "32"))
    script = put(root, text)
    (root / "run.sh").write_text(f"set -e\n{line}\n")
    found = nanolint("--gpu", GPU, "run.sh")
    assert found.status == 1
    assert "run.sh:2" in found.out
    outcome = nanolint("--fix", "--gpu", GPU, "run.sh")
    assert (root / "run.sh").read_text() == f"set -e\n{fixed}\n", outcome.out
    assert script.read_text() == text, "the default is for other launches, too"
    assert step_of(text, words=words)[0] == 16
    before = tuple(word for word in words if not word.startswith("--device") and word != "16")
    assert step_of(text, words=words)[1] == step_of(text, words=before)[1]


@pytest.mark.parametrize(
    "arithmetic", [TOTAL, ROUNDED, VALIDATED, RAISED], ids=["t", "r", "v", "raised"]
)
@pytest.mark.parametrize("batch", [1, 6, 24, 64])
@pytest.mark.parametrize("world_size", [1, 3, 8])
def test_what_python_refuses_or_rounds_is_found_and_mended(
    root: Path, arithmetic: str, batch: int, world_size: int
) -> None:
    text = own_script(arithmetic.replace("{B}", str(batch)))
    (root / "train.py").write_text(text)
    codes, wanted = _codes(root, world_size), 64 * 512
    try:
        _, tokens = step_of(text, world_size)
    except AssertionError:
        assert codes == {"NL415"}
    else:
        assert codes == (set() if tokens == wanted else {"NL417"})
    options = ("--fix", "--unsafe-fixes", f"--world-size={world_size}")
    nanolint(*options, "--select", "NL415,NL417", "train.py")
    fixed = (root / "train.py").read_text()
    if fixed != text:
        assert step_of(fixed, world_size)[1] == wanted
        assert not _codes(root, world_size)
    elif codes:
        assert not any(_runs(arithmetic, each, world_size) for each in range(1, batch + 1))


__all__ = ["root"]  # fixtures
