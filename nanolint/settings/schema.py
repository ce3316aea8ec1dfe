"""Settings: what a project sets in ``[tool.nanolint]``, and where each value came from.

pydantic says what is wrong with a table. What it has found right once is taken as it is from then
on, without pydantic: its import and the making of a validator take longer than many a command.
"""

from __future__ import annotations

import json
from dataclasses import field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanolint.errors import Unusable
from nanolint.files import cache
from nanolint.files.door import is_file, read_bytes
from nanolint.files.notes import memo
from nanolint.frozen import dataclass
from nanolint.settings.tables import KEYS, TARGET_KEYS, Settings, SettingsError, TargetTable, kebab

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

PYPROJECT = "pyproject.toml"
BOM = b"\xef\xbb\xbf"
MOST_BYTES = 4 << 20
FILE_NAMES = ("nanolint.toml", PYPROJECT)  # in this order within one folder
DEFAULT = "default"
LAUNCH_LINE = "the launch line"  # as the origin of what it says


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
        origins = {**self.origins, **{kebab(name): origin for name in values}}
        return replace(self, settings=replace(self.settings, **values), origins=origins)

    def with_table(self, table: dict[str, Any], origin: str) -> Sourced:
        """These settings with a table on top, written as in TOML. Raises SettingsError."""
        given = validate(table, origin)
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
            f"{path}: leave out [tool.nanolint]; in this file the keys need no table"
        )
    return Sourced(validate(table, where), dict.fromkeys(table, str(path)), path)


def _read(path: Path) -> dict[str, Any]:
    from nanolint.source.settings_text import NoSettings
    from nanolint.source.toml_text import load_toml

    try:
        content = read_bytes(path, MOST_BYTES)
        if content.startswith(BOM):
            raise SettingsError(
                f"{path}: it begins with a byte order mark, which TOML forbids; save it without one"
            )
        return load_toml(content.decode())
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: it is not UTF-8, as TOML has to be") from error
    except (Unusable, NoSettings) as error:
        raise SettingsError(f"{path}: {error}") from error


# From pydantic's words to TOML's.
WORDING = (
    ("Input should be a valid integer", "must be an integer"),
    ("Input should be a valid array", "must be a list"),
    ("Input should be an object", "must be a table"),
    ("Input should be a valid", "must be a"),
    ("Input should be", "must be"),
)


def validate(table: dict[str, Any], where: str) -> Settings:
    """The settings of a table. Raises SettingsError."""
    if not table:
        return Settings()
    if isinstance(table.get("gpu"), str):  # one name instead of a list of them
        table = {**table, "gpu": [table["gpu"]]}
    text = json.dumps(table, default=str)
    right = f"settings {text}"
    if cache.find(right) is not None:
        return Settings(**_taken(json.loads(text)))
    found = _validated(text, where)
    cache.keep(right, b"right")
    return found


def _validated(text: str, where: str) -> Settings:
    import pydantic

    try:
        # By way of JSON, where strict validation still takes a list for a tuple.
        return _adapter().validate_json(text)
    except pydantic.ValidationError as error:
        raise SettingsError(f"{where}: {_describe(error.errors()[0])}") from None


@lru_cache(maxsize=1)  # to make one takes 4 ms, which an editor would wait for at each keystroke
def _adapter() -> TypeAdapter[Settings]:
    import pydantic

    return pydantic.TypeAdapter(Settings)


def _taken(table: dict[str, Any]) -> dict[str, Any]:
    """The values of a table that is right, as pydantic makes them, by their names."""
    found = {name.replace("-", "_"): _value(value) for name, value in table.items()}
    if "target" in table:
        found["target"] = tuple([TargetTable(**_taken(each)) for each in table["target"]])
    return found


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_value, value))
    if isinstance(value, dict):
        return {name: _value(each) for name, each in value.items()}
    return value


def _describe(error: ErrorDetails) -> str:
    """A validation error in one line, led by the key."""
    path = [str(part) for part in error["loc"]]
    if error["type"] == "unexpected_keyword_argument":
        import difflib

        *table, key = path
        keys = TARGET_KEYS if table else KEYS
        near = difflib.get_close_matches(key.lower(), keys, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(keys)}"
        return f"unknown key {_shortened('.'.join(path))!r}; {hint}"
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
    return _shortened(str(value).lower() if isinstance(value, bool) else repr(value))


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
