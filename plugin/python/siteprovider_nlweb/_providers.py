"""The two classes that NLWeb's configuration names."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from nlweb_core.retrieved_item import RetrievedItem
from nlweb_core.retriever import ObjectLookupProvider, RetrievalProvider

from . import _wire as wire
from ._clean import as_one, clean
from ._filter import add_conditions
from ._log import log
from ._plugin import Plugin, acquire, release
from ._process import StartError
from ._settings import Settings, SettingsError, read_settings

_T = TypeVar("_T")

_LARGE_REPLY = 256 << 10
"""Bytes from which a reply is read in a thread, so that the event loop goes on."""


class _Provider:
    """What both providers have: settings, and a share in the plugin that they name."""

    def __init__(self, section: str, options: dict[str, Any]) -> None:
        self._plugin: Plugin | None = None
        self._closed = False
        self._settings: Settings | None = None
        self._problem: SettingsError | None = None
        # NLWeb would drop every provider it has, ours or not, for one whose
        # constructor fails. So calls say what is wrong, and the log does at once.
        try:
            self._settings = read_settings(options)
        except SettingsError as err:
            self._problem = err
            log.error("%s of siteprovider: %s", section, err)

    async def call(self, method: wire.Method, request: Any) -> Any:
        """Call the plugin. NLWeb shows the text of an error to whoever asked, so
        that of a RuntimeError tells nothing of this machine; its cause does."""
        if self._closed:
            raise RuntimeError("siteprovider: the provider is closed")
        if self._settings is None:
            raise RuntimeError("siteprovider is not configured right; the host's log says why") from self._problem
        if self._plugin is None or self._plugin.owner != os.getpid():
            self._plugin = acquire(self._settings)
            data = self._settings.data
            if data is not None and not os.path.isdir(data):
                log.warning("there is no store in %s yet; nothing is found before something is ingested there", data)
        try:
            return await self._plugin.call(method, request, self._settings.timeout)
        except StartError as err:
            raise RuntimeError("siteprovider is not available; the host's log says why") from err
        except wire.PluginError as err:
            log.error("%s", err)
            raise RuntimeError(f"siteprovider {err.public}; the host's log says why") from err

    async def close(self) -> None:
        self._closed = True
        plugin, self._plugin = self._plugin, None
        if plugin is not None and plugin.owner == os.getpid():
            await release(plugin)


async def _read(reply: Any, read: Callable[[Any], _T]) -> _T:
    if reply.ByteSize() < _LARGE_REPLY:
        return read(reply)
    return await asyncio.to_thread(read, reply)


class SiteproviderRetrievalProvider(RetrievalProvider):
    """Searches the documents of one site, several, or all."""

    def __init__(self, **options: Any) -> None:
        self._provider = _Provider("retrieval", options)

    async def search(
        self,
        query: str,
        site: str | Sequence[str] | None = None,
        num_results: int = 50,
        *,
        date_filter: str | None = None,
        **_: Any,
    ) -> list[RetrievedItem]:
        """Return at most num_results items, best first, one for each URL.

        None, `all` in any case, `*`, or a list that holds one of these, are every
        site; a list is searched as one set. A blank query, or no results wanted,
        finds nothing. date_filter, such as `datePublished ge 2026-01-31T00:00:00Z`,
        is applied; other keyword arguments have no meaning here and are ignored.

        Raises ValueError where an argument is wrong, RuntimeError where the
        provider cannot answer.
        """
        limit = min(num_results, wire.MAX_LIMIT)
        request = wire.SEARCH.request(text=query)
        wire.set_scope(request.scope, site)
        if date_filter:
            add_conditions(request.filter, date_filter)
        if limit <= 0 or not query.strip():
            return []
        request.limit = limit
        while True:
            reply = await self._provider.call(wire.SEARCH, request)
            _report(reply)
            items = await _read(reply, _items)
            # Several sites may hold one URL, and then there are fewer items than hits.
            if len(items) >= limit or len(reply.hits) < request.limit or request.limit >= wire.MAX_LIMIT:
                return items[:limit]
            request.limit = min(2 * request.limit, wire.MAX_LIMIT)

    async def close(self) -> None:
        """Give up the plugin; it ends with the last provider that uses it."""
        await self._provider.close()


class SiteproviderObjectLookupProvider(ObjectLookupProvider):
    """Looks up the whole object for a URL."""

    def __init__(self, **options: Any) -> None:
        self._provider = _Provider("object_storage", options)

    async def get_by_id(self, object_id: str) -> dict[str, Any] | None:
        """Return the object that has a URL.

        A document of several objects is returned as one with a `@graph`. The
        result is None where there is no such document, and where several sites
        hold the URL: the caller then keeps the object that its search found.

        Raises ValueError for what cannot be a URL, RuntimeError where the provider
        cannot answer.
        """
        if not object_id:
            return None
        request = wire.GET.request(urls=[object_id])
        wire.set_scope(request.scope, None)
        reply = await self._provider.call(wire.GET, request)
        return await _read(reply, _only_object)

    async def close(self) -> None:
        """Give up the plugin; it ends with the last provider that uses it."""
        await self._provider.close()


def _report(reply: Any) -> None:
    """Log what the provider has to say about an answer."""
    for status in reply.statuses:
        if status.kind == wire.STATUS_NOTICE:
            log.debug("search: %s: %s", status.code, status.message)
        else:
            log.warning("search: %s: %s", status.code, status.message)


def _items(reply: Any) -> list[RetrievedItem]:
    items: dict[str, RetrievedItem] = {}
    for hit in reply.hits:
        if hit.url not in items:
            items[hit.url] = RetrievedItem(url=hit.url, raw_schema_object=_hit_object(hit), site=hit.site)
    return list(items.values())


def _hit_object(hit: Any) -> dict[str, Any] | list[dict[str, Any]]:
    """The object of a hit. What a reply had no room for is looked up later; until
    then, what else is known of it takes its place."""
    objects = _readable(hit)
    if objects:
        return objects if len(objects) > 1 else objects[0]
    known = {"@type": list(hit.types), "name": hit.name, "description": hit.passage, "url": hit.url}
    return {name: value for name, value in known.items() if value}


def _only_object(reply: Any) -> dict[str, Any] | None:
    found = next(iter(reply.objects), None)
    if found is None or not found.found or found.ambiguous:
        return None
    return as_one(_readable(found))


def _readable(source: Any) -> list[dict[str, Any]]:
    if not source.schema:
        return []
    try:
        return clean(source.schema)
    except ValueError as err:
        log.warning("the object of %s cannot be read: %s", source.url, type(err).__name__)
        return []
