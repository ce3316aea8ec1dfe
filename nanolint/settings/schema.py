"""Settings: what a project sets in ``[tool.nanolint]``, and where each value came from."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping  # noqa: TC003 (pydantic reads the annotations)
from dataclasses import field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from nanolint.errors import Unusable, UserError
from nanolint.files.door import is_file, read_bytes
from nanolint.files.notes import memo
from nanolint.frozen import dataclass
from nanolint.settings.formats import FORMATS
from nanolint.units import listed

if TYPE_CHECKING:
    from pydantic import ConfigDict
    from pydantic_core import ErrorDetails

PYPROJECT = "pyproject.toml"
BOM = b"\xef\xbb\xbf"
MOST_BYTES = 4 << 20
FILE_NAMES = ("nanolint.toml", PYPROJECT)  # in this order within one folder
DEFAULT = "default"
LAUNCH_LINE = "the launch line"  # as the origin of what it says

# Folders that hold no configs of the project's own.
EXCLUDED = (
    ".direnv .eggs .git .hg .ipynb_checkpoints .mypy_cache .nox .pytest_cache "
    ".ruff_cache .svn .tox .venv __pycache__ build dist node_modules site-packages venv"
)

# From pydantic's words to TOML's.
WORDING = (
    ("Input should be a valid integer", "must be an integer"),
    ("Input should be a valid array", "must be a list"),
    ("Input should be an object", "must be a table"),
    ("Input should be a valid", "must be a"),
    ("Input should be", "must be"),
)


class SettingsError(UserError):
    """A settings file that cannot be used. Its text is one line that names the file and the key."""


def _kebab(name: str) -> str:
    return name.replace("_", "-")


PYDANTIC_CONFIG: ConfigDict = {"extra": "forbid", "strict": True, "alias_generator": _kebab}


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
    validates the tables (see ``_validate``).
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


KEYS = tuple(_kebab(setting.name) for setting in fields(Settings))
TARGET_KEYS = tuple(_kebab(setting.name) for setting in fields(TargetTable))


@dataclass(frozen=True)
class Sourced:
    """Settings with the place that each key came from, and the file that the project sets them in.

    ``origins`` maps a key, as written in TOML, to a file, an option or a variable; a key that
    nobody set is missing. Patterns and paths in ``settings`` are relative to ``root``.
    """

    settings: Settings = field(default_factory=Settings)
    origins: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None

    @property
    def root(self) -> Path:
        """The folder that patterns and paths are relative to."""
        return self.file.parent if self.file else Path.cwd()

    def origin(self, key: str) -> str:
        """Where ``key`` got its value from."""
        return self.origins.get(key, DEFAULT)

    def from_command(self, key: str) -> bool:
        """Whether an option of the command, or the launch line that it judges, gave ``key``."""
        return self.origin(key).startswith("--") or self.origin(key) == LAUNCH_LINE

    def place(self, key: str) -> str:
        """Where to look for what is wrong with ``key``: an option, or a file and the key in it."""
        origin = self.origin(key)
        return origin if origin == f"--{key}" else f"{origin}: {key}"

    def override(self, origin: str, **values: Any) -> Sourced:
        """These settings with ``values`` on top of them, which came from ``origin``."""
        origins = {**self.origins, **{_kebab(name): origin for name in values}}
        return replace(self, settings=replace(self.settings, **values), origins=origins)

    def with_table(self, table: dict[str, Any], origin: str) -> Sourced:
        """These settings with a table on top, written as in TOML. Raises SettingsError."""
        given = _validate(table, origin)
        names = [key.replace("-", "_") for key in table]
        return self.override(origin, **{name: getattr(given, name) for name in names})


def discover(folder: Path) -> Sourced:
    """The settings of the nearest folder, from ``folder`` upwards, that has any."""
    for ancestor in (folder, *folder.parents):
        found = _in_folder(ancestor)
        if found is not None:
            return found
    return Sourced()


@memo
def _in_folder(folder: Path) -> Sourced | None:
    for name in FILE_NAMES:
        path = folder / name
        if is_file(path):
            found = _load(path)
            if found is not None:
                return found
    return None


def load(path: Path) -> Sourced:
    """The settings in the file that the user named."""
    return _load(path) or Sourced(file=path)


def _load(path: Path) -> Sourced | None:
    """The settings in ``path``; None for a pyproject.toml that is silent about nanolint."""
    table = _read(path)
    where = str(path)
    if path.name == PYPROJECT:
        tool = table.get("tool")
        if not isinstance(tool, dict) or "nanolint" not in tool:
            return None
        table, where = tool["nanolint"], f"{path}: [tool.nanolint]"
        if not isinstance(table, dict):
            raise SettingsError(f"{where} must be a table")
    elif isinstance(table.get("tool"), dict) and "nanolint" in table["tool"]:
        raise SettingsError(
            f"{path}: leave out [tool.nanolint]; in this file the keys stand without a table"
        )
    return Sourced(_validate(table, where), dict.fromkeys(table, str(path)), path)


def _read(path: Path) -> dict[str, Any]:
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib  # type: ignore[import-not-found,no-redef,unused-ignore]

    try:
        content = read_bytes(path, MOST_BYTES)
        if content.startswith(BOM):
            raise SettingsError(
                f"{path}: begins with a byte order mark, which TOML does not allow; save it without"
            )
        table: dict[str, Any] = tomllib.loads(content.decode())
    except Unusable as error:
        raise SettingsError(f"{path}: {error}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: not UTF-8, so not TOML") from error
    except tomllib.TOMLDecodeError as error:
        reason = str(error)
        raise SettingsError(f"{path}: not valid TOML: {reason[:1].lower()}{reason[1:]}") from error
    except RecursionError as error:
        raise SettingsError(f"{path}: nested too deeply") from error
    return table


def _validate(table: dict[str, Any], where: str) -> Settings:
    if not table:
        return Settings()
    import json

    import pydantic

    if isinstance(table.get("gpu"), str):  # one name instead of a list of them
        table = {**table, "gpu": [table["gpu"]]}
    try:
        # By way of JSON, where strict validation still takes a list for a tuple.
        return pydantic.TypeAdapter(Settings).validate_json(json.dumps(table, default=str))
    except pydantic.ValidationError as error:
        raise SettingsError(f"{where}: {_describe(error.errors()[0])}") from None


def _describe(error: ErrorDetails) -> str:
    """A validation error in one line, led by the key."""
    path = [str(part) for part in error["loc"]]
    if error["type"] == "unexpected_keyword_argument":
        import difflib

        *table, key = path
        keys = TARGET_KEYS if table else KEYS
        near = difflib.get_close_matches(key.lower(), keys, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(keys)}"
        return f"unknown key {'.'.join(path)!r}; {hint}"
    if error["type"] in ("missing", "missing_argument"):
        return f"{'.'.join(path)} is missing"
    message = error["msg"].removeprefix("Value error, ")
    if error["type"] == "value_error":  # of a table as a whole; its text names the key
        return ": ".join(filter(None, (".".join(path), message)))
    for theirs, ours in WORDING:
        message = message.replace(theirs, ours)
    return f"{'.'.join(path)} {message}, not {_format_value(error['input'])}"


def _format_value(value: Any) -> str:
    """``value`` as TOML would write it, shortened."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
