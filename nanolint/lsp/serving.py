"""A server with all its features, and one client served by it."""

from __future__ import annotations

import gc
import logging
from typing import TYPE_CHECKING

from nanolint.lsp import commands, documents, features, findings, lifecycle, target
from nanolint.lsp.protocol import StrictProtocol
from nanolint.lsp.server import NanolintServer

if TYPE_CHECKING:
    from typing import BinaryIO


# Python looks for the garbage of a few readings at a time, in which nobody is answered; in all that
# lives, which takes longest, hardly ever: ``ahead.py`` does that while nothing is typed.
YOUNG, MIDDLE, OLD = 30_000, 10, 1_000


def make_server() -> NanolintServer:
    """A server with all its features."""
    server = NanolintServer()
    lifecycle.register(server)
    documents.register(server)
    findings.register(server)
    features.register(server)
    commands.register(server)
    target.register(server)
    return server


def serve(requests: BinaryIO, answers: BinaryIO) -> bool:
    """Serve one client until it leaves; returns whether it did so as the protocol wants it."""
    # What goes wrong is told to the client; pygls would print its traceback as well.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    server = make_server()
    server.start_io(requests, answers)
    assert isinstance(server.protocol, StrictProtocol)
    return not server.protocol.left_early
