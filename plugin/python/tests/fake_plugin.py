"""A plugin that does what a search tells it, written without Go.

The text of a search is a command and its argument; what there is to say comes
back as the name of the only hit. With the argument `stubborn` the process ends
neither when it is told to nor when its host is gone.
"""

import json
import os
import shutil
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))

import grpc  # noqa: E402

from siteprovider_nlweb import _wire as wire  # noqa: E402

STUBBORN = "stubborn" in sys.argv[1:]
ended = threading.Event()
settings: dict[str, Any] = {}
stdio_chunks = 0
stdio_read = threading.Event()


def configure(request: Any, context: grpc.ServicerContext) -> Any:
    settings.update(json.loads(request.settings))
    if "refuse" in settings:
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "invalid argument: settings.refuse: not today")
    return wire.CONFIGURE.response()


def search(request: Any, context: grpc.ServicerContext) -> Any:
    command, _, arg = request.text.partition(" ")
    reply = wire.SEARCH.response()
    reply.hits.add(url="https://a.example/", site="a.example", name=COMMANDS[command](arg, context))
    return reply


def exit_with(arg: str, _: grpc.ServicerContext) -> str:
    print("leaving with", arg, file=sys.stderr, flush=True)
    os._exit(int(arg))


def wait(path: str, context: grpc.ServicerContext) -> str:
    """Leave a mark that the call is here, and answer once the file path exists."""
    context.add_callback(lambda: Path(path + ".over").touch())
    with open(path + ".begun", "a") as f:
        f.write(f"{os.getpid()}\n")
    while not os.path.exists(path) and context.is_active():
        time.sleep(0.005)
    return str(os.getpid())


def write(stream: int, data: bytes) -> str:
    while data:
        data = data[os.write(stream, data) :]
    return "written"


def stdio(arg: str, _: grpc.ServicerContext) -> str:
    """Send so many KiB over the stream of go-plugin, and answer once they are taken."""
    global stdio_chunks
    stdio_chunks = int(arg)
    return "read" if stdio_read.wait(20) else "nobody reads"


COMMANDS = {
    "pid": lambda arg, context: str(os.getpid()),
    "env": lambda arg, context: json.dumps(dict(os.environ)),
    "args": lambda arg, context: json.dumps(sys.argv),
    "settings": lambda arg, context: json.dumps(settings),
    "exit": exit_with,
    "wait": wait,
    "stdout": lambda arg, context: write(1, b"x" * int(arg)),
    "stderr": lambda arg, context: write(2, b"x" * int(arg) + b"\n"),
    "line": lambda arg, context: write(2, arg.encode() + b"\n"),
    "stdio": stdio,
}


def put(request: Any, context: grpc.ServicerContext) -> Any:
    wait(request.documents[0].url, context)
    return wire.PUT.response()


def stream_stdio(_: bytes, context: grpc.ServicerContext) -> Any:
    while stdio_chunks == 0 and context.is_active():
        time.sleep(0.005)
    for _chunk in range(stdio_chunks):
        yield b"\x08\x01\x12\x80\x08" + b"x" * 1024  # channel: stdout, data: 1 KiB
    stdio_read.set()


def shutdown(_: bytes, context: grpc.ServicerContext) -> bytes:
    if not STUBBORN:
        ended.set()
    return b""


def end_with_host() -> None:
    sys.stdin.read()
    shutil.rmtree(os.environ["PLUGIN_UNIX_SOCKET_DIR"])  # the host no longer can
    ended.set()


def handlers() -> list[grpc.GenericRpcHandler]:
    def unary(call: Any) -> Any:
        return grpc.unary_unary_rpc_method_handler(call)

    def ours(method: wire.Method, call: Any) -> Any:
        return grpc.unary_unary_rpc_method_handler(call, method.request.FromString, method.response.SerializeToString)

    service = {m.name: ours(m, c) for m, c in ((wire.CONFIGURE, configure), (wire.SEARCH, search), (wire.PUT, put))}
    return [
        grpc.method_handlers_generic_handler("siteprovider.v1.Provider", service),
        grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": unary(lambda r, c: b"\x08\x01")}),
        grpc.method_handlers_generic_handler("plugin.GRPCController", {"Shutdown": unary(shutdown)}),
        grpc.method_handlers_generic_handler(
            "plugin.GRPCStdio", {"StreamStdio": grpc.unary_stream_rpc_method_handler(stream_stdio)}
        ),
    ]


def main() -> None:
    server = grpc.server(ThreadPoolExecutor(64))
    server.add_generic_rpc_handlers(handlers())
    path = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], "plugin")
    server.add_insecure_port("unix:" + path.replace("%", "%25").replace(" ", "%20"))
    server.start()
    print(f"1|1|unix|{path}|grpc|", flush=True)
    if STUBBORN:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        threading.Thread(target=end_with_host, daemon=True).start()
    ended.wait()
    os._exit(0)


if __name__ == "__main__":
    main()
