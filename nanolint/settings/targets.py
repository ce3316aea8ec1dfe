"""Which GPUs a run is judged for: named, set in the environment or the settings, or found here."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from nanolint.files import notes
from nanolint.files.repository import matches
from nanolint.frozen import dataclass
from nanolint.settings.schema import DEFAULT, Sourced
from nanolint.settings.tables import SettingsError
from nanolint.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from nanolint.gpus.gpu import Machine
    from nanolint.gpus.local import LocalGpu
    from nanolint.settings.tables import Settings, TargetTable

Claims: TypeAlias = "tuple[tuple[tuple[str, ...], Machine], ...]"  # patterns of files, and a card

OPTION, VARIABLE, LOCAL = "--gpu", "NANOLINT_GPU", "the local card"
AUTO = "auto"
# From 8 to 192 GB: what is in desktops, what clouds rent, one old card without bfloat16.
USUAL_CARDS = (
    *("RTX 4060", "RTX 3080 10GB", "RTX 4070", "T4", "RTX 4080", "RTX 4090"),
    *("RTX 5090", "A100 40GB", "L40S", "H100 SXM 80GB", "H200", "B200"),
)
CARD_TOTAL, CARD_NOW = ("card", "total"), ("card", "now")  # what was asked of the card in here


@dataclass(frozen=True, slots=True)
class Choice:
    """The targets, and where they were named. Without any, ``origin`` is ``DEFAULT``.

    ``claims`` are cards for the files that their patterns match, in the place of ``targets``.
    ``remarks`` say in a line each which card was taken for a name that is sold in several sizes.
    """

    targets: tuple[Machine, ...]
    origin: str
    claims: Claims = ()
    remarks: tuple[str, ...] = ()

    def claimed(self, path: Path | None, root: Path) -> tuple[Machine, ...]:
        """The cards that claim ``path`` for themselves; patterns are relative to ``root``."""
        if path is None:
            return ()
        return tuple(target for files, target in self.claims if matches(path, files, root))


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
    tables = () if origin in (OPTION, VARIABLE) else sourced.settings.target
    general, claims = _from_tables(tables, sourced)
    if names or general:
        place = VARIABLE if origin == VARIABLE else sourced.place("gpu")
        named = _with_in_use((_target(name, place) for name in names), sourced)
        targets = tuple(dict.fromkeys((*named, *general)))
        origin = f"{sourced.origin('target')}: target" if general else origin
    else:
        local = _local_gpu()
        notes.note(CARD_TOTAL, repr(local and local.gpu).encode())
        origin = LOCAL if local else DEFAULT
        found = (replace(_auto(local), in_use_bytes=0),) if local else ()
        targets = _with_in_use(found, sourced)
    settings = sourced.settings
    if settings.platform == "macos" and (targets or claims):
        first = next(iter(targets), None) or claims[0][1]
        raise SettingsError(
            f"{sourced.place('platform')}: macOS has no CUDA, so it does not go with "
            f"{first.label}; leave out one of them"
        )
    return Choice(
        tuple(placed(target, settings) for target in targets),
        origin,
        tuple((files, placed(target, settings)) for files, target in claims),
        (*_taken((*names, *(table.gpu for table in tables))), *_platform(sourced, sys.platform)),
    )


def _platform(sourced: Sourced, here: str) -> Iterator[str]:
    """That nobody said where the run is, and Windows, where it is checked, was taken for it."""
    if here == "win32" and sourced.origin("platform") == DEFAULT:
        yield "checked for Windows, the system of this machine; --platform linux checks for Linux"


def _taken(names: Iterable[str]) -> Iterator[str]:
    """What is assumed about names that are sold in several sizes."""
    from nanolint.gpus.lookup import find, other_sizes

    for name in dict.fromkeys(names):
        others = () if name.lower() == AUTO else other_sizes(name)
        if others:
            taken, else_ = find(name).gpu.name, " or ".join(others)
            yield f"{name}: assuming {taken}; for the other use {else_}"


def _with_in_use(targets: Iterable[Machine], sourced: Sourced) -> tuple[Machine, ...]:
    """``targets`` with the memory in use that the user states, where they state it."""
    in_use = sourced.settings.in_use
    if in_use is None:
        return tuple(targets)
    place = sourced.place("in-use")
    if in_use.strip().lower() == AUTO:
        return tuple(_as_it_is_now(target, place) for target in targets)
    return tuple(_holding(target, in_use, place) for target in targets)


def _as_it_is_now(target: Machine, place: str) -> Machine:
    """``target``, the card in this machine, with what other programs hold of it now."""
    local = _local_here(place)
    if target.gpu.name != local.gpu.name:
        asked = f"{AUTO} asks the card of this machine, a {local.gpu.name}"
        raise SettingsError(f"{place}: {asked}, and not on {target.gpu.name}")
    return replace(target, in_use_bytes=local.in_use_bytes)


def usual(sourced: Sourced) -> tuple[Machine, ...]:
    """Returns the usual cards, with what ``--in-use`` says: for a run whose card nobody named."""
    from nanolint.gpus.catalogue import load
    from nanolint.gpus.gpu import Machine

    settings = sourced.settings
    if settings.platform == "macos":
        return ()
    cards = {gpu.name: gpu for gpu in load()}
    found = [placed(Machine(cards[name]), settings) for name in USUAL_CARDS]
    held = settings.in_use
    if held is None or held.strip().lower() == AUTO or not sourced.from_command("in-use"):
        return tuple(found)
    nbytes = _holding(found[-1], held, sourced.place("in-use")).in_use_bytes
    roomy = (each for each in found if each.gpu.total_bytes > nbytes)
    return tuple(replace(each, in_use_bytes=nbytes) for each in roomy)


def placed(machine: Machine, settings: Settings) -> Machine:
    """``machine`` with the platform and the allocator that the settings tell."""
    return replace(machine, platform=settings.platform, allocator=settings.allocator)


def _from_tables(
    tables: Iterable[TargetTable], sourced: Sourced
) -> tuple[tuple[Machine, ...], Claims]:
    """The cards of the tables: those for any file, and those that claim some for themselves."""
    general: list[Machine] = []
    claims: list[tuple[tuple[str, ...], Machine]] = []
    for index, table in enumerate(tables):
        place = f"{sourced.place('target')}.{index}"
        (target,) = _with_in_use((_target(table.gpu, f"{place}.gpu"),), sourced)
        if table.in_use is not None and not sourced.origin("in-use").startswith("--"):
            target = _holding(target, table.in_use, f"{place}.in-use")
        if table.count is not None:
            if target.count not in (None, table.count):
                raise SettingsError(
                    f"{place}.count: {table.count} does not go with {target.label}; "
                    "give only one of them"
                )
            target = replace(target, count=table.count)
        if table.files:
            claims.append((table.files, target))
        else:
            general.append(target)
    return tuple(general), tuple(claims)


def _target(name: str, place: str) -> Machine:
    from nanolint.gpus.lookup import GpuError, find

    if name.lower() == AUTO:
        return _auto(_local_here(place))
    try:
        return find(name)
    except GpuError as error:
        raise SettingsError(f"{place}: {error}") from error


def _local_here(place: str) -> LocalGpu:
    """The card in this machine as it is now; raises SettingsError where there is none."""
    local = _local_gpu()
    notes.note(CARD_NOW, repr(local).encode())
    if local is None:
        raise SettingsError(f"{place}: {AUTO} needs an NVIDIA card and its driver, and found none")
    return local


def _auto(local: LocalGpu) -> Machine:
    from nanolint.gpus.gpu import Machine

    return Machine(local.gpu, in_use_bytes=local.in_use_bytes)


def _holding(target: Machine, in_use: str, place: str) -> Machine:
    """``target`` with ``in_use`` of its memory taken by other programs; raises SettingsError."""
    from nanolint.units import parse_size

    try:
        held = parse_size(in_use)
    except ValueError as error:
        raise SettingsError(f"{place}: {error}") from error
    total = target.gpu.total_bytes
    if held >= total:
        card = f"{target.gpu.name} has {format_bytes(total)} in all"
        raise SettingsError(f"{place}: {in_use} leaves nothing for the run: {card}")
    return replace(target, in_use_bytes=held)


@lru_cache(maxsize=1)
def _local_gpu() -> LocalGpu | None:
    from nanolint.gpus.local import local_gpu, may_have_card

    return local_gpu() if may_have_card() else None
