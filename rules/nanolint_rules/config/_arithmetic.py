"""Products in comments: ``12 batch size * 1024 block size * 40 gradaccum = 491,520``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from nanolint.rule import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.rule import Comment

# What a factor may be called, spaces, underscores and hyphens left out.
LABELS = {
    "batch_size": "batch batchsize bs microbatch microbatchsize sequences samples examples",
    "block_size": (
        "block blocksize context contextlength contextsize ctx length seqlen seqlength "
        "sequencelength tokens"
    ),
    "gradient_accumulation_steps": (
        "accum accumulation accumulationsteps accumsteps ga gradacc gradaccum gradaccumsteps "
        "gradaccumulation gradaccumulationsteps gradientaccumulation gradientaccumulationsteps"
    ),
    "world_size": "cards devices gpu gpus processes ranks worldsize",
}
_KEYS = {label: key for key, labels in LABELS.items() for label in labels.split()}

_NUMBER = r"\d+(?:[,_]\d{3})*"
_FACTOR = rf"{_NUMBER}(?:[ \t]+[A-Za-z_][A-Za-z_ \t-]*?|[ \t]*\([A-Za-z_ -]+\))?"
_TIMES = r"(?:[ \t]*(?:[*×]|[ \t]x[ \t])[ \t]*|(?<=\d)x(?=\d))"
_PRODUCT = re.compile(
    rf"(?<![\w.*/+-])(?P<factors>{_FACTOR}(?:{_TIMES}{_FACTOR})+)[ \t]*(?:=|~=|≈)[ \t]*~?"
    rf"(?P<result>{_NUMBER}(?:\.\d+)?[KMB]?)(?![\w*/]|[.,]\d|[ \t]*[*/×])"
)
LONGEST = 400
_UNITS = {"K": 10**3, "M": 10**6, "B": 10**9}


class Number(NamedTuple):
    """A number as it stands in a comment. ``label`` are the words behind it."""

    text: str
    span: Span
    label: str = ""

    @property
    def key(self) -> str | None:
        """The key that the label names."""
        return _KEYS.get(re.sub(r"[\W_]", "", self.label).lower())

    def says(self, value: int) -> bool:
        """Whether it stands for ``value``, rounded as it is written."""
        return self.written(value) == self.text

    def written(self, value: int) -> str:
        """``value`` in the same style: grouped by the same sign, or rounded to the same unit."""
        unit = _UNITS.get(self.text[-1:])
        if unit is not None:
            decimals = len(self.text[:-1].partition(".")[2])
            return f"{value / unit:.{decimals}f}{self.text[-1]}"
        group = next((sign for sign in ",_" if sign in self.text), "")
        return f"{value:{group}}"


class Product(NamedTuple):
    """A product in a comment, with the result that it claims."""

    factors: tuple[Number, ...]
    result: Number


def products(comment: Comment) -> Iterator[Product]:
    """The products in a comment, in order; a very long comment is no note to a value."""
    if len(comment.text) > LONGEST:
        return
    for match in _PRODUCT.finditer(comment.text):
        start = comment.span.start + match.start("factors")
        factors = tuple(_factors(match["factors"], start))
        result_start = comment.span.start + match.start("result")
        result = Number(match["result"], Span(result_start, result_start + len(match["result"])))
        yield Product(factors, result)


def _factors(text: str, start: int) -> Iterator[Number]:
    for match in re.finditer(rf"(?P<number>{_NUMBER})(?P<label>[^*×\d]*)", text):
        begin = start + match.start("number")
        label = re.sub(r"(?:^|(?<=\s))x\s*$", "", match["label"]).strip(" \t()")
        yield Number(match["number"], Span(begin, begin + len(match["number"])), label)
