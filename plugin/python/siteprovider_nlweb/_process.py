"""One plugin process: its start, its handshake, and its end.

It works with threads only and with no event loop, so that several loops and
threads can share a process.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from typing import IO

from ._log import LastWords, child_level, log
from ._settings import find_executable

# What both sides agree on; package plugin of the Go module says it, too.
_COOKIE = ("SITEPROVIDER_PLUGIN", "c8f1b7de-search-provider-over-go-plugin")
_LEASE = ("SITEPROVIDER_PLUGIN_LEASE", "stdin")
_LOG_LEVEL = "SITEPROVIDER_PLUGIN_LOG"
_VERSION = "1"

# The variables of the host that a plugin gets; it gets no others.
_PASSED_ON = (
    "PATH HOME USER LOGNAME TMPDIR TMP TEMP TZ LANG LC_ALL LC_CTYPE LC_MESSAGES SSL_CERT_FILE SSL_CERT_DIR "
    "HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy GOMEMLIMIT"
).split()

_SOCKET_DIR_PREFIX = "spsock-"
_MAX_SOCKET_DIR = 80  # bytes: a socket's path has at most 104 on macOS, 108 on Linux
_MAX_LINE = 64 << 10
_EXIT_TIME = 2.0  # seconds that a process has to end by itself
_KILL_TIME = 2.0  # and to be gone once it was killed
_NOTICE_TIME = 1.0  # what it takes at most to notice an end that is under way


class StartError(RuntimeError):
    """A plugin that could not be started. The message says why, with its last words."""


class Process:
    """A running plugin process. `address` is the path of its socket."""

    def __init__(self, command: tuple[str, ...], sha256: str | None) -> None:
        """Start the process, without waiting for it. Raises StartError."""
        self._words = LastWords()
        self.exited = threading.Event()
        self._signalling = threading.Lock()  # held while the process number is certainly its own
        self._gone = False
        self._status: int | None = None
        self._when_exited: list[Callable[[], None]] = []
        self._first_line: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        try:
            executable = find_executable(command[0])
            _check_sha256(executable, sha256)
            self._sockets = _SocketDir()
        except OSError as err:
            raise StartError(f"plugin {command[0]}: {err}") from None
        self.name = executable
        try:
            self._popen = subprocess.Popen(
                [executable, *command[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=_environment(self._sockets.path),
                start_new_session=True,
            )
        except (OSError, ValueError) as err:
            self._sockets.remove()
            raise StartError(f"plugin {executable}: {getattr(err, 'strerror', None) or err}") from None
        _living.add(self)
        assert self._popen.stdout is not None and self._popen.stderr is not None
        self._thread(self._read_stdout, self._popen.stdout)
        self._listening = self._thread(self._words.read, self._popen.stderr)
        self._thread(self._wait)

    @property
    def pid(self) -> int:
        return self._popen.pid

    def _thread(self, run: Callable[..., None], *args: object) -> threading.Thread:
        thread = threading.Thread(target=run, args=args, daemon=True, name=f"siteprovider-{self.pid}")
        thread.start()
        return thread

    def handshake(self, timeout: float) -> str:
        """Wait for the line on standard output that tells the address. Raises StartError."""
        try:
            line = self._first_line.get(timeout=max(0.0, timeout))
        except queue.Empty:
            raise self.start_error(f"no handshake within {timeout:.0f} s") from None
        if not line:
            raise self.start_error(f"it ended before the handshake ({self.how_it_ended()}); is it a siteprovider plugin?")
        fields = line.decode("utf-8", "replace").rstrip("\r\n").split("|")
        if len(fields) < 5 or fields[0] != "1":
            raise self.start_error(f"{fields[0][:100]!r} on its standard output is no handshake")
        if fields[1] != _VERSION:
            raise self.start_error(f"it speaks protocol version {fields[1][:20]}, this host version {_VERSION}")
        if fields[2] != "unix" or fields[4] != "grpc":
            raise self.start_error(f"it serves {fields[4][:20]} over {fields[2][:20]}, want grpc over unix")
        if len(fields) > 5 and len(fields[5]) > 50:
            raise self.start_error("it wants TLS, which this host does not offer on a private socket")
        return fields[3]

    def start_error(self, reason: str) -> StartError:
        """The error of a start that failed, with what the process said last."""
        words = self.last_words()
        return StartError(f"plugin {self.name}: {reason}" + (f"; its last words: {words}" if words else ""))

    def last_words(self) -> str:
        """What the process wrote last; all of it, once it has ended."""
        if self.exited.is_set():
            self._listening.join(_NOTICE_TIME)
        return self._words.telling()

    def how_it_ended(self) -> str:
        """Such as `exit status 2` or `signal 9`. An end that is under way is waited for."""
        if not self.exited.wait(_NOTICE_TIME):
            return "it still runs"
        status = self._status
        if status is None:
            return "its status is not known"
        return f"signal {-status}" if status < 0 else f"exit status {status}"

    def when_exited(self, call: Callable[[], None]) -> None:
        """Have call called from some thread when the process has ended."""
        with self._signalling:
            if not self._gone:
                self._when_exited.append(call)
                return
        call()

    def give_up_lease(self) -> None:
        """Close the plugin's standard input, which tells it to end."""
        assert self._popen.stdin is not None
        try:
            self._popen.stdin.close()
        except OSError:
            pass

    def kill(self) -> None:
        """Kill the process and all that it started."""
        with self._signalling:
            if not self._gone:
                _kill_group(self.pid)

    def end(self, grace: float = _EXIT_TIME) -> None:
        """See the process to its end, which it may take `grace` seconds for, and clean up."""
        self.give_up_lease()
        if not self.exited.wait(grace):
            self.kill()
            if not self.exited.wait(_KILL_TIME):
                log.error("plugin %s does not end though it was killed (process %d)", self.name, self.pid)
        self._sockets.remove()
        _living.discard(self)

    def abandon(self) -> None:
        """Let go of a process that belongs to the parent of this one."""
        self.give_up_lease()
        self._sockets.let_go()

    def _read_stdout(self, stream: IO[bytes]) -> None:
        with stream:
            self._first_line.put(stream.readline(_MAX_LINE))
            while stream.readline(_MAX_LINE):
                pass  # a full pipe would block the plugin

    def _wait(self) -> None:
        # What the process started is killed while its number cannot be given
        # to another one, that is, before it is reaped.
        if hasattr(os, "waitid"):
            try:
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            except ChildProcessError:
                pass  # the host reaps all its children
            else:
                with self._signalling:
                    _kill_group(self.pid)
        status = self._popen.wait()
        if not hasattr(os, "waitid"):
            _kill_group(self.pid)
        with self._signalling:
            self._gone, self._status = True, status
            calls, self._when_exited = self._when_exited, []
        self.exited.set()
        for call in calls:
            call()


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _environment(socket_dir: str) -> dict[str, str]:
    env = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    env.update([_COOKIE, _LEASE])
    env[_LOG_LEVEL] = child_level()
    env["PLUGIN_PROTOCOL_VERSIONS"] = _VERSION
    env["PLUGIN_UNIX_SOCKET_DIR"] = socket_dir
    return env


def _check_sha256(path: str, want: str | None) -> None:
    if want is None:
        return
    with open(path, "rb") as f:
        got = hashlib.file_digest(f, "sha256").hexdigest()
    if got != want:
        raise OSError(f"its SHA-256 is {got}, the one required is {want}")


class _SocketDir:
    """A private directory for the socket. Its lock tells that its host is alive, so
    that other hosts can remove what a killed one has left."""

    def __init__(self) -> None:
        for _ in range(3):
            self.path = tempfile.mkdtemp(prefix=_SOCKET_DIR_PREFIX)  # mode 0700
            if len(os.fsencode(self.path)) > _MAX_SOCKET_DIR:
                os.rmdir(self.path)
                raise OSError(
                    f"the socket directory {self.path} is longer than {_MAX_SOCKET_DIR} bytes: set TMPDIR to a shorter path"
                )
            try:
                self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except FileNotFoundError:
                continue  # removed between the making and the lock
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                pass  # somebody looks whether it is in use, or locks do not work here
            if os.path.isdir(self.path):
                return
            os.close(self._lock)
        raise OSError("others remove socket directories at once")

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self.let_go()

    def let_go(self) -> None:
        """Close the lock, and leave the directory."""
        lock, self._lock = self._lock, -1
        if lock >= 0:
            os.close(lock)


_living: set[Process] = set()


def end_all(grace: float) -> None:
    """End all processes when no thread can be started any more, as at the end of the host."""
    processes = list(_living)
    for process in processes:
        process.give_up_lease()
    deadline = time.monotonic() + grace
    for process in processes:
        process.end(max(0.0, deadline - time.monotonic()))


def abandon_all() -> None:
    """Let go of the processes that belong to the parent of this one, which was forked."""
    for process in list(_living):
        process.abandon()
    _living.clear()
