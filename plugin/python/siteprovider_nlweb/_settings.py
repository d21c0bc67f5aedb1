"""What an entry of NLWeb's configuration means."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DEFAULT_COMMAND = "siteprovider"
DEFAULT_DATA = "siteprovider-data"
DEFAULT_TIMEOUT = 20.0
EMBEDDED = "embedded"

_SHA256 = re.compile(r"[0-9a-fA-F]{64}\Z")


class SettingsError(ValueError):
    """A configuration entry that cannot work. It shows no value that may be a key."""


@dataclass(frozen=True)
class Settings:
    """One configured provider. Equal settings are served by one process."""

    command: tuple[str, ...]
    """The executable, a name to be found in PATH or an absolute path, and its arguments."""

    document: bytes = field(repr=False)
    """The JSON document that the plugin is configured with. It may hold keys."""

    sha256: str | None = None
    """What the executable's SHA-256 must be, in lower-case hexadecimal; None: anything."""

    timeout: float = field(default=DEFAULT_TIMEOUT, compare=False)
    """Seconds that one search or lookup may take, a start of the plugin included."""

    data: str | None = field(default=None, compare=False)
    """The directory of the embedded store; None with another backend."""


def read_settings(options: Mapping[str, Any]) -> Settings:
    """Read the keyword arguments that NLWeb makes of a configuration entry.

    Relative paths start from the directory of NLWeb's configuration file, or
    from the working directory if NLWeb was not started from a file.
    """
    values = dict(options)
    if "use" in values:
        values = _used_entry(values)
    for name, value in values.items():
        if value is None:
            raise SettingsError(f"{name} has no value; if the file says {name}_env, that variable is not set")
    command = _command(values)
    sha256 = values.pop("plugin_sha256", None)
    if sha256 is not None and not (isinstance(sha256, str) and _SHA256.match(sha256)):
        raise SettingsError("plugin_sha256: want 64 hexadecimal digits")
    timeout = _timeout(values.pop("timeout", DEFAULT_TIMEOUT))

    # Everything else is the plugin's own.
    backend = values.setdefault("backend", EMBEDDED)
    data = None
    if backend == EMBEDDED:
        data = values["data"] = _path("data", values.get("data", DEFAULT_DATA))
        cache = values.get("cache_bytes")
        if isinstance(cache, str) and cache.strip().isdecimal():  # as it comes from a variable
            values["cache_bytes"] = int(cache)
    try:
        document = json.dumps(values, sort_keys=True, allow_nan=False).encode()
    except (TypeError, ValueError):
        raise SettingsError("the entry holds a value that has no form in JSON") from None
    return Settings(command, document, sha256.lower() if sha256 else None, timeout, data)


def _used_entry(values: dict[str, Any]) -> dict[str, Any]:
    """The entry that `use: retrieval.NAME` stands for."""
    beside = sorted(values.keys() - {"use", "timeout"})
    if beside:
        raise SettingsError(f"{beside[0]} has no meaning beside use")
    use = values.pop("use")
    if not isinstance(use, str) or not use:
        raise SettingsError("use: want retrieval.NAME")
    name = use.removeprefix("retrieval.")
    config = _nlweb_config()
    if config is None:
        raise SettingsError("use needs a host that was started from a configuration file; repeat the entry's keys instead")
    entry = config.retrieval_providers.get(name)
    if entry is None:
        raise SettingsError(f"use: there is no entry retrieval.{name}")
    if "use" in entry.options:
        raise SettingsError(f"use: retrieval.{name} says use, too")
    return {**entry.options, **values}


def _command(values: dict[str, Any]) -> tuple[str, ...]:
    command, plugin = values.pop("command", None), values.pop("plugin", None)
    if command is not None and plugin is not None:
        raise SettingsError("command and plugin both name an executable; leave one of them out")
    words = plugin if command is None else command
    if words is None:
        words = DEFAULT_COMMAND
    if isinstance(words, str):
        words = [words, "plugin"]
    if not isinstance(words, list) or not words or not all(isinstance(w, str) and "\0" not in w for w in words):
        raise SettingsError("command: want an executable, or a list of an executable and its arguments")
    executable = words[0]
    if not executable.strip():
        raise SettingsError("command: the executable is blank")
    if os.sep in executable or plugin is not None:
        executable = _path("command", executable)
    return (executable, *words[1:])


def _timeout(value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = 0.0
    if isinstance(value, bool) or not 0 < seconds <= 3600:
        raise SettingsError("timeout: want a number of seconds, above 0 and at most 3600")
    return seconds


def _path(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise SettingsError(f"{name}: want a path")
    config = _nlweb_config()
    base = Path(config.config_directory) if config is not None and config.config_directory else Path.cwd()
    return os.path.normpath(base / value)


def _nlweb_config() -> Any:
    """NLWeb's configuration, or None where it was not loaded from a file."""
    from nlweb_core.config import get_config

    try:
        return get_config()
    except RuntimeError:
        return None


def find_executable(name: str) -> str:
    """The path of an executable. Raises FileNotFoundError or PermissionError, which say what to do."""
    found = shutil.which(name)
    if found is not None:
        return os.path.abspath(found)
    if os.sep not in name:
        raise FileNotFoundError(f"there is no {name} in PATH; give command its full path")
    if not os.path.exists(name):
        raise FileNotFoundError(f"{name} does not exist")
    raise PermissionError(f"{name} is not an executable file")
