"""Why an operation has no result: values decide it, it is not modelled, or PyTorch refuses it."""

from __future__ import annotations


class DataDependent(Exception):
    """An operation whose result's shape follows from values; its text is the operation."""


class NotModelled(Exception):
    """An operation whose memory is not known; its text is the operation."""


class Refused(ValueError):
    """PyTorch raises ``kind`` with these words; because of autograd's graph, or of an index.

    ``blamed`` is the place in the program that is to blame, if that is not the one that raises.
    """

    def __init__(
        self,
        words: str,
        kind: type[Exception] = RuntimeError,
        *,
        of_graph: bool = False,
        of_index: bool = False,
        blamed: object = None,
    ) -> None:
        super().__init__(words)
        self.blamed = blamed
        self.kind = kind
        self.of_graph, self.of_index = of_graph, of_index or kind is IndexError
