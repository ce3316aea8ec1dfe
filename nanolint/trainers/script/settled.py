"""What a script was given, as settings by their keys, each with where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.flags import plain_name
from nanolint.run.settled import Layer, Origin, Setting
from nanolint.run.terms import Given, Operation, Surface
from nanolint.source.values import Known, Unknown
from nanolint.trainers.nanogpt.keys import ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanolint.run.described import Described
    from nanolint.run.terms import Term


def settings_of(found: Described, path: Path) -> Iterator[Setting]:
    """All that was given by its name, then the roles by the names of nanoGPT's keys for them."""
    for given in found.given:
        yield Setting(plain_name(given.key), Known(given.value), _origin(given, path))
    for role, key in ROLES.items():
        if role not in found.roles:
            continue
        term = found.roles[role]
        if isinstance(term, NotKnown):
            yield Setting(key, Unknown(str(term)), Origin(Layer.TRAIN_SCRIPT, term.path))
        else:
            yield Setting(key, Known(term.value), _origin(term, path))
    yield Setting("device", Known("cuda"), Origin(Layer.TRAIN_SCRIPT, path))


def key_of(term: Term | NotKnown) -> str | None:
    """The name of what was given for a role, None where the script computes it."""
    return plain_name(term.key) if isinstance(term, Given) else None


def _origin(term: Term, path: Path) -> Origin:
    if isinstance(term, Given):
        if term.surface in (Surface.FLAG, Surface.VARIABLE):
            return Origin(Layer.OVERRIDE, None, term.place.span)
        if term.place.path == path:
            return Origin(Layer.FILE, path, term.place.span)
        return Origin(Layer.IMPORT, term.place.path, term.place.span)
    if isinstance(term, Operation) and term.path is not None:
        return Origin(Layer.TRAIN_SCRIPT, term.path)
    return Origin(Layer.TRAIN_SCRIPT, path)
