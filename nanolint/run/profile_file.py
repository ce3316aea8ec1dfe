"""The file of a recorded profile.

``nanolint trace --profile`` writes it to ``.nanolint/NAME.json``, for whoever has no PyTorch at
hand. What is read may come from anybody: everything is bounded and checked, and what does not hold
raises NotAProfile.
"""

from __future__ import annotations

import json
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.errors import Refused
from nanolint.run.profile import COMPONENTS, LARGEST_BATCH, HeldOut, Kind, Profile, Regime

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = 1
MOST_BYTES = 1 << 20  # of the file
MOST_UNPACKED = 32 << 20
MOST_EVENTS, MOST_REGIMES, MOST_KINDS, MOST_FILES = 500_000, 64, 100_000, 1000
LONGEST_TEXT, LONGEST_LINE = 300, 4000
LARGEST_NUMBER = 1 << 60
PHASES = ("setup", "eval", "forward", "backward", "optimizer", "eval_late")


class NotAProfile(Refused):
    """What is said to be a profile is none; says what is wrong, without its name."""


def digest(content: bytes) -> str:
    """Of a file's content, with whatever its lines end on."""
    return sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def write(profile: Profile) -> bytes:
    """The file's content."""
    import base64  # few runs have a profile
    import lzma

    numbers: dict[str, int] = {}
    kinds = [
        [numbers.setdefault(kind.name, len(numbers)), COMPONENTS.index(kind.component),
         kind.divisor, *kind.coefficients]
        for kind in profile.kinds
    ]  # fmt: skip
    tapes = [
        [list(regime.events), [[at, PHASES.index(name)] for at, name in regime.phases]]
        for regime in profile.regimes
    ]
    packed = {"names": list(numbers), "kinds": kinds, "tapes": tapes}
    data = lzma.compress(json.dumps(packed, separators=(",", ":")).encode(), preset=9)
    told = {
        "nanolint_profile": FORMAT,
        "traced": profile.traced,
        "command": profile.command[:LONGEST_LINE],
        "torch": profile.torch,
        "compute_capability": list(profile.capability),
        "multiprocessors": profile.sm_count,
        "world_size": profile.world_size,
        "ranked": profile.ranked,
        "script": profile.script,
        "files": dict(profile.files),
        "settings": dict(profile.settings),
        "micro_batch": profile.micro_batch,
        "accumulation": profile.accumulation,
        "assumes": list(profile.assumes),
        "error_per_mille": profile.error_per_mille,
        "held_out": [
            [each.batch_size, each.micro_steps, each.allocated_bytes, each.reserved_bytes]
            for each in profile.held_out
        ],
        "regimes": [
            [each.low, each.high, each.micro_steps, list(each.traced)] for each in profile.regimes
        ],
        "tapes": base64.b64encode(data).decode(),
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in told.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


class Head(NamedTuple):
    """Of which files a profile speaks: their digests by their names, and the keys they are
    without."""

    script: str
    files: Mapping[str, str]
    micro_batch: str
    accumulation: str | None


def head(content: bytes) -> Head:
    """That of a profile, in a hundredth of the time; raises NotAProfile."""
    try:
        return _head(json.loads(content))
    except (LookupError, TypeError, ValueError, RecursionError) as wrong:
        raise NotAProfile(f"not a profile: {type(wrong).__name__}") from wrong


@lru_cache(maxsize=16)
def read(content: bytes) -> Profile:
    """The profile that a file holds; raises NotAProfile."""
    if len(content) > MOST_BYTES:
        raise NotAProfile("larger than a profile")
    try:
        told = json.loads(content)
        if not isinstance(told, dict) or told.get("nanolint_profile") != FORMAT:
            raise NotAProfile(f"not a profile of format {FORMAT}; trace it again")
        packed = _unpacked(_text(told["tapes"], MOST_BYTES))
        names = [_text(each) for each in _list(packed["names"], MOST_KINDS)]
        kinds = tuple(_kind(each, names) for each in _list(packed["kinds"], MOST_KINDS))
        tapes = _list(packed["tapes"], MOST_REGIMES)
        regimes = tuple(
            _regime(head, tape, len(kinds))
            for head, tape in zip(_list(told["regimes"], MOST_REGIMES), tapes, strict=True)
        )
        major, minor = (_number(each) for each in _list(told["compute_capability"], 2))
        profile = Profile(
            traced=_text(told["traced"]),
            command=_text(told["command"], LONGEST_LINE),
            torch=_text(told["torch"]),
            capability=(major, minor),
            sm_count=_number(told["multiprocessors"]),
            world_size=_number(told["world_size"], 1),
            ranked=_boolean(told.get("ranked", told["world_size"] > 1)),
            settings={_text(name): _text(each) for name, each in _pairs(told["settings"])},
            error_per_mille=_number(told["error_per_mille"]),
            held_out=tuple(
                HeldOut(*(_number(number, -LARGEST_NUMBER) for number in _list(each, 4)))
                for each in _list(told["held_out"], 10_000)
            ),
            kinds=kinds,
            regimes=regimes,
            assumes=tuple(_text(each) for each in _list(told.get("assumes", []), 10)),
            **_head(told)._asdict(),
        )
        _ = profile.release
    except (LookupError, TypeError, ValueError, RecursionError) as wrong:
        raise NotAProfile(f"not a profile: {type(wrong).__name__}") from wrong
    if profile.script not in profile.files or not profile.regimes:
        raise NotAProfile("not a profile: it has no script, or no tape")
    return profile


def _head(told: Any) -> Head:
    accumulation = told["accumulation"]
    return Head(
        script=_inside(told["script"]),
        files={_inside(name): _text(each) for name, each in _pairs(told["files"])},
        micro_batch=_text(told["micro_batch"]),
        accumulation=None if accumulation is None else _text(accumulation),
    )


def _unpacked(text: str) -> Any:
    import base64
    import binascii
    import lzma

    try:
        data = base64.b64decode(text, validate=True)
        unpacking = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=4 * MOST_UNPACKED)
        unpacked = unpacking.decompress(data, MOST_UNPACKED)
    except (binascii.Error, lzma.LZMAError, EOFError) as wrong:
        raise NotAProfile("not a profile: its tapes cannot be unpacked") from wrong
    if not unpacking.eof:
        raise NotAProfile("not a profile: its tapes are too long")
    return json.loads(unpacked)


def _kind(told: Any, names: list[str]) -> Kind:
    name, component, divisor, *coefficients = _list(told, 6)
    return Kind(
        divisor=_number(divisor, 1),
        coefficients=tuple(_number(each, -LARGEST_NUMBER) for each in coefficients),
        name=names[_number(name)],
        component=COMPONENTS[_number(component)],
    )


def _regime(head: Any, tape: Any, kinds: int) -> Regime:
    low, high, micro_steps, traced = _list(head, 4)
    events, phases = _list(tape, 2)
    found = Regime(
        low=_number(low, 1, LARGEST_BATCH),
        high=_number(high, low, LARGEST_BATCH),
        micro_steps=_number(micro_steps, 1, LARGEST_BATCH),
        traced=tuple(_number(each, low, high) for each in _list(traced, 1000)),
        events=_events(events, kinds),
        phases=tuple((_number(at), PHASES[_number(name)]) for at, name in _list(phases, 10_000)),
    )
    starts = [at for at, _ in found.phases]
    if not starts or starts[0] != 0 or starts != sorted(starts) or starts[-1] > len(found.events):
        raise NotAProfile("not a profile: its phases are out of order")
    return found


def _events(told: Any, kinds: int) -> tuple[int, ...]:
    events = tuple(_list(told, MOST_EVENTS))
    if not {int}.issuperset(map(type, events)) or max(events, default=0) >= kinds:
        raise ValueError
    alive = 0
    for event in events:  # many, so that what is asked of each is little
        if event >= 0:
            alive += 1
        elif event >= -alive:
            alive -= 1
        else:
            raise ValueError
    return events


def _number(value: Any, least: int = 0, most: int = LARGEST_NUMBER) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError
    return value


def _boolean(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError
    return value


def _text(value: Any, longest: int = LONGEST_TEXT) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise ValueError
    return value


def _inside(value: Any) -> str:
    """The path of a file of the project, from its root on."""
    path = _text(value)
    if path.startswith(("/", "~")) or ":" in path or "\\" in path or ".." in path.split("/"):
        raise ValueError
    return path


def _list(value: Any, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise ValueError
    return value


def _pairs(value: Any) -> Any:
    if not isinstance(value, dict) or len(value) > MOST_FILES:
        raise ValueError
    return value.items()
