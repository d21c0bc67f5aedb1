"""NLWeb's own server as a process, with the configuration that the README shows."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge_case import REPOSITORY, TESTS, alive, binary, children, until

import siteprovider_nlweb

# The sections of NLWeb's that are none of ours.
REST = """
scoring_model:
  default: {import_path: stub_nlweb, class_name: Scoring}
site_config:
  default: {import_path: stub_nlweb, class_name: Sites}
  handler: {import_path: stub_nlweb, class_name: Sites}
"""


def example(more: bool = False) -> str:
    """The configuration that the README shows for NLWeb, with what NLWeb wants besides, or without."""
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"^```yaml nlweb( more|)\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL))
    return str(blocks[""] + blocks[" more"] if more else blocks[""])


@dataclass
class Answer:
    """What NLWeb answered: the HTTP status and the document."""

    status: int
    document: Any

    @property
    def urls(self) -> list[str]:
        return [r["url"] for r in self.document["results"]]


def strict_json(text: bytes) -> Any:
    def refuse(token: str) -> Any:
        raise AssertionError(f"{token} is no JSON")

    return json.loads(text.decode("utf-8"), parse_constant=refuse)


class Host:
    """A running NLWeb server."""

    def __init__(self, process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
        self.process, self.port, self.log = process, port, log

    def ask(self, text: str, site: str | None = "all", **query: Any) -> Answer:
        """POST /ask, not streaming."""
        query = {"text": text, **({"site": site} if site is not None else {}), **query}
        status, body = self._post({"query": query, "prefer": {"streaming": False}})
        return Answer(status, strict_json(body))

    def stream(self, text: str) -> list[Any]:
        """POST /ask, streaming, as is NLWeb's default; the events."""
        _, body = self._post({"query": {"text": text}})
        return [strict_json(line.removeprefix(b"data: ")) for line in body.splitlines() if line.startswith(b"data: ")]

    def _post(self, document: Any) -> tuple[int, bytes]:
        body = json.dumps(document).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/ask", body, headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as err:
            with err:
                return err.code, err.read()

    def plugins(self) -> list[int]:
        return children(self.process.pid)

    def terminate(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


@contextlib.contextmanager
def nlweb(directory: str) -> Iterator[Host]:
    """Run NLWeb with config.yaml in a directory. Its log is printed where a test fails."""
    home = Path(directory)
    config = home / "config.yaml"
    config.write_text(example() + REST)
    programs = home / "bin"
    programs.mkdir()
    (programs / "siteprovider").symlink_to(binary())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = home / "nlweb.log"
    bridge = str(Path(siteprovider_nlweb.__file__).parent.parent)
    env = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(TESTS), bridge]),
        "PYTHONUNBUFFERED": "1",
        "ASK_API_PORT": str(port),
        "TMPDIR": tempfile.gettempdir(),
    }
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", "from nlweb_network.server import main; main()", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd=home,
            env=env,
        )
    host = Host(process, port, log)
    try:
        until("NLWeb serves", lambda: _healthy(host), 60)
        yield host
    except BaseException:
        print(f"the end of NLWeb's log:\n{log.read_text(errors='replace')[-4000:]}", file=sys.stderr)
        raise
    finally:
        plugins = host.plugins()
        if process.poll() is None:
            process.kill()
        process.wait()
        until("the plugin has ended", lambda: not any(alive(p) for p in plugins))


def _healthy(host: Host) -> bool:
    if host.process.poll() is not None:
        raise AssertionError(f"NLWeb ended with status {host.process.returncode}")
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{host.port}/health", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        time.sleep(0.05)
        return False
