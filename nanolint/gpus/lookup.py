"""From what the user typed to a card: loose names, counts (``8x``), slices and bare sizes.

CUDA shows a slice of a card (MIG, multi-instance GPU) as a card of its own.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.gpus import catalogue
from nanolint.gpus.gpu import Gpu, Machine
from nanolint.regex import lazily
from nanolint.units import GIB, parse_size

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_QUERY = 80
MOST_CARDS = 9999
MOST_MEMORY = 1024 * GIB
USABLE_SHARE = 0.975  # of the nominal size, where no card of that size is known

_COUNT = re.compile(r"\s*(\d+)\s*[x×*]\s*(.*)", re.IGNORECASE)
_BARE_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?b|[kmgt])\s*", re.IGNORECASE | re.ASCII)
_SIZE_IN_NAME = re.compile(r"\b(\d+) ?g(?:i?b)?\b(?!\.\d)")
_VENDOR_WORDS = re.compile(
    r"nvidia|geforce|tesla|amd|radeon|instinct|corporation|generation|graphics|edition|founders"
    r"|desktop|with|design|hbm\d?e?|gpu|card"
)
_OPTIONAL = re.compile(
    r"rtx|gtx|quadro|pro|ada|blackwell|pascal|sxm|pcie|nvl|laptop|workstation|server"
)
_FORM_FACTORS = lazily(r"sxm|pcie|fhhl|dgxs")


class GpuError(ValueError):
    """What was typed does not stand for one card; the text is one line for the user."""


class UnknownGpu(GpuError):
    """No card is called so; ``suggestions`` are names that look alike."""

    def __init__(self, query: str, suggestions: tuple[str, ...] = ()) -> None:
        super().__init__(query, suggestions)
        self.query = query
        self.suggestions = suggestions

    def __str__(self) -> str:
        query = _format_query(self.query)
        if self.suggestions:
            return f"unknown GPU {query}; did you mean {_either(self.suggestions)}?"
        return (
            f"unknown GPU {query}; give a name that `nanolint gpus` lists, "
            "or a size such as 12GB or 11.69GiB"
        )


class UnmodelledGpu(GpuError):
    """A real accelerator, but not one whose memory can be told before the run."""

    def __init__(self, query: str, why: str) -> None:
        super().__init__(query, why)
        self.query = query
        self.why = why

    def __str__(self) -> str:
        return f"no verdict for {_format_query(self.query)}: {self.why}"


class AmbiguousGpu(GpuError):
    """Cards with different memory are called so; ``candidates`` are their names."""

    def __init__(self, query: str, candidates: tuple[str, ...]) -> None:
        super().__init__(query, candidates)
        self.query = query
        self.candidates = candidates

    def __str__(self) -> str:
        return f"ambiguous GPU {_format_query(self.query)}: {_either(self.candidates)}?"


def find(query: str) -> Machine:
    """The card that a name, a size or either after a count stands for.

    ``12GB`` is the 12 GB card with the least usable memory; any other unit (``11.69GiB``,
    ``11970MiB``) is exactly that total. Raises UnknownGpu, UnmodelledGpu or AmbiguousGpu.
    """
    if len(query) > LONGEST_QUERY:
        raise UnknownGpu(query)
    counted = _COUNT.fullmatch(query)
    if meant := _meant(query):
        raise UnknownGpu(query, meant)
    if counted is None:
        return Machine(_find_one(query, query))
    if not 1 <= int(counted[1]) <= MOST_CARDS:
        raise UnknownGpu(query)
    return Machine(_find_one(counted[2], query), int(counted[1]))


def search(query: str) -> list[Gpu]:
    """The cards whose names hold every word of ``query``, in catalogue order; all for none.

    A size among the words, such as ``12GB``, keeps the cards sold with that much.
    """
    name, gib = _split_size(query[:LONGEST_QUERY])
    words = [key for word in re.split(r"[^a-z0-9]+", name) if (key := _key(word))]
    also = {card: _key(alias) for alias, card in catalogue.aliases().items()}
    return [
        gpu
        for gpu in catalogue.load()
        if (gib is None or gib == _nominal_gib(gpu))
        and all(word in _key(gpu.name) or word in also.get(gpu.name, "") for word in words)
    ]


def other_sizes(query: str) -> tuple[str, ...]:
    """The cards that are called as ``query`` says, which names no size, beside the one it means.

    ``rtx 3060`` is taken for the 12 GB card, and is also the name of the 8 GB one.
    """
    counted = _COUNT.fullmatch(query[:LONGEST_QUERY])
    name = counted[2] if counted else query
    if _split_size(name)[1] is not None or _BARE_SIZE.fullmatch(name):
        return ()
    taken = find(query).gpu
    family = _family(taken)
    return tuple(gpu.name for gpu in meanings(name) if gpu != taken and _family(gpu) == family)


def meanings(name: str) -> tuple[Gpu, ...]:
    """Every card that ``name`` may mean, the best match first; none for an unknown name."""
    return tuple(dict.fromkeys(match.gpu for _, match in _matches(name)))


def _find_one(text: str, query: str) -> Gpu:
    if size := _BARE_SIZE.fullmatch(text):
        return _card_of_size(size[1], size[2].lower(), query)
    if part := slice_of(text):
        return _slice(part, query)
    matches = _matches(text)
    if not matches:
        if why := why_unmodelled(text):
            raise UnmodelledGpu(query, why)
        raise UnknownGpu(query, _look_alikes(text))
    fewest = matches[0][0]
    best = {match.gpu for missing, match in matches if missing == fewest}
    if len({gpu.nominal_bytes for gpu in best}) > 1:
        raise AmbiguousGpu(query, tuple(gpu.name for gpu in catalogue.load() if gpu in best))
    return min(best, key=lambda gpu: (gpu.total_bytes, gpu.name))


def _slice(part: Slice, query: str) -> Gpu:
    """The slice of the card that has such slices; of several sizes, of the one it is most of."""
    if not part.card:
        raise UnmodelledGpu(query, "also name the card, such as 'A100 40GB MIG 1g.5gb'")
    whole = _find_one(part.card, query)
    named = _split_size(part.card)[1] is not None
    sizes = [gpu for gpu in catalogue.load() if _family(gpu) == _family(whole)]
    cards = [gpu for gpu in ([whole] if named else sizes) if sliceable(gpu, part)]
    if not cards:
        raise UnmodelledGpu(query, f"{whole.name} has no MIG slice {part.profile}")
    return part.of(max(cards, key=lambda gpu: gpu.nominal_bytes))


def _family(gpu: Gpu) -> str:
    """The card's name without its size."""
    return _split_size(gpu.name)[0].strip()


@dataclass(frozen=True, slots=True)
class _Spelling:
    """One way to write a card's name: ``gib`` is the size in the name, if any."""

    gpu: Gpu
    gib: int | None
    missing_words: int


def _matches(text: str) -> list[tuple[int, _Spelling]]:
    """The spellings that ``text`` is, each with the number of words missing, fewest first."""
    name, gib = _split_size(text)
    key = _key(name)
    known = _spellings(_digits(key))
    spellings = known.get(key) or known.get(_FORM_FACTORS.sub("", key), [])
    matches = [
        (spelling.missing_words + (gib is None and spelling.gib is not None), spelling)
        for spelling in spellings
        if gib in (None, spelling.gib, _nominal_gib(spelling.gpu))
    ]
    return sorted(matches, key=lambda match: match[0])


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


@lru_cache(maxsize=64)
def _spellings(digits: str = "") -> dict[str, list[_Spelling]]:
    """Of the cards that have these digits in their names, in this order; no others can be meant by
    who writes them."""
    cards = {gpu.name: gpu for gpu in catalogue.load()}
    names = {**cards, **{alias: cards[name] for alias, name in catalogue.aliases().items()}}
    spellings: dict[str, list[_Spelling]] = {}
    for full_name, gpu in names.items():
        rest = iter(full_name)
        if not all(digit in rest for digit in digits):
            continue
        name, gib = _split_size(full_name)
        words = [_key(word) for word in name.split()]
        optional = [index for index, word in enumerate(words) if _OPTIONAL.fullmatch(word)]
        for count in range(len(optional) + 1):
            for left_out in combinations(optional, count):
                key = "".join([word for i, word in enumerate(words) if i not in left_out])
                if left_out and not any(map(str.isdigit, key)):
                    continue  # "titan" is not the TITAN RTX
                spellings.setdefault(key, []).append(_Spelling(gpu, gib, count))
                if gib is not None:  # written in one word: 4060ti16gb
                    spellings.setdefault(f"{key}{gib}gb", []).append(_Spelling(gpu, gib, count))
    return spellings


def _split_size(text: str) -> tuple[str, int | None]:
    """The text in lower case without its memory size, and that size in GiB (the last, if two)."""
    lowered = text.lower().replace("_", " ")
    sizes = [int(digits) for digits in _SIZE_IN_NAME.findall(lowered)]
    return _SIZE_IN_NAME.sub(" ", lowered), sizes[-1] if sizes else None


def _key(text: str) -> str:
    """What is compared: letters and digits only, one word for each form factor."""
    bare = _VENDOR_WORDS.sub("", re.sub(r"[^a-z0-9]", "", text.lower()))
    return re.sub(r"sxm[2-6](?!\d)(ac$)?", "sxm", re.sub(r"mobile|maxq", "laptop", bare))


def _card_of_size(number: str, unit: str, query: str) -> Gpu:
    try:
        nominal = parse_size(f"{number}GiB" if unit in ("g", "gb") else number + unit)
    except ValueError:  # more digits than any size has
        raise UnknownGpu(query) from None
    if not 0 < nominal <= MOST_MEMORY:
        raise UnknownGpu(query)
    if unit not in ("g", "gb"):
        name = f"{number} {unit.upper().replace('IB', 'iB')} card"
        return Gpu(name, "", nominal, nominal, None, None, estimated=False, source="given")
    name = f"{number} GB card"
    sold = [gpu for gpu in catalogue.load() if gpu.nominal_bytes == nominal]
    if not sold:
        usable = int(nominal * USABLE_SHARE)
        return Gpu(
            name, "", usable, nominal, None, None, estimated=True, source="97.5 % of nominal"
        )
    least = min(sold, key=lambda gpu: gpu.total_bytes)
    source = f"least usable {number} GB card: {least.name}"
    return Gpu(name, "", least.total_bytes, nominal, None, None, least.estimated, source)


def _look_alikes(text: str) -> tuple[str, ...]:
    from difflib import get_close_matches

    keys = get_close_matches(_key(_split_size(text)[0]), _spellings(), n=6, cutoff=0.6)
    same = sorted(_key(_split_size(text)[0]))
    swapped = [key for key in _spellings() if sorted(key) == same]  # 4700 for 4070
    names = dict.fromkeys(
        spelling.gpu.name for key in (swapped or keys) for spelling in _spellings()[key]
    )
    return tuple(names)[:3]


# What people call a place where cards are lent, and the cards that are lent there.
_LENT = {"colab": ("T4", "L4", "A100 40GB"), "kaggle": ("2xT4", "P100 16GB")}
_COUNT_BEHIND = re.compile(r"\s*(.*\S)\s*[x×*]\s*(\d+)\s*", re.IGNORECASE)


def _meant(query: str) -> tuple[str, ...]:
    """What was meant by something that is no card's name; nothing where that is not clear."""
    word = query.strip().lower()
    if word in _LENT:
        return _LENT[word]
    if word.isdecimal() and len(word) < 4 and not _matches(query):
        return (f"{word}GB",)
    behind = _COUNT_BEHIND.fullmatch(query)
    if behind and not _matches(query) and _matches(behind[1]):
        return (f"{behind[2]}x {_matches(behind[1])[0][1].gpu.name}",)
    return ()


def _nominal_gib(gpu: Gpu) -> int:
    return round(gpu.nominal_bytes / GIB)


def _either(names: tuple[str, ...]) -> str:
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _format_query(query: str) -> str:
    return repr(query if len(query) <= LONGEST_QUERY else f"{query[:40]}...")


# Whose it is, and what torch calls its way to it.
_MAKERS = (
    (lazily(r"(apple )?m[1-9]( ?(pro|max|ultra))?( gpu)?|apple.*|mps|metal"), "Apple's", "MPS"),
    (lazily(r"(amd )?(rx|vega|ryzen|firepro)\b.*|.*radeon.*|rocm"), "AMD's", "ROCm"),
    (lazily(r"(arc|iris|gaudi|data center gpu max)\b.*|intel.*|xpu"), "Intel's", "XPU"),
    (lazily(r"(google )?(cloud )?tpu\b.*"), "Google's", "XLA"),
)
_JETSON = lazily(r".*\b(jetson|orin|xavier|thor)\b.*")


def why_unmodelled(name: str) -> str | None:
    """Why no verdict can be given on what is called ``name``; None for what nobody knows."""
    bare = " ".join(re.split(r"[\s_-]+", name.lower())).strip()
    for pattern, whose, backend in _MAKERS:
        if pattern.fullmatch(bare):
            return f"it is {whose}; nanolint models the memory of CUDA, not of {backend}"
    if _JETSON.fullmatch(bare):
        return (
            "a Jetson shares its memory with the system; "
            "give the part that a run may use as a size, such as 12GiB"
        )
    return None


# A100 MIG 1g.10gb: torch reports 9,728 to 9,856 MiB, on slices of the 80 GB card; the lower share
# counts for all slices.
SHARE_OF_A_SLICE = 0.95

# Multiprocessors of one compute slice (`nvidia-smi mig -lgip`); others are not known.
SLICE_SMS: Mapping[tuple[int, int], int] = {(8, 0): 14, (9, 0): 16}

CAPABILITIES = ((8, 0), (9, 0), (10, 0), (10, 3))  # besides the RTX PRO cards of Blackwell

_SLICE = re.compile(r"(?:mig)?([1-7])g\.(\d{1,3})gb(?:\+\S{1,8})?")
_SHARES = (1 / 8, 1 / 4, 1 / 2, 1)  # of the memory
SIZE_ROUNDED = 0.06  # 141 GB / 8 is called 18 GB


@dataclass(frozen=True, slots=True)
class Slice:
    """``compute`` sevenths of ``card``, as the user wrote it, with ``gib`` of its memory."""

    card: str
    compute: int
    gib: int

    @property
    def profile(self) -> str:
        """As NVIDIA writes it: ``1g.5gb``."""
        return f"{self.compute}g.{self.gib}gb"

    def of(self, whole: Gpu) -> Gpu:
        """The slice as a card. Its total is an estimate."""
        capability = whole.compute_capability
        per_slice = SLICE_SMS.get(capability) if capability else None
        nominal = self.gib * GIB
        return Gpu(
            name=f"{whole.name} MIG {self.profile}",
            vendor=whole.vendor,
            total_bytes=int(nominal * SHARE_OF_A_SLICE),
            nominal_bytes=nominal,
            sm_count=None if per_slice is None else per_slice * self.compute,
            compute_capability=capability,
            estimated=True,
            source=f"{SHARE_OF_A_SLICE:.0%} of nominal, a slice of the {whole.name}",
        )


def slice_of(text: str) -> Slice | None:
    """The slice that ``text`` names, as ``NVIDIA A100-SXM4-40GB MIG 1g.5gb`` or ``a100 1g.5gb``."""
    words = re.split(r"[\s_-]+", text.lower().strip())
    match = _SLICE.fullmatch(words[-1])
    if match is None:
        return None
    card = " ".join(word for word in words[:-1] if word != "mig")
    return Slice(card, int(match[1]), int(match[2]))


def sliceable(gpu: Gpu, part: Slice) -> bool:
    """Whether ``gpu`` can be divided into such slices: no less memory than of the compute."""
    divides = gpu.compute_capability in CAPABILITIES or gpu.name.startswith("RTX PRO")
    share = part.gib * GIB / gpu.nominal_bytes
    wholes = [of for of in _SHARES if abs(share / of - 1) < SIZE_ROUNDED]
    return divides and any(8 * of >= part.compute for of in wholes)
