"""Which GPUs a run is judged for: named, set in the environment or the settings, or found here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from nanolint.settings import DEFAULT, SettingsError, Sourced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.gpus.gpu import Target
    from nanolint.gpus.local import LocalGpu

OPTION, VARIABLE, LOCAL = "--gpu", "NANOLINT_GPU", "the local card"
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Choice:
    """The targets, and where they were named. Without any, ``origin`` is ``DEFAULT``."""

    targets: tuple[Target, ...]
    origin: str


def choose(sourced: Sourced, environment: Mapping[str, str]) -> Choice:
    """The targets from the first place that names any: option, variable, settings, this machine.

    A card that is merely found here counts with its total, so that what is written into a file
    never depends on which programs are open; ``auto`` counts with what is free now.
    """
    origin = sourced.origin("gpu")
    names: tuple[str, ...] = sourced.settings.gpu
    listed = environment.get(VARIABLE, "").strip()
    if listed and origin != OPTION:
        names, origin = tuple(name.strip() for name in listed.split(",") if name.strip()), VARIABLE
    if names:
        place = VARIABLE if origin == VARIABLE else sourced.place("gpu")
        targets = tuple(dict.fromkeys(_target(name, place) for name in names))
    else:
        local = _local_gpu()
        origin = LOCAL if local else DEFAULT
        targets = (replace(_auto(local), in_use_bytes=0),) if local else ()
    in_use = sourced.settings.in_use
    if in_use is not None:
        held = _in_use_bytes(in_use, sourced.place("in-use"))
        targets = tuple(replace(target, in_use_bytes=held) for target in targets)
    return Choice(targets, origin)


def _target(name: str, place: str) -> Target:
    from nanolint.gpus.lookup import GpuError, find

    if name.lower() == AUTO:
        local = _local_gpu()
        if local is None:
            raise SettingsError(f"{place}: {AUTO} needs an NVIDIA card and its driver; found none")
        return _auto(local)
    try:
        return find(name)
    except GpuError as error:
        raise SettingsError(f"{place}: {error}") from error


def _auto(local: LocalGpu) -> Target:
    from nanolint.gpus.gpu import Target

    return Target(local.gpu, in_use_bytes=local.in_use_bytes)


def _in_use_bytes(size: str, place: str) -> int:
    from nanolint.gpus.sizes import parse_size

    try:
        return parse_size(size)
    except ValueError as error:
        raise SettingsError(f"{place}: {error}") from error


@lru_cache(maxsize=1)
def _local_gpu() -> LocalGpu | None:
    from nanolint.gpus.local import local_gpu

    return local_gpu()
