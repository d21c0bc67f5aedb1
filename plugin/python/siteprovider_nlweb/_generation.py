"""One process of a plugin, connected and configured."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import grpc

from . import _wire as wire
from ._process import Process, StartError
from ._settings import Settings

START_TIMEOUT = 10.0
"""Seconds that a start may take, until the plugin is configured."""

_SHUTDOWN_TIME = 1.0
_HEALTH_TIME = 5.0

_OPTIONS = [
    ("grpc.max_receive_message_length", wire.MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", wire.MAX_MESSAGE_BYTES),
    ("grpc.max_metadata_size", 32 << 10),
    ("grpc.enable_http_proxy", 0),
    ("grpc.enable_retries", 0),
    ("grpc.default_authority", "localhost"),
    ("grpc.use_local_subchannel_pool", 1),
]


class Generation:
    """A plugin process that answers calls."""

    def __init__(self, settings: Settings, process: Process) -> None:
        """Connect to the process and configure it. Raises StartError."""
        self.process = process
        self.answered = False
        self._stopping = threading.Lock()
        self._stopped = False
        deadline = time.monotonic() + START_TIMEOUT
        address = process.handshake(START_TIMEOUT)
        self._channel = grpc.insecure_channel("unix:" + quote(address), options=_OPTIONS)
        try:
            self._drain_stdio()
            self._configure(settings.document, deadline - time.monotonic())
        except BaseException:
            self._channel.close()
            raise

    def _configure(self, document: bytes, timeout: float) -> None:
        name = self.process.name
        # A process that ends here answers nothing more, and gRPC may take a
        # while to notice where something else holds the socket.
        future = self.call(wire.CONFIGURE, wire.CONFIGURE.request(settings=document), timeout)
        self.process.when_exited(future.cancel)
        try:
            future.result()
        except grpc.RpcError as err:
            problem = wire.call_error(err, "configure")
            if isinstance(problem, ValueError):
                raise StartError(f"plugin {name} refuses its settings: {problem}") from None
            if isinstance(problem, wire.PluginGone):
                raise self.process.start_error(f"it ended before it was configured ({self.process.how_it_ended()})") from None
            raise StartError(f"plugin {name}: {problem}") from None
        except grpc.FutureCancelledError:
            raise self.process.start_error(f"it ended before it was configured ({self.process.how_it_ended()})") from None

    def call(self, method: wire.Method, request: Any, timeout: float) -> Any:
        """Start a call and return its grpc.Future. Raises ValueError on a closed channel."""
        invoke = self._channel.unary_unary(
            method.path,
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.response.FromString,
        )
        return invoke.future(request, timeout=max(0.001, timeout))

    def _drain_stdio(self) -> None:
        """Read, for as long as the process lives, what it prints to Go's own outputs.
        Whoever prints would hang once nobody reads. Nothing is made of it."""
        stream = self._channel.unary_stream(wire.STDIO_PATH)(wire.EMPTY)

        def drain() -> None:
            try:
                for _ in stream:
                    pass
            except (grpc.RpcError, ValueError):
                pass  # it ended, or has no such stream

        threading.Thread(target=drain, daemon=True, name=f"siteprovider-{self.process.pid}-stdio").start()

    def if_unhealthy(self, then: Callable[[], None]) -> None:
        """Ask for the health of the process, and call then from some thread if it does not tell."""
        try:
            check = self._channel.unary_unary(wire.HEALTH_PATH).future(wire.HEALTH_REQUEST, timeout=_HEALTH_TIME)
        except ValueError:  # the channel is closed
            return

        def checked(check: Any) -> None:
            if check.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE):
                then()

        check.add_done_callback(checked)

    def stop(self, ask: bool = True) -> None:
        """End the process, in bounded time: asked to, and then killed. Safe to be repeated."""
        with self._stopping:
            if self._stopped:
                return
            self._stopped = True
            if ask and not self.process.exited.is_set():
                try:
                    self._channel.unary_unary(wire.SHUTDOWN_PATH)(wire.EMPTY, timeout=_SHUTDOWN_TIME)
                except (grpc.RpcError, ValueError):
                    pass  # it ended while it answered, or does not know the call
            self.process.end()
            self._channel.close()


def launch(settings: Settings) -> Generation:
    """Start a plugin process and configure it. Raises StartError; then nothing is left of it."""
    process = Process(settings.command, settings.sha256)
    try:
        return Generation(settings, process)
    except BaseException:
        process.end(grace=0)
        raise
