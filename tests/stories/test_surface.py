"""What programs and rule packs may build on: documented, typed, and importable as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import nanolint
from nanolint import rule
from nanolint.errors import UserError
from tests.support.sizes import MODEL

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import assert_type

    from nanolint.diagnostics import Diagnostic

    assert_type(nanolint.lint_text(""), tuple[Diagnostic, ...])
    assert_type(nanolint.fix_text("", unsafe=True), str)
    assert_type(nanolint.explain("", gpu="t4"), dict[str, Any])
    assert_type(nanolint.__version__, str)

CONFIG = "batch_size = 16\ngradient_accumulation_steps = 32\nblock_size = 1024\n" + MODEL


@pytest.mark.parametrize("module", [nanolint, rule], ids=lambda module: module.__name__)
def test_all_that_is_promised_is_there(module: Any) -> None:
    assert sorted(set(module.__all__)) == sorted(module.__all__)
    for name in module.__all__:
        assert hasattr(module, name)


def test_settings_and_project_around_a_path_count(tmp_path: Path) -> None:
    (tmp_path / "nanolint.toml").write_text('gpu = "rtx-3060"\nignore = ["NL1"]\n')
    assert nanolint.lint_text(CONFIG, path=tmp_path / "x.py") == ()
    (tmp_path / "nanolint.toml").write_text('gpu = "rtx-3060"\n')
    (finding,) = nanolint.lint_text(CONFIG, path=tmp_path / "x.py")
    assert finding.code == "NL102"
    assert not (tmp_path / "x.py").exists()


def test_the_settings_decide_what_is_safe(tmp_path: Path) -> None:
    (tmp_path / "nanolint.toml").write_text('gpu = "rtx-3060"\nextend-unsafe-fixes = ["NL1"]\n')
    assert nanolint.fix_text(CONFIG, path=tmp_path / "x.py") == CONFIG
    assert nanolint.fix_text(CONFIG, path=tmp_path / "x.py", unsafe=True) != CONFIG


@pytest.mark.parametrize(
    ("text", "gpu", "message"),
    [
        ("batch_size = = 1\n", "t4", "not valid Python"),
        ("print('hello')\n", "t4", "holds no run"),
        (CONFIG, "rtx-9999", "rtx-9999"),
    ],
)
def test_what_cannot_be_explained_is_one_line(text: str, gpu: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        nanolint.explain(text, gpu=gpu)
    assert "\n" not in str(caught.value)
