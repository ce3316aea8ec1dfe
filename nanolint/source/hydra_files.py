"""What hydra makes of its files: the settings that a file's list of defaults names, put into one.

As hydra 1.3 does where a launch line changes nothing (hydra/_internal/defaults_list.py and
config_loader_impl.py). What hydra can do beyond is not known: packages but ``_global_``, choices
that others override, groups by another name.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from nanolint.errors import Refused
from nanolint.frozen import dataclass
from nanolint.source.settings_text import Leaf, Listed, Mapped, read_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanolint.source.settings_text import Node

SUFFIX = ".yaml"
SELF, DEFAULTS, OWN = "_self_", "defaults", "hydra"  # what is hydra's own is no setting of a script
# With these it looks or goes elsewhere, or runs the script several times.
ELSEWHERE = (("searchpath",), ("job", "chdir"), ("mode",))
MOST = 32
_HEADER = re.compile(r"\s*#\s*@package\s+(\S+)")
_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)*")
EVERYWHERE, BY_GROUP = "_global_", "_group_"
OPTIONAL, OVERRIDE = "optional ", "override "


class NotComposed(Refused):
    """Files whose settings are not known. Its own text is one line."""


@dataclass(frozen=True, slots=True)
class Part:
    """A file, by its path below the settings' folder without its end, and the keys above what it
    holds."""

    path: str
    package: tuple[str, ...]
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Layer:
    """What a file sets, at the keys of its package, by its path below the settings' folder."""

    path: str
    own: Mapped


def composed(name: str, text_at: Callable[[str], str | None]) -> Mapped:
    """The settings of the file of that name; ``text_at`` gives the text of a file below the folder
    of all settings, or None where there is none. Raises NotComposed and NoSettings.

    >>> texts = {
    ...     "config.yaml": "{defaults: [model: small], lr: 1}",
    ...     "model/small.yaml": "width: 64",
    ... }
    >>> [key for key, _ in composed("config", texts.get).entries]
    ['model', 'lr']
    """
    return _composed(name, text_at)[1]


def layers(name: str, text_at: Callable[[str], str | None]) -> tuple[Layer, ...]:
    """What the files set that are put together, the later over the earlier. Raises as
    ``composed``."""
    return _composed(name, text_at)[0]


def _composed(name: str, text_at: Callable[[str], str | None]) -> tuple[tuple[Layer, ...], Mapped]:
    """The layers, and what they come to: what cannot be merged raises for both."""
    found = tuple(_layers(Part(name.removesuffix(SUFFIX), ()), text_at, []))
    made = Mapped(())
    for each in found:
        made = _merged(made, each.own)
    return found, made


def _layers(part: Part, text_at: Callable[[str], str | None], seen: list[str]) -> Iterator[Layer]:
    """What a file sets, behind what its defaults name or where it says ``_self_``. ``seen`` are the
    files and the groups that something was chosen of, each of them once."""
    path = f"{part.path}{SUFFIX}"
    _note(path, seen)
    text = text_at(path)
    if text is None and part.is_optional:
        return
    if text is None:
        raise NotComposed(f"hydra reads {path}")
    content = read_yaml(text, floats=True)
    if isinstance(content, Leaf) and content.value is None:
        content = Mapped(())
    if not isinstance(content, Mapped):
        raise NotComposed(f"{path} holds no settings by name")
    is_own = part.package[:1] == (OWN,)
    of_hydra = content if is_own else dict(content.entries).get(OWN, Mapped(()))
    for keys in ELSEWHERE:
        if _is_set(of_hydra, *keys):
            raise NotComposed(f"{path} sets hydra.{'.'.join(keys)}")
    if is_own:
        return
    listed = dict(content.entries).get(DEFAULTS, Listed(()))
    package, header = part.package, _header(text)
    if header is not None:
        if header not in (EVERYWHERE, BY_GROUP) or (listed != Listed(()) and package):
            raise NotComposed(f"{path} has a package of its own")
        package = () if header == EVERYWHERE else package
    own = Mapped(tuple(each for each in content.entries if each[0] not in (DEFAULTS, OWN)))
    for key in reversed(package):
        own = Mapped(((key, own),))
    itself = Layer(path, own)
    parts = list(_parts(listed, part, package, seen))
    for each in parts if None in parts else [*parts, None]:
        if each is None:
            yield itself
        else:
            yield from _layers(each, text_at, seen)


def _note(name: str, seen: list[str]) -> None:
    if name in seen or len(seen) > MOST:
        raise NotComposed(f"hydra reads {name}, too")
    seen.append(name)


def _is_set(node: Node, *keys: str) -> bool:
    """Whether there is a value at these keys, and not ``false``."""
    for key in keys:
        node = dict(node.entries).get(key, Leaf(None, 0, 0)) if isinstance(node, Mapped) else node
    return not (isinstance(node, Leaf) and node.value in (None, False))


def _header(text: str) -> str | None:
    """The package that comments at the beginning of a file name."""
    for line in text.splitlines():
        if found := _HEADER.match(line):
            return found[1]
        if line.strip() and not line.lstrip().startswith("#"):
            break
    return None


def _parts(
    listed: Node, of: Part, package: tuple[str, ...], seen: list[str]
) -> Iterator[Part | None]:
    """The files that a list of defaults names; None where the file itself comes."""
    if not isinstance(listed, Listed):
        raise NotComposed(f"the defaults of {of.path}{SUFFIX} are not a list")
    folder = posixpath.dirname(of.path)
    for each in listed.items:
        if isinstance(each, Leaf):
            name = _name(each, of)
            yield None if name == SELF else Part(posixpath.join(folder, name), package)
            continue
        if not isinstance(each, Mapped) or len(each.entries) != 1:
            raise NotComposed(f"the defaults of {of.path}{SUFFIX}")
        ((key, choice),) = each.entries
        group = str(key)
        is_optional = group.startswith(OPTIONAL)
        group = group.removeprefix(OPTIONAL)
        if group.removeprefix(OVERRIDE).startswith(f"{OWN}/"):
            continue
        if group.startswith(OVERRIDE) or not _NAME.fullmatch(group):
            raise NotComposed(f"the defaults of {of.path}{SUFFIX} say {group!r}")
        group_at = posixpath.join(folder, group)
        _note(group_at, seen)
        if isinstance(choice, Leaf) and choice.value is None:
            continue
        for option in choice.items if isinstance(choice, Listed) else (choice,):
            path = posixpath.join(group_at, _name(option, of))
            yield Part(path, (*package, *group.split("/")), is_optional)


def _name(written: Node, of: Part) -> str:
    value = written.value if isinstance(written, Leaf) else None
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise NotComposed(f"the defaults of {of.path}{SUFFIX} say {value!r}")
    return value.removesuffix(SUFFIX)


def _merged(first: Mapped, then: Mapped) -> Mapped:
    """Both; what the second says counts, but that mappings are merged (``OmegaConf.merge``)."""
    made = dict(first.entries)
    for key, each in then.entries:
        before = made.get(key)
        if {type(before), type(each)} == {Mapped, Listed}:
            raise NotComposed(f"{key} is a list, and settings by name, too")
        both = isinstance(before, Mapped) and isinstance(each, Mapped)
        made[key] = _merged(before, each) if both else each  # type: ignore[arg-type]
    return Mapped(tuple(made.items()))
