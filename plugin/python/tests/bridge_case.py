"""What the tests of the bridge share: the program under test, stores, processes."""

import contextlib
import glob
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

TESTS = Path(__file__).resolve().parent
REPOSITORY = TESTS.parent.parent.parent
PATIENCE = 120.0  # seconds for what takes one, because the machine may be busy
LONG = os.environ.get("SITEPROVIDER_LONG") == "1"

sys.path.append(str(TESTS.parent))  # the bridge, unless it is installed
logging.getLogger("siteprovider_nlweb").addHandler(logging.NullHandler())  # the tests look at it themselves

from siteprovider_nlweb import _generation  # noqa: E402


def binary() -> str:
    """The siteprovider executable that is tested."""
    path = os.environ.get("SITEPROVIDER", "")
    if not os.access(path, os.X_OK):
        raise AssertionError("set SITEPROVIDER to the executable that `go build ./cmd/siteprovider` makes")
    return os.path.abspath(path)


def run(*args: str, stdin: str | None = None, ok: Iterable[int] = (0,)) -> str:
    """Run the siteprovider command and return what it prints."""
    done = subprocess.run([binary(), *args], input=stdin, capture_output=True, text=True, timeout=300)
    if done.returncode not in ok:
        raise AssertionError(f"siteprovider {' '.join(args)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def ingest(data: str, *objects: Any, site: str | None = None) -> None:
    lines = "".join(json.dumps(o) + "\n" for o in objects)
    run("--data", data, "ingest", *(("--site", site) if site else ()), "-", stdin=lines)


def samples() -> list[str]:
    """The directories of the invented sites."""
    return sorted(str(p) for p in (REPOSITORY / "cmd/siteprovider/samples").iterdir() if p.is_dir())


def until(what: str, true: Callable[[], Any], seconds: float = 60) -> Any:
    """Wait until true() is, and return what it returned."""
    deadline = time.monotonic() + seconds
    while not (result := true()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.01)
    return result


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def dead(pid: int) -> Callable[[], bool]:
    """What tells whether a process has ended."""
    return lambda: not alive(pid)


def children(pid: int | None = None) -> list[int]:
    """The processes that a process has started, this one if none is named."""
    found = []
    for stat in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(stat).read_text().rpartition(")")[2].split()
            if int(fields[1]) == (pid or os.getpid()) and fields[0] != "Z":
                found.append(int(stat.split("/")[2]))
    return found


class BridgeCase(unittest.TestCase):
    """A test with a directory of its own, after which no process and no socket is left."""

    def setUp(self) -> None:
        made = tempfile.TemporaryDirectory(prefix="sp", dir="/tmp")
        self.addCleanup(made.cleanup)
        self.dir = made.name
        self.sockets = os.path.join(self.dir, "t")
        os.mkdir(self.sockets)
        old = tempfile.tempdir
        tempfile.tempdir = self.sockets
        self.addCleanup(setattr, tempfile, "tempdir", old)
        patient = mock.patch.object(_generation, "START_TIMEOUT", PATIENCE)
        patient.start()
        self.addCleanup(patient.stop)
        self.addCleanup(self.nothing_is_left)

    def nothing_is_left(self) -> None:
        try:
            until("the plugin has ended", lambda: not children())
        finally:  # or every test that follows fails, too
            for pid in children():
                os.kill(pid, signal.SIGKILL)
        until("its socket directory is gone", lambda: not os.listdir(self.sockets))

    def path(self, name: str) -> str:
        return os.path.join(self.dir, name)

    def store(self, *objects: Any) -> str:
        """A store of some objects."""
        data = self.path("store")
        if objects:
            ingest(data, *objects)
        return data

    def fake(self, *args: str, **options: Any) -> dict[str, Any]:
        """The configuration of a plugin that does what a search tells it."""
        return {
            "command": [sys.executable, str(TESTS / "fake_plugin.py"), *args],
            "backend": "fake",
            "timeout": PATIENCE,
            **options,
        }

    def real(self, **options: Any) -> dict[str, Any]:
        return {"command": binary(), "data": self.path("store"), "timeout": PATIENCE, **options}

    @contextlib.contextmanager
    def fails(self, pattern: str) -> Iterator[None]:
        """What is done here fails with a RuntimeError whose cause says what the
        pattern says, while its own text tells a stranger nothing."""
        with self.assertRaises(RuntimeError) as caught:
            yield
        cause = caught.exception.__cause__
        self.assertRegex(str(cause), pattern)
        self.assertRegex(str(caught.exception), r"\Asiteprovider [a-z ]+( \([A-Z_]+\))?; the host's log says why\Z")
