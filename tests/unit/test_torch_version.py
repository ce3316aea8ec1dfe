"""The PyTorch version that a project asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.files.door import forget
from nanolint.settings.torch_version import (
    NEWEST,
    Asked,
    find_native_packages,
    find_torch_version,
    read_specifier,
)
from nanolint.tape.torch import native_doubts

if TYPE_CHECKING:
    from pathlib import Path

LOCK = '[[package]]\nname = "torchvision"\nversion = "0.20.0"\n\n[[package]]\nname = "torch"\n'


@pytest.mark.parametrize(
    ("name", "text", "version"),
    [
        ("requirements.txt", "numpy\ntorch==2.5.1+cu124\n", (2, 5)),
        ("requirements-gpu.txt", "torch >= 2.1, < 3  # for compile\n", None),
        ("requirements.txt", "torchvision==0.20\npytorch-lightning==2.0\n", None),
        ("requirements.txt", "# torch==1.13\ntorch\n", None),
        ("requirements.txt", "torch<2.5\n", (2, 4)),
        ("uv.lock", f'{LOCK}version = "2.6.0"\n', (2, 6)),
        ("poetry.lock", f'{LOCK}version = "2.4.1"\n', (2, 4)),
        ("pyproject.toml", '[project]\ndependencies = ["torch~=2.3.0", "numpy"]\n', (2, 3)),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^2.2"\n', None),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "~2.2"\n', (2, 2)),
        ("pyproject.toml", 'torch = {version = "2.5.1", source = "cu124"}\n', (2, 5)),
        ("pyproject.toml", '[project]\ndependencies = ["torchdata>=0.9"]\n', None),
        ("pyproject.toml", '[project]\ndependencies = ["torch==2.9.1"]\n', (2, 9)),
        ("pdm.lock", f'{LOCK}version = "2.12.0"\n', (2, 12)),
        ("uv.lock", f'{LOCK}version = "2.9.1"\n\n{LOCK}version = "2.8.0+cpu"\n', (2, 8)),
        ("environment.yml", "dependencies:\n  - pytorch-cuda=12.1\n  - pytorch=2.3.1\n", (2, 3)),
        ("environment.yaml", "- conda-forge::pytorch==2.4\n", (2, 4)),
        ("environment.yml", "- pip:\n    - torch==2.10.0\n    - torchvision==0.25\n", (2, 10)),
    ],
)
def test_files(tmp_path: Path, name: str, text: str, version: tuple[int, int] | None) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert find_torch_version(tmp_path).version == version


@pytest.mark.parametrize(
    ("specifier", "version", "oldest"),
    [
        (">=2.0", None, (2, 0)),
        (">2.0, !=2.3.0", None, (2, 0)),
        (f">={NEWEST[0]}.{NEWEST[1] + 1}", (NEWEST[0], NEWEST[1] + 1), (NEWEST[0], NEWEST[1] + 1)),
        (">=2.0,<2.5", (2, 4), (2, 0)),
        (">=2.0,<2.5.1", (2, 5), (2, 0)),
        (">=2.0,<=2.6.0", (2, 6), (2, 0)),
        ("<2", (1, 13), None),
        ("<3", None, None),
        ("~=2.4.0", (2, 4), (2, 4)),
        ("~=2.4", None, (2, 4)),
        ("==2.4.*", (2, 4), (2, 4)),
        ("==2.*", None, (2, 0)),
        ("^1.12", (1, 13), (1, 12)),
        ("=2.3.1=py3.11_cuda12.1_cudnn8.9.2_0", (2, 3), (2, 3)),
    ],
)
def test_a_bound_is_no_pin(
    specifier: str, version: tuple[int, int] | None, oldest: tuple[int, int] | None
) -> None:
    assert read_specifier(specifier) == Asked(version, oldest)


def test_a_lock_knows_better_than_a_requirement(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('dependencies = ["torch>=2.0"]', encoding="utf-8")
    (tmp_path / "uv.lock").write_text(f'{LOCK}version = "2.6.0"', encoding="utf-8")
    assert find_torch_version(tmp_path).version == (2, 6)


def test_the_search_goes_up_to_the_repository_and_no_further(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.0", encoding="utf-8")
    repository = tmp_path / "repository"
    (repository / "config").mkdir(parents=True)
    assert find_torch_version(repository / "config").version == (2, 0)
    other = tmp_path / "other"
    (other / "config").mkdir(parents=True)
    (other / ".git").mkdir()
    assert find_torch_version(other / "config").version is None


def install(folder: Path, version: str, name: str = ".venv") -> None:
    home = folder / name / "lib" / "python3.12" / "site-packages"
    (home / f"torch-{version}.dist-info").mkdir(parents=True)
    (home / "torch").mkdir()
    (home / "torch_geometric-2.6.1.dist-info").mkdir()


@pytest.mark.parametrize("name", [".venv", "venv"])
def test_what_is_installed_beside_the_project(tmp_path: Path, name: str) -> None:
    install(tmp_path, "2.8.0+cu128", name)
    (tmp_path / "config").mkdir()
    assert find_torch_version(tmp_path / "config").version == (2, 8)


def test_an_environment_knows_better_than_a_bound_and_a_pin_better_than_that(
    tmp_path: Path,
) -> None:
    install(tmp_path, "2.10.0")
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("torch>=2.0\n", encoding="utf-8")
    assert find_torch_version(tmp_path).version == (2, 10)
    forget()
    requirements.write_text("torch==2.6.0\n", encoding="utf-8")
    assert find_torch_version(tmp_path).version == (2, 6)


@pytest.mark.parametrize(
    ("name", "text", "operation"),
    [
        ("requirements.txt", "torch\nnvidia-cutlass-dsl==4.7.1\n", "linear_cross_entropy"),
        ("pyproject.toml", 'dependencies = ["nvmath_python[cu12]>=0.6"]\n', "linalg.polar"),
        ("uv.lock", '[[package]]\nname = "nvmath-python"\nversion = "0.6.0"\n', "_foreach_mm"),
        ("requirements.txt", "torch  # not with nvidia-cutlass-dsl\nnvmath-python-docs\n", None),
    ],
)
def test_a_package_that_native_kernels_need_is_a_doubt_that_names_what_changes(
    tmp_path: Path, name: str, text: str, operation: str | None
) -> None:
    forget()
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text(text, encoding="utf-8")
    doubts = list(native_doubts(find_native_packages(tmp_path), (2, 15)))
    assert len(doubts) == (operation is not None)
    assert all(str(operation) in each and name in each for each in doubts)
    assert list(native_doubts(find_native_packages(tmp_path), (2, 12))) == []
