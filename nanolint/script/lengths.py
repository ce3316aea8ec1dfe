"""How long the texts of a data set are: nobody knows, and often it does not matter.

Samples are cut to a length and filled up to it. So a sample is read twice, as if its texts had so
many tokens and half as many, with a text fewer. If both make the same batch its shape is known; if
they do not, and the number of texts is not what matters, a text that is cut is taken for one that
is as long as it is let be, which some are.
"""

from __future__ import annotations

MANY = 1 << 16  # tokens of a text that is not cut


class Lengths:
    """The length that texts are taken for now, and the questions about it; ``apart`` from any batch
    that is loaded, no second reading tells whether it matters."""

    def __init__(self, *, apart: bool = False) -> None:
        self.apart = apart
        self.are_halved = self.are_fewer = False
        self.were_asked = False
        self.are_bounded = True

    def at_most(self, most: int) -> int:
        """The tokens of a text that is cut to ``most``."""
        self.were_asked = True
        return most // 2 if self.are_halved else most

    def rows(self, usual: int) -> int:
        """How many texts a function is given at once, whose number nobody knows."""
        self.were_asked = True
        return usual - self.are_fewer

    def endless(self) -> int:
        """The tokens of one that is not cut."""
        self.are_bounded = False
        return self.at_most(MANY)
