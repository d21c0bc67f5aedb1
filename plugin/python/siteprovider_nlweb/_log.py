"""What a plugin process writes to standard error: passed on, and its end kept."""

from __future__ import annotations

import json
import logging
import threading
from collections import deque
from typing import IO

log = logging.getLogger("siteprovider_nlweb")
_child_log = logging.getLogger("siteprovider_nlweb.plugin")

_MAX_LINE = 64 << 10  # bytes; the rest of a longer line is dropped
_KEPT_LINES = 50
_KEPT_CHARS = 1000  # of a kept line
_TELLING_LINES = 3

_LEVELS = {
    "trace": logging.DEBUG,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


def child_level() -> str:
    """The lowest level that is logged here, as a plugin is told."""
    for level, name in ((logging.DEBUG, "DEBUG"), (logging.INFO, "INFO"), (logging.WARNING, "WARN")):
        if _child_log.isEnabledFor(level):
            return name
    return "ERROR"


class LastWords:
    """The last lines of a process. Nothing that it writes makes this fail."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)

    def read(self, stream: IO[bytes]) -> None:
        """Pass on every line until the stream ends."""
        with stream:
            while line := stream.readline(_MAX_LINE):
                rest = line
                while rest and not rest.endswith(b"\n"):
                    rest = stream.readline(_MAX_LINE)
                self._line(line)

    def _line(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if not text:
            return
        level, text = _parse(text)
        with self._lock:
            self._lines.append(text[:_KEPT_CHARS])
        _child_log.log(level, "%s", text)

    def telling(self) -> str:
        """The lines that explain an end best: the head of a Go panic, or the last few."""
        with self._lock:
            lines = list(self._lines)
        for i, line in enumerate(lines):
            if line.startswith(("panic: ", "fatal error: ")):
                return "\n".join(lines[i : i + _TELLING_LINES])
        return "\n".join(lines[-_TELLING_LINES:])


def _parse(text: str) -> tuple[int, str]:
    """The level and the message of a line of hclog's JSON, or the line itself."""
    try:
        entry = json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict) or "@message" not in entry:
        return logging.INFO, text
    level = _LEVELS.get(str(entry.get("@level")).lower(), logging.INFO)
    fields = (f"{k}={v}" for k, v in entry.items() if not k.startswith("@"))
    return level, " ".join([str(entry["@message"]), *fields])
