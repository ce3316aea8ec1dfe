"""Tables of settings as they are written, validated.

pydantic says what is wrong with one. What it has found right once is taken as it is from then on,
without pydantic: its import and the making of a validator take longer than many a command.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from nanolint.files import cache
from nanolint.settings.tables import KEYS, TARGET_KEYS, Settings, SettingsError, TargetTable

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

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
