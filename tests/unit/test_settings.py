"""Settings files: which one counts, what it may say, and how a mistake in it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.files import cache
from nanolint.settings import schema
from nanolint.settings.schema import discover, load
from nanolint.settings.tables import KEYS, Settings, SettingsError

if TYPE_CHECKING:
    from pathlib import Path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


class TestDiscovery:
    def test_the_nearest_folder_wins_whole(self, tmp_path: Path) -> None:
        write(tmp_path / "nanolint.toml", 'gpu = "rtx-4070"\nignore = ["NL105"]')
        near = write(tmp_path / "config" / "nanolint.toml", 'gpu = "rtx-3060"')
        found = discover(tmp_path / "config" / "deep")
        assert found.file == near
        assert found.settings == Settings(gpu=("rtx-3060",))

    def test_a_pyproject_that_is_silent_about_nanolint_is_passed_over(self, tmp_path: Path) -> None:
        above = write(tmp_path / "pyproject.toml", "[tool.nanolint]\nworld-size = 8")
        write(tmp_path / "project" / "pyproject.toml", "[tool.ruff]\nline-length = 100")
        found = discover(tmp_path / "project")
        assert (found.file, found.settings.world_size) == (above, 8)

    def test_an_empty_table_ends_the_search(self, tmp_path: Path) -> None:
        write(tmp_path / "nanolint.toml", "world-size = 8")
        write(tmp_path / "project" / "pyproject.toml", "[tool.nanolint]")
        assert discover(tmp_path / "project").settings == Settings()

    def test_beside_each_other_nanolint_toml_wins(self, tmp_path: Path) -> None:
        write(tmp_path / "pyproject.toml", "[tool.nanolint]\nworld-size = 8")
        own = write(tmp_path / "nanolint.toml", "")
        assert discover(tmp_path).file == own


class TestValues:
    def test_each_key_knows_its_origin(self, tmp_path: Path) -> None:
        path = write(tmp_path / "nanolint.toml", 'in-use = "2GiB"')
        found = load(path)
        assert found.origin("in-use") == str(path)
        assert found.origin("gpu") == "default"
        assert found.override("--in-use", in_use="1GiB").origin("in-use") == "--in-use"

    def test_gpu_is_one_name_or_several(self, tmp_path: Path) -> None:
        one = load(write(tmp_path / "a.toml", 'gpu = "rtx-3060"'))
        several = load(write(tmp_path / "b.toml", 'gpu = ["rtx-3060", "8xA100-40GB"]'))
        assert one.settings.gpu == ("rtx-3060",)
        assert several.settings.gpu == ("rtx-3060", "8xA100-40GB")

    def test_tables(self, tmp_path: Path) -> None:
        text = '[per-file-ignores]\n"old/*" = ["NL1"]\n[severity]\nNL105 = "warning"'
        settings = load(write(tmp_path / "nanolint.toml", text)).settings
        assert settings.per_file_ignores == {"old/*": ("NL1",)}
        assert settings.severity == {"NL105": "warning"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a = [", ": not valid TOML: "),
        ("worldsize = 8", "unknown key 'worldsize'; did you mean 'world-size'?"),
        ("world_size = 8", "unknown key 'world_size'; did you mean 'world-size'?"),
        ("zzzzzz = 8", f"unknown key 'zzzzzz'; the keys are {', '.join(KEYS)}"),
        ('world-size = "8"', "world-size must be an integer, not '8'"),
        ("world-size = true", "world-size must be an integer, not true"),
        ("world-size = 0", "world-size must be at least 1"),
        ("gpu = 3060", "gpu must be a list, not 3060"),
        ('select = "NL1"', "select must be a list, not 'NL1'"),
        ('select = ["NL1", 3]', "select.1 must be a string, not 3"),
        ('platform = "beos"', "platform must be 'linux', 'windows', 'wsl' or 'macos', not 'beos'"),
        ("torch-version = 2.5", "torch-version must be a string, not 2.5"),
        ('torch-version = "new"', 'torch-version must look like "2.7"'),
        ("per-file-ignores = 3", "per-file-ignores must be a table, not 3"),
        ('severity = {NL1 = "bad"}', "severity.NL1 must be 'error', 'warning' or 'info', not"),
        ("exclude = 2026-01-01", "exclude must be a list, not '2026-01-01'"),
    ],
)
def test_a_mistake_is_one_line_with_file_and_key(tmp_path: Path, text: str, told: str) -> None:
    path = write(tmp_path / "nanolint.toml", text)
    with pytest.raises(SettingsError) as error:
        load(path)
    line = str(error.value)
    assert line.startswith(f"{path}: ")
    assert told in line
    assert "\n" not in line


def test_a_pyproject_mistake_names_the_table(tmp_path: Path) -> None:
    path = write(tmp_path / "pyproject.toml", "[tool.nanolint]\nwidth = 8")
    with pytest.raises(SettingsError, match=r"pyproject.toml: \[tool.nanolint\]: unknown key"):
        load(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nanolint\.toml: no such file"):
        load(tmp_path / "nanolint.toml")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "nanolint.toml"
    path.write_bytes(b"gpu = '\xff'")
    with pytest.raises(SettingsError, match="not UTF-8"):
        load(path)


WRITTEN = {
    "one card": 'gpu = "rtx-4070"',
    "lists": 'gpu = ["rtx-3060", "t4"]\nselect = ["NL1"]\nignore = []\nexclude = ["a", "b/*"]',
    "numbers and words": 'world-size = 4\ntorch-version = "2.7"\nplatform = "wsl"\nin-use = "auto"',
    "tables": '[per-file-ignores]\n"a.py" = ["NL1"]\n[severity]\nNL102 = "warning"',
    "targets": '[[target]]\ngpu = "t4"\n[[target]]\ngpu = "a100"\ncount = 8\nfiles = ["big/*"]',
}


class TestKept:
    @pytest.fixture(autouse=True)
    def _installed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
        monkeypatch.setattr(cache, "_build", lambda: "one build")

    @pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
    def test_what_is_right_once_is_the_same_without_pydantic(
        self, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = write(tmp_path / "nanolint.toml", text)
        first = load(path)
        monkeypatch.delattr(schema, "_validated")
        again = load(write(tmp_path / "other" / "nanolint.toml", text))
        assert again.settings == first.settings
        assert first.settings != Settings()

    def test_what_is_wrong_is_told_each_time(self, tmp_path: Path) -> None:
        path = write(tmp_path / "nanolint.toml", "world-size = 0")
        for _ in range(2):
            with pytest.raises(SettingsError, match="at least 1"):
                load(path)
