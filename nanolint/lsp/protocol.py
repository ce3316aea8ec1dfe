"""What the protocol demands of a server, and pygls does not: whatever is asked is answered."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcServerNotInitialized
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.protocol.json_rpc import RPCMessage, RPCRequest


class Answered:
    """Stands for a message that is dealt with: no version of the protocol is its own."""

    jsonrpc = ""


class StrictProtocol(LanguageServerProtocol):
    """pygls's, which is silent where a request cannot be read or comes too early or too late."""

    left_early = False  # the client said exit without shutdown before

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message as an object; a request whose parameters are wrong gets its answer here."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" not in data or "id" not in data:
                raise
            self._send_response(data["id"], error=error.to_response_error())
            return Answered()

    def handle_message(self, message: RPCMessage) -> None:
        """Take one message, if it is time for it."""
        method = getattr(message, "method", None)
        if method == types.EXIT:
            self.left_early = not self._shutdown
        elif method is not None and self._shutdown:
            self._refuse(message, JsonRpcInvalidRequest("the server is shutting down"))
            return
        elif method not in (None, types.INITIALIZE) and self._workspace is None:
            self._refuse(message, JsonRpcServerNotInitialized("initialize comes first"))
            return
        super().handle_message(message)

    def _refuse(self, message: RPCMessage, error: JsonRpcException) -> None:
        """Answer a request with an error; what is no request is not answered."""
        if isinstance(message, RPCRequest):
            self._send_response(message.id, error=error.to_response_error())

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *_: object) -> None:  # type: ignore[override]
        """Cancel what is under way, each of which takes itself from the list as it ends."""
        current = self.msg_id
        for number, future in list(self._request_futures.items()):
            if number != current and not future.done():
                future.cancel()
        self._shutdown = True
