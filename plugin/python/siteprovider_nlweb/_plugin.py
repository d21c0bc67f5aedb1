"""A plugin that heals itself: its process is started when it is needed, started
again when it has ended, and shared by all that have the same settings."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

import grpc

from . import _wire as wire
from ._generation import Generation, launch
from ._log import log
from ._process import StartError, abandon_all, end_all
from ._settings import Settings

_T = TypeVar("_T")

_FIRST_BACKOFF = 0.1
"""Seconds before the start after one generation that answered no call; each
further one doubles it."""

_MAX_FAILURES = 5
"""So many such generations in a row are a crash loop."""

_COOL_DOWN = 30.0
"""In a crash loop, calls fail at once but for one start in so many seconds."""

_LOOK_EVERY = 4.0
"""Seconds after which a process that has not answered a call is asked for its health."""

_MAX_CALLS = 64
"""Calls in flight, for each event loop. A plugin refuses more than a few hundred."""

_DRAIN_TIME = 1.0
_EXIT_GRACE = 1.5


class Plugin:
    """A plugin of some settings. Calls may come from any thread and any event loop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.owner = os.getpid()
        self._lock = threading.Lock()
        self._serving: Generation | None = None
        self._starting: Future[Generation] | None = None
        self._closed = threading.Event()
        self._failures = 0
        self._failed_at = 0.0
        self._failure = ""
        self._slots: dict[asyncio.AbstractEventLoop, asyncio.Semaphore] = {}

    async def call(self, method: wire.Method, request: Any, timeout: float) -> Any:
        """Call a method and return its response.

        Raises ValueError for a wrong argument, RuntimeError otherwise. When the
        process ends during a call that only reads, it is repeated once.
        """
        deadline = time.monotonic() + timeout
        slot = self._slot()
        await _by(deadline, slot.acquire())
        try:
            return await self._answer(method, request, deadline)
        finally:
            slot.release()

    def _slot(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._slots:
                for other in [o for o in self._slots if o.is_closed()]:
                    del self._slots[other]
                self._slots[loop] = asyncio.Semaphore(_MAX_CALLS)
            return self._slots[loop]

    async def _answer(self, method: wire.Method, request: Any, deadline: float) -> Any:
        for last in (not method.reads, True):
            generation = await _by(deadline, self._current())
            try:
                return await self._once(generation, method, request, deadline)
            except wire.PluginGone as gone:
                self._retire(generation)
                if last:
                    how = await asyncio.to_thread(generation.process.how_it_ended)
                    raise wire.PluginError(f"{method.name.lower()}: the plugin ended during the call ({how}): {gone}") from None
        raise AssertionError("not reached")

    async def _once(self, generation: Generation, method: wire.Method, request: Any, deadline: float) -> Any:
        """Make one call of one generation. gRPC ends it at the deadline."""
        try:
            call = generation.call(method, request, deadline - time.monotonic())
        except ValueError as err:
            if self._serving is generation:  # the request, not a channel that was closed
                raise
            raise wire.PluginGone(str(err)) from None
        loop = asyncio.get_running_loop()

        def look() -> None:
            nonlocal next_look
            generation.if_unhealthy(lambda: self._retire(generation, hangs=True))
            next_look = loop.call_later(_LOOK_EVERY, look)

        next_look = loop.call_later(_LOOK_EVERY, look)
        try:
            await _until_done(call)
        except asyncio.CancelledError:
            call.cancel()
            raise
        finally:
            next_look.cancel()
        try:
            response = call.result()
        except grpc.FutureCancelledError:
            raise wire.PluginGone("the call was cut off") from None
        except grpc.RpcError as err:
            error = wire.call_error(err, method.name.lower())
            if err.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
                generation.if_unhealthy(lambda: self._retire(generation, hangs=True))
            elif not isinstance(error, wire.PluginGone):
                generation.answered = True
            raise error from None
        generation.answered = True
        return response

    async def _current(self) -> Generation:
        """The generation that serves; all who ask while there is none share one start."""
        with self._lock:
            if self._closed.is_set():
                raise wire.PluginError("the provider is closed")
            if self._serving is not None:
                return self._serving
            if self._starting is None:
                delay = self._backoff()
                self._starting = Future()
                threading.Thread(target=self._start, args=(self._starting, delay), daemon=True, name="siteprovider-start").start()
            starting = self._starting
        await _until_done(starting)
        return starting.result()

    def _backoff(self) -> float:
        """Seconds to wait before the next start. Raises where there is to be none for now."""
        since = time.monotonic() - self._failed_at
        if self._failures == 0 or self._failures >= _MAX_FAILURES and since >= _COOL_DOWN:
            return 0.0
        if self._failures < _MAX_FAILURES:
            return max(0.0, _FIRST_BACKOFF * 2.0 ** (self._failures - 1) - since)
        raise wire.PluginError(
            f"it failed {self._failures} times in a row; the next start is tried in {_COOL_DOWN - since:.0f} s; "
            f"the last time: {self._failure}"
        )

    def _start(self, started: Future[Generation], delay: float) -> None:
        generation: Generation | None = None
        error: Exception = wire.PluginError("the provider is closed")
        if not self._closed.wait(delay):
            try:
                generation = launch(self.settings)
            except StartError as err:
                error = err
            except Exception as err:  # nothing may keep those waiting who share this start
                error = wire.PluginError(f"plugin {self.settings.command[0]}: {type(err).__name__}: {err}")
        with self._lock:
            self._starting = None
            closed = self._closed.is_set()
            if closed:
                error = wire.PluginError("the provider is closed")
            elif generation is not None:
                self._serving = generation
            else:
                self._failures += 1
                self._failed_at, self._failure = time.monotonic(), str(error)
        if generation is not None and not closed:
            log.info("plugin %s started (process %d)", generation.process.name, generation.process.pid)
            started.set_result(generation)
            serving = generation
            serving.process.when_exited(lambda: self._retire(serving))
            return
        if not closed:
            log.error("%s", error)
        started.set_exception(error)
        if generation is not None:
            generation.stop()

    def _retire(self, generation: Generation, hangs: bool = False) -> None:
        """Take a generation out of service, once, and see it to its end."""
        with self._lock:
            if self._serving is not generation:
                return
            self._serving = None
            if generation.answered:
                self._failures = 0
            else:
                self._failures += 1
                self._failed_at = time.monotonic()
                self._failure = f"plugin {generation.process.name} ended without having answered a call"
        threading.Thread(target=self._bury, args=(generation, hangs), daemon=True, name="siteprovider-end").start()

    def _bury(self, generation: Generation, hangs: bool) -> None:
        process = generation.process
        # One that was told to end still finishes calls.
        if hangs or not process.exited.wait(_DRAIN_TIME):
            process.kill()
            process.exited.wait(_DRAIN_TIME)
        words = process.last_words()
        log.warning(
            "plugin %s (process %d) ended, %s; the next call starts it again%s",
            process.name,
            process.pid,
            "it no longer answered" if hangs else process.how_it_ended(),
            f"; its last words: {words}" if words else "",
        )
        generation.stop(ask=False)

    def leave(self) -> Generation | None:
        """Start no process any more, and return the one that serves to whoever ends it."""
        with self._lock:
            self._closed.set()
            generation, self._serving = self._serving, None
            return generation

    def stop(self) -> None:
        """End the plugin for good, in bounded time. Calls in flight fail."""
        generation, starting = self.leave(), self._starting
        if generation is not None:
            generation.stop()
        if starting is not None:
            try:
                starting.exception(timeout=_EXIT_GRACE)  # its thread ends what it has started
            except TimeoutError:
                pass


async def _by(deadline: float, waiting: Coroutine[Any, Any, _T]) -> _T:
    """What a coroutine returns, or the error that it was not there by the deadline."""
    try:
        async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
            return await waiting
    except TimeoutError:
        raise wire.PluginError("the plugin was not ready in time", "did not answer in time") from None


async def _until_done(source: Any) -> None:
    """Wait, in whatever event loop runs, for a future that some thread completes."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def finish() -> None:
        if not done.done():
            done.set_result(None)

    def wake(_: Any) -> None:
        try:
            loop.call_soon_threadsafe(finish)
        except RuntimeError:
            pass  # the loop is closed, and nobody waits any more

    source.add_done_callback(wake)
    await done


class _Registry:
    """The plugins of this process, by their settings, and how many use each."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.plugins: dict[Settings, tuple[Plugin, int]] = {}

    def acquire(self, settings: Settings) -> Plugin:
        with self.lock:
            plugin, users = self.plugins.get(settings) or (Plugin(settings), 0)
            self.plugins[settings] = plugin, users + 1
            return plugin

    def release(self, plugin: Plugin) -> bool:
        """Whether that was the last one, so that the plugin is to be stopped."""
        with self.lock:
            entry = self.plugins.get(plugin.settings)
            if entry is None or entry[0] is not plugin:
                return False
            if entry[1] > 1:
                self.plugins[plugin.settings] = plugin, entry[1] - 1
                return False
            del self.plugins[plugin.settings]
            return True


_registry = _Registry()


def acquire(settings: Settings) -> Plugin:
    """The plugin that all share whose settings are equal. It is not started before it is called."""
    return _registry.acquire(settings)


async def release(plugin: Plugin) -> None:
    """Give back what acquire returned; the last one ends the process."""
    if not _registry.release(plugin):
        return
    stopped: Future[None] = Future()

    def stop() -> None:
        try:
            plugin.stop()
        finally:
            stopped.set_result(None)

    threading.Thread(target=stop, daemon=True, name="siteprovider-end").start()
    await _until_done(stopped)


def _at_exit() -> None:
    """End what a host left open. No thread can be started any more."""
    for plugin, _ in _registry.plugins.values():
        plugin.leave()
    end_all(_EXIT_GRACE)


def _after_fork() -> None:
    """A forked process shares no plugin with its parent, and must not keep the
    parent's alive."""
    global _registry
    _registry = _Registry()
    abandon_all()


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_after_fork)
