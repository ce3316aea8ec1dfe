"""A whole script, to be read: its texts, and which of its values are those of a run."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import is_file, read_bytes
from nanolint.run.described import Loaded, Role
from nanolint.run.equation import NotKnown
from nanolint.run.flags import plain_name
from nanolint.run.program import (
    ALONE,
    BATCH,
    PASSES,
    SETTINGS,
    FromRun,
    Placed,
    ReadScript,
    SourceText,
)
from nanolint.run.program import NotKnown as Hidden
from nanolint.run.terms import Given, Surface, leaves
from nanolint.trainers.nanogpt.data_files import META, data_sets
from nanolint.trainers.nanogpt.reading import read_source
from nanolint.trainers.script.corpora import texts_from
from nanolint.trainers.script.hydra import files_of_hydra, modules_of_targets
from nanolint.trainers.script.modules import roots_of
from nanolint.trainers.script.outline import longest_of, told_of
from nanolint.trainers.script.saved import starts_afresh
from nanolint.trainers.script.settings_files import SUFFIXES
from nanolint.trainers.script.sources import PROGRAM, shown, sources
from nanolint.trainers.script.tokenizers import tokenizers_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from nanolint.run.described import Described
    from nanolint.run.program import DataFile
    from nanolint.run.run import Run
    from nanolint.source.values import Plain
    from nanolint.trainers.script.core import Around, Word

_NAMED = re.compile(r"""["']([^"'\n]{1,200}\.(?:ya?ml|json|toml))["']""")
TOKENIZER = "Tokenizer"  # in the names of what reads one
_OF_SETTINGS = ("config", "configs", "conf")  # folders, as people call them
MOST_NAMED, MOST_BYTES = 10, 1 << 16  # files of settings, and what they have


def whole_script(
    text: str, path: Path, described: Described, run: Run, around: Around
) -> ReadScript | NotKnown:
    """The script with its launch line, or why that cannot be read: a value cannot be replaced.

    Where none of its values is the micro-batch, or the model is no class of the project, the batch
    is checked as it is read.
    """
    words = [word for word in around.words if not _stands_in(word, path)]
    micro_batch = _micro_batch(described)
    follows = {**micro_batch, **_passes(described, run)}
    texts = dict(sources(text, path))
    settings = dict(_settings(described, path, texts))
    named = [each for one in settings.values() for each in modules_of_targets(one.text)]
    if named:
        texts = dict(sources(text, path, tuple(dict.fromkeys(named))))
    texts.update(settings)
    texts.update(_programs(described, path, texts))
    names = {each: source.module for each, source in texts.items()}
    placed = list(_placed(described, follows, around, names))
    if None in placed:
        return NotKnown("a value has no place of its own in the files", path)
    vocabulary = around.vocabulary.value if around.vocabulary is not None else None
    return ReadScript(
        modules=tuple(texts.values()),
        values=tuple(each for each in placed if each is not None),
        words=(*_followed(words, Surface.FLAG, follows), *_alone(around)),
        assigned=tuple(_followed(around.assigned, Surface.FLAG, follows)),
        variables=tuple(_followed(_variables(described, around), Surface.VARIABLE, follows)),
        put=tuple((each.name, follows.get(each.given, each.value)) for each in described.put),
        vocabulary=vocabulary if isinstance(vocabulary, int) else None,
        is_module=around.is_module,
        is_whole=around.is_whole,
        older_transformers=around.older_transformers,
        files=tuple(_files(texts.values(), path)),
        fresh=starts_afresh(path),
        checked=not micro_batch or isinstance(described.model, NotKnown),
        longest=longest_of(described),
        told=told_of(described),
        loaded=tuple(
            Loaded(texts[place.path].path, place.line, contents)
            for place, contents in described.loaded
            if place.path in texts
        ),
    )


def _files(sources: Iterable[SourceText], script: Path) -> Iterator[DataFile]:
    """What is known of the files that the sources name, from where the script may be run."""
    listed = list(sources)
    folders = (each for each in roots_of(script) if script.is_relative_to(each))
    places = tuple(dict.fromkeys(folders)) or (script.parent,)
    yield from texts_from(listed, places)
    if any(TOKENIZER in each.text for each in listed):
        yield from tokenizers_from(listed, places)
    if any(META in each.text for each in listed):
        yield from data_sets(script.parent)


def _settings(
    described: Described, script: Path, texts: Mapping[Path, SourceText]
) -> Iterator[tuple[Path, SourceText]]:
    """The files of settings that values were read from, and others that the texts name."""
    places = (place for given in described.given for place in (given.place, given.default))
    paths = dict.fromkeys(place.path for place in places if place is not None)
    paths |= dict.fromkeys((*_named(texts.values(), script), *files_of_hydra(texts)))
    for path in paths:
        if path is None or path in texts or not path.name.endswith(SUFFIXES):
            continue
        roots = roots_of(script)
        name = shown(path, roots)
        others = {path.relative_to(each).as_posix() for each in roots if path.is_relative_to(each)}
        with suppress(Unusable):
            text = read_source(path)
            yield path, SourceText(f"{SETTINGS}{name}", name, text, frozenset(others - {name}))


def _named(sources: Iterable[SourceText], script: Path) -> Iterator[Path]:
    """The short files of settings that are named, from where the script may be run."""
    roots = [each for each in roots_of(script) if script.is_relative_to(each)]
    folders = [each / place for each in roots for place in ("", *_OF_SETTINGS)]
    names = dict.fromkeys(name for each in sources for name in _NAMED.findall(each.text))
    for name in list(names)[:MOST_NAMED]:
        found = next((each / name for each in folders if is_file(each / name)), None)
        with suppress(Unusable):
            if found is not None and read_bytes(found, MOST_BYTES):
                yield found


def _programs(
    described: Described, script: Path, texts: Mapping[Path, SourceText]
) -> Iterator[tuple[Path, SourceText]]:
    """The files beside the script that values were read from and that it does not import."""
    for path in dict.fromkeys(each.place.path for each in described.given):
        if path is None or path in texts or path.suffix != PROGRAM:
            continue
        if path.is_relative_to(script.parent):
            below = path.relative_to(script.parent)
            with suppress(Unusable):
                name = ".".join(below.with_suffix("").parts)
                yield path, SourceText(name, below.as_posix(), read_source(path))


def _stands_in(word: Word, path: Path) -> bool:
    """Whether a word is no flag but what the script itself sets."""
    place = word.place.path if word.place is not None else None
    return place is not None and place.absolute() == path.absolute()


def _micro_batch(described: Described) -> dict[Given, FromRun]:
    """The value that the micro-batch is given by, where one is."""
    micro_batch = described.roles.get(Role.MICRO_BATCH)
    return {micro_batch: FromRun(BATCH)} if isinstance(micro_batch, Given) else {}


def _passes(described: Described, run: Run) -> dict[Given, FromRun]:
    """The value that the accumulation is given by, where it is given."""
    if described.equation is None:
        return {}
    total = run.gradient_accumulation_steps
    return {
        each: FromRun(PASSES)
        for each in leaves(described.equation.passes)
        if isinstance(each, Given)
        and each.value == total
        and not isinstance(each.value, bool)
        and each not in leaves(described.equation.micro_batch)
        and each not in leaves(described.equation.context)
    }


def _placed(
    described: Described,
    follows: dict[Given, FromRun],
    around: Around,
    names: dict[Path, str],
) -> Iterator[Placed | None]:
    """What stands in the place of values of the files; None where one has no place there."""
    said = {plain_name(word.key) for word in (*around.words, *around.assigned)}
    said -= {plain_name(word.key) for word in around.changes}
    put = {each.given for each in described.put}
    for given in described.given:
        if given.surface in (Surface.SAVED, Surface.VARIABLE) or given in put:
            continue  # with what is loaded, in the environment, and what a parser returns
        value: FromRun | Plain = None
        if given in follows:
            value = follows[given]
        elif around.change(given.key) is not None:
            value = given.value
        else:
            continue
        outside = given.surface is Surface.FLAG
        if outside and plain_name(given.key) in said:
            continue  # with the words of the launch line
        place = given.default if outside else given.place
        if place is None or place.span is None or place.path not in names:
            yield None
        else:
            yield Placed(names[place.path], place.span.start, place.span.end, value)


def _followed(
    words: Iterable[Word], surface: Surface, follows: dict[Given, FromRun]
) -> Iterator[tuple[str, Plain | FromRun | Hidden]]:
    fields = {
        plain_name(given.key): value for given, value in follows.items() if given.surface is surface
    }
    for word in words:
        if isinstance(word.value, NotKnown):
            yield word.key, Hidden(f"{word.key}: {word.value.reason}", "the launch line", 0)
        else:
            yield word.key, fields.get(plain_name(word.key), word.value)


def _variables(described: Described, around: Around) -> Iterator[Word]:
    """The environment: what the launch line sets, and what ``--set`` does of what is asked for."""
    yield from around.variables
    asked = {each.key for each in described.given if each.surface is Surface.VARIABLE}
    words = (around.variable(each.key) for each in around.changes if each.key in asked)
    yield from (word for word in words if word is not None)


def _alone(around: Around) -> Iterator[tuple[str, Hidden]]:
    """Words of the launch line without dashes, of which nobody says what they are for."""
    for each in around.alone:
        why = Hidden("a word of the launch line without dashes", "the launch line", 0)
        yield f"{ALONE}{each}", why
