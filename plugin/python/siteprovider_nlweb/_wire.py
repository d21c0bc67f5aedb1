"""The wire, siteprovider.v1: its messages, its methods, and what its errors mean.

The messages live in a pool of their own, so that they meet no other package's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf import descriptor_pool, message_factory

from ._descriptor import FILES

MAX_MESSAGE_BYTES = 16 << 20
MAX_LIMIT = 1000
"""Hits that one search may ask for."""

_pool = descriptor_pool.DescriptorPool()
for _file in FILES:
    _pool.AddSerializedFile(_file)


def message(name: str) -> Any:
    """The class of a message of siteprovider.v1."""
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"siteprovider.v1.{name}"))


_enums = _pool.FindFileByName("siteprovider/v1/provider.proto").enum_types_by_name
STATUS_NOTICE: int = _enums["StatusKind"].values_by_name["STATUS_KIND_NOTICE"].number


def operator(name: str) -> int:
    """The number of an operator of a condition, such as GREATER_EQUAL."""
    number: int = _enums["Op"].values_by_name[f"OP_{name}"].number
    return number


@dataclass(frozen=True)
class Method:
    """A method of the service."""

    name: str
    reads: bool
    """It changes nothing, so it may be repeated when the process ended during it."""

    @property
    def path(self) -> str:
        return f"/siteprovider.v1.Provider/{self.name}"

    @property
    def request(self) -> Any:
        return message(f"{self.name}Request")

    @property
    def response(self) -> Any:
        return message(f"{self.name}Response")


CONFIGURE = Method("Configure", reads=False)
SEARCH = Method("Search", reads=True)
GET = Method("Get", reads=True)
LIST = Method("List", reads=True)
SITES = Method("Sites", reads=True)
PUT = Method("Put", reads=False)
DELETE = Method("Delete", reads=False)

# What every plugin of go-plugin serves beside its own service. The messages
# are small enough to be written by hand.
HEALTH_PATH = "/grpc.health.v1.Health/Check"
HEALTH_REQUEST = b"\n\x06plugin"  # service: "plugin"
STDIO_PATH = "/plugin.GRPCStdio/StreamStdio"
SHUTDOWN_PATH = "/plugin.GRPCController/Shutdown"
EMPTY = b""


def set_scope(scope: Any, site: str | Sequence[str] | None) -> None:
    """Fill a Scope message: None, `all` in any case and `*` are every site.

    An empty list or a blank name is left for the plugin to refuse: nothing ever
    widens a search.
    """
    sites = [site] if isinstance(site, str) else site
    if sites is not None and not (isinstance(sites, Sequence) and all(isinstance(s, str) for s in sites)):
        raise ValueError(f"site: want a name or a list of names, not {type(site).__name__}")
    if sites is None or any(s.strip() == "*" or s.strip().lower() == "all" for s in sites):
        scope.all_sites.SetInParent()
    else:
        scope.sites.SetInParent()
        scope.sites.sites.extend(sites)


class PluginGone(Exception):
    """A call that the process did not answer, because it has ended or hangs up."""


class PluginError(RuntimeError):
    """A call that failed. The message is for an operator, `public` for anybody."""

    def __init__(self, words: str, public: str = "is not available") -> None:
        super().__init__(words)
        self.public = public


# The plugin's own errors carry details; without them, the code comes from gRPC
# itself.
_DETAILS = "grpc-status-details-bin"


def call_error(err: grpc.RpcError, what: str) -> Exception:
    """What a failed call means to its caller: ValueError for an argument that is
    wrong, PluginGone, or PluginError."""
    code, words = err.code(), err.details() or "no reason given"
    answered = any(key == _DETAILS for key, _ in err.trailing_metadata() or ())
    if code == grpc.StatusCode.INVALID_ARGUMENT:
        return ValueError(words)
    if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED) and not answered:
        return PluginGone(words)
    if code == grpc.StatusCode.DEADLINE_EXCEEDED and not answered:
        return PluginError(f"{what}: the plugin did not answer in time", "did not answer in time")
    return PluginError(f"{what}: {words}", f"could not answer ({code.name})")
