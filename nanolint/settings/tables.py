"""The tables of settings: every key, with its type and its default."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping  # noqa: TC003 (pydantic reads the annotations)
from dataclasses import field, fields
from typing import TYPE_CHECKING, ClassVar, Literal

from nanolint.errors import UserError
from nanolint.frozen import dataclass
from nanolint.settings.formats import FORMATS
from nanolint.units import listed

if TYPE_CHECKING:
    from pydantic import ConfigDict

# Folders that hold no configs of the project's own.
EXCLUDED = (
    ".direnv .eggs .git .hg .ipynb_checkpoints .mypy_cache .nox .pytest_cache "
    ".ruff_cache .svn .tox .venv __pycache__ build dist node_modules site-packages venv"
)


class SettingsError(UserError):
    """A settings file that cannot be used. Its text is one line that names the file and the key."""


def kebab(name: str) -> str:
    return name.replace("_", "-")


PYDANTIC_CONFIG: ConfigDict = {"extra": "forbid", "strict": True, "alias_generator": kebab}


@dataclass(frozen=True)
class TargetTable:
    """One ``[[tool.nanolint.target]]``: a card and the files that run on it.

    Without ``files`` it counts for every file that no other table names.
    """

    gpu: str
    count: int | None = None
    in_use: str | None = None
    files: tuple[str, ...] = ()

    __pydantic_config__: ClassVar[ConfigDict] = PYDANTIC_CONFIG

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 1:
            raise ValueError("count must be at least 1")


def system() -> Literal["linux", "windows"]:
    """Where a run is taken to be, unless somebody says: a Mac has no card for it."""
    return "windows" if sys.platform == "win32" else "linux"


@dataclass(frozen=True)
class Settings:
    """Every setting, with its default. In TOML the names are written with hyphens.

    A plain dataclass, so that a run without a settings file never imports pydantic, which
    validates the tables (``validation.py``).
    """

    gpu: tuple[str, ...] = ()
    target: tuple[TargetTable, ...] = ()
    in_use: str | None = None
    world_size: int | None = None
    train_script: str | None = None
    torch_version: str | None = None
    platform: Literal["linux", "windows", "wsl", "macos"] = field(default_factory=system)
    allocator: Literal["default", "expandable"] = "default"
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    severity: Mapping[str, Literal["error", "warning", "info"]] = field(default_factory=dict)
    fixable: tuple[str, ...] = ("ALL",)
    unfixable: tuple[str, ...] = ()
    extend_safe_fixes: tuple[str, ...] = ()
    extend_unsafe_fixes: tuple[str, ...] = ()
    exclude: tuple[str, ...] = tuple(EXCLUDED.split())
    extend_exclude: tuple[str, ...] = ()
    output_format: str = "full"

    __pydantic_config__: ClassVar[ConfigDict] = PYDANTIC_CONFIG

    def __post_init__(self) -> None:
        if self.world_size is not None and self.world_size < 1:
            raise ValueError("world-size must be at least 1")
        if self.torch_version is not None and not re.match(r"\d+\.\d+", self.torch_version):
            raise ValueError('torch-version must look like "2.7"')
        if self.output_format not in FORMATS:
            known = listed(map(repr, FORMATS), "or")
            raise ValueError(f"output-format must be {known}, not {self.output_format!r}")


KEYS = tuple(kebab(setting.name) for setting in fields(Settings))
TARGET_KEYS = tuple(kebab(setting.name) for setting in fields(TargetTable))
