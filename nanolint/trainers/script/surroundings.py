"""What is around a script: its launch line, its configs, its tokenizer, the card."""

from __future__ import annotations

from dataclasses import replace
from itertools import starmap
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.notes import memo
from nanolint.gpus.said import model_of
from nanolint.run.capability import bfloat16_supported
from nanolint.run.equation import NotKnown
from nanolint.run.settled import Override
from nanolint.run.terms import Given, Place, Surface
from nanolint.source.values import Unknown
from nanolint.trainers.nanogpt.reading import read_source
from nanolint.trainers.script.core import Around, Earlier, Word
from nanolint.trainers.script.environment import ALONE
from nanolint.trainers.script.modules import roots_of
from nanolint.trainers.script.tokenizers import project_vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanolint.gpus.gpu import Gpu
    from nanolint.run.flags import Before, Flag
    from nanolint.run.settled import Options
    from nanolint.source.values import Scalar, Value

HOME = "$HOME"
# A card that is not named is one of today's.
CAPABILITY = (8, 0)


def around_of(path: Path, options: Options, gpu: Gpu | None, world_size: int) -> Around:
    """What a script at ``path`` finds around it, on ``world_size`` cards like ``gpu``."""
    line = options.line
    changes = tuple(_changes(options))
    put = {each.key for each in changes}
    asked = next((each for each in reversed(changes) if each.key == "vocab_size"), None)
    vocabulary = _vocabulary(path)
    if asked is not None and isinstance(asked.value, int):
        vocabulary = Given("vocab_size", asked.value, Surface.FLAG, Place(None, 0))
    capability = gpu.compute_capability if gpu is not None else None
    return Around(
        world_size=world_size,
        capability=capability or CAPABILITY,
        memory_bytes=gpu.total_bytes if gpu is not None else None,
        model=model_of(gpu),
        has_bfloat16=bfloat16_supported(gpu, options.torch_version, counts_emulation=True),
        words=(*map(_word, line.flags), *_configured(options)),
        variables=(*starmap(Word, alone(options, world_size)), *map(_word, line.variables)),
        assigned=tuple(each for each in map(_word, line.assigned) if each.key not in put),
        alone=line.alone,
        changes=changes,
        vocabulary=vocabulary,
        is_module=line.is_module,
        is_whole=line.is_whole,
        older_transformers=options.older_transformers,
        before=tuple(_earlier(each, options, gpu) for each in line.before),
    )


def alone(options: Options, world_size: int) -> tuple[tuple[str, str], ...]:
    """Returns the variables by which torchrun tells a process that it is the only one."""
    return tuple(ALONE.items()) if options.ranked and world_size == 1 else ()


def _earlier(before: Before, options: Options, gpu: Gpu | None) -> Earlier:
    own = replace(options, line=before.line, arguments=())
    around = around_of(before.script, own, gpu, before.processes or 1)
    return Earlier(before.script, replace(around, before=None), Place(before.path, before.row))


def told(options: Options) -> Iterator[tuple[str, Scalar | NotKnown]]:
    """All that a script is told from outside but for the environment, later words on top."""
    words = (*map(_word, (*options.line.flags, *options.line.assigned)), *_configured(options))
    yield from ((each.key, each.value) for each in (*words, *_changes(options)))


def _changes(options: Options) -> Iterator[Word]:
    return (Word(key, _scalar(value)) for key, value in options.overrides)


def _configured(options: Options) -> Iterator[Word]:
    """What a configurator reads on the launch line: configs and overrides, from left to right."""
    for argument in options.arguments:
        if isinstance(argument, Override):
            span = argument.value_place or argument.place
            place = Place(None, 0, span) if span is not None else None
            yield Word(argument.key, _scalar(argument.value), place)
        else:
            yield from _config(argument)


@memo
def _config(path: Path) -> tuple[Word, ...]:
    """What a config sets."""
    from nanolint.source.parse import Unparsable, parse
    from nanolint.source.values import TooComplex

    try:
        module = parse(read_source(path), {})
    except (Unusable, Unparsable, TooComplex):
        return ()
    values = {each.key: each for each in module.assignments}
    return tuple(
        Word(key, _scalar(module.final[key]), Place(path, 0, each.value_span))
        for key, each in values.items()
        if key in module.final
    )


def _vocabulary(path: Path) -> Given | None:
    return project_vocabulary(tuple(dict.fromkeys((path.parent, *roots_of(path)))))


def _scalar(value: Value) -> Scalar | NotKnown:
    if isinstance(value, Unknown):
        return NotKnown(value.reason)
    found = value.value
    return NotKnown("not one value") if isinstance(found, (list, tuple, dict)) else found


def _is_at_home(text: str) -> bool:
    return text.startswith(f"{HOME}/") and "$" not in text[len(HOME) :]


def _word(flag: Flag) -> Word:
    value: Scalar | NotKnown = flag.value
    if flag.unknown is not None:
        text = flag.value or ""
        value = NotKnown(flag.unknown, like=f"~{text[len(HOME) :]}" if _is_at_home(text) else "")
    place = flag.value_place or flag.place
    return Word(flag.name, value, Place(None, 0, place) if place is not None else None)
