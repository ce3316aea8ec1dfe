"""A server with all its features, and one client served by it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from nanolint.lsp import commands, documents, features, findings, lifecycle, target
from nanolint.lsp.protocol import StrictProtocol
from nanolint.lsp.server import NanolintServer

if TYPE_CHECKING:
    from typing import BinaryIO


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
    server = make_server()
    server.start_io(requests, answers)
    assert isinstance(server.protocol, StrictProtocol)
    return not server.protocol.left_early
