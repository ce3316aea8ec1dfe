"""Another GPU in a settings file: that value and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from nanolint.lsp.settings_file import NotEditable, new_file, with_gpu
from nanolint.settings.schema import load

NANOLINT, PYPROJECT = Path("nanolint.toml"), Path("pyproject.toml")


def rewritten(path: Path, text: str) -> str:
    edit = with_gpu(path, text, "RTX 4070")
    return text[: edit.start] + edit.replacement + text[edit.end :]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (NANOLINT, 'gpu = "A10"  # mine\n', 'gpu = "RTX 4070"  # mine\n'),
        (NANOLINT, "gpu='A10'", 'gpu="RTX 4070"'),
        (NANOLINT, 'gpu = [\n  "A10",  # old\n  "T4",\n]\n', 'gpu = "RTX 4070"\n'),
        (NANOLINT, "", 'gpu = "RTX 4070"\n'),
        (
            NANOLINT,
            '# ours\nignore = ["NL1"]\n[severity]\nNL103 = "info"\n',
            'gpu = "RTX 4070"\n# ours\nignore = ["NL1"]\n[severity]\nNL103 = "info"\n',
        ),
        (
            PYPROJECT,
            '[a]\r\nname = "ä"\r\n[tool.nanolint]  # x\r\nignore = []\r\n',
            '[a]\r\nname = "ä"\r\n[tool.nanolint]  # x\r\ngpu = "RTX 4070"\r\nignore = []\r\n',
        ),
        (
            PYPROJECT,
            '[a]\ngpu = "A10"\n[tool.nanolint]\nselect = ["NL1"]\ngpu = "A10"\n[b]\ngpu = "A10"\n',
            '[a]\ngpu = "A10"\n[tool.nanolint]\nselect = ["NL1"]\ngpu = "RTX 4070"\n'
            '[b]\ngpu = "A10"\n',
        ),
        (PYPROJECT, "[tool.nanolint]", '[tool.nanolint]\ngpu = "RTX 4070"'),
    ],
)
def test_the_value_changes_and_everything_else_stays(path: Path, before: str, after: str) -> None:
    assert rewritten(path, before) == after


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (NANOLINT, 'gpu = "A10\n'),
        (NANOLINT, '[[target]]\ngpu = "A10"\n'),
        (NANOLINT, '"gpu" = "A10"\n'),
        (PYPROJECT, '[project]\nname = "x"\n'),
        (PYPROJECT, 'tool.nanolint.gpu = "A10"\n'),
        (PYPROJECT, '[tool]\nnanolint = {gpu = "A10"}\n'),
        (PYPROJECT, 'x = """\n[tool.nanolint]\ngpu = "A10"\n"""\n[tool.nanolint]\nignore = []\n'),
    ],
)
def test_a_file_that_only_a_person_can_change_is_left_alone(path: Path, text: str) -> None:
    with pytest.raises(NotEditable) as raised:
        with_gpu(path, text, "RTX 4070")
    assert path.name in str(raised.value) and "\n" not in str(raised.value)


def test_a_new_file_is_one_that_nanolint_reads(tmp_path: Path) -> None:
    path = tmp_path / "nanolint.toml"
    path.write_text(new_file("RTX 4070"))
    assert load(path).settings.gpu == ("RTX 4070",)
