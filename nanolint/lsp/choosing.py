"""The card that the user picks in the editor: what a command was told, and what can be offered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.errors import UserError
from nanolint.frozen import dataclass
from nanolint.gpus import catalogue
from nanolint.gpus.lookup import GpuError, find
from nanolint.settings.targets import AUTO

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.gpus.gpu import Gpu

SELECT_TARGET, LIST_GPUS = "nanolint.selectTarget", "nanolint.listGpus"

# A short list for editors without a picker of their own: what most people rent or have.
USUAL = (
    *("RTX 3060 12GB", "RTX 3090", "RTX 4070", "RTX 4090", "RTX 5090"),
    *("T4", "L4", "A100 40GB", "A100 80GB", "H100 SXM 80GB"),
)
SETTINGS_DECIDE = "what the settings say"

SESSION, SETTINGS = "session", "settings"
KEYS = frozenset({"gpu", "scope", "uri"})


class NoChoice(UserError):
    """Arguments that choose no card; the text is one line for the user."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A card by a name that ``find`` knows; None leaves it to the settings.

    ``in_settings``: it is to be written into the settings of the config ``uri``.
    """

    gpu: str | None
    in_settings: bool = False
    uri: str | None = None


def choice(arguments: Sequence[object]) -> Choice | None:
    """What the arguments of the command say; None: nothing, so that the user has to be asked.

    A name, null, or ``{"gpu": name or null, "scope": "session" or "settings", "uri": config}``.
    Raises NoChoice.
    """
    if not arguments:
        return None
    (given, *more) = arguments
    if more:
        raise NoChoice(f"expected one argument, found {len(arguments)}")
    if given is None or isinstance(given, str):
        return Choice(_known(given))
    fields = _fields(given)
    if fields.keys() - KEYS:
        raise NoChoice(f"expected gpu, scope and uri, found {', '.join(map(str, fields))}")
    scope, uri = fields.get("scope", SESSION), fields.get("uri")
    if scope not in (SESSION, SETTINGS):
        raise NoChoice(f"scope must be {SESSION!r} or {SETTINGS!r}")
    if uri is not None and not isinstance(uri, str):
        raise NoChoice("uri must be a string")
    gpu = _known(fields.get("gpu"))
    if gpu is None and scope == SETTINGS:
        raise NoChoice("name the card to write into the settings")
    return Choice(gpu, scope == SETTINGS, uri)


def listed() -> tuple[Gpu, ...]:
    """Every card that can be chosen by name, the newest first."""
    return tuple(reversed(catalogue.load()))


def _fields(given: object) -> Mapping[str, object]:
    """The fields of a JSON object, which arrives as a mapping or as an object with attributes."""
    if isinstance(given, dict):
        return given
    as_dict = getattr(given, "_asdict", None)
    if as_dict is not None:
        found: Mapping[str, object] = as_dict()
        return found
    raise NoChoice("expected the name of a GPU")


def _known(gpu: object) -> str | None:
    if gpu is None:
        return None
    if not isinstance(gpu, str):
        raise NoChoice("gpu must be a string")
    if not gpu.isprintable() or set(gpu) & set("\"'\\"):
        raise NoChoice(f"not the name of a GPU: {gpu!a}")
    if gpu.lower() != AUTO:
        try:
            find(gpu)
        except GpuError as error:
            raise NoChoice(str(error)) from error
    return gpu
