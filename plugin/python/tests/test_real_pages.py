"""Real pages, ingested as HTML and asked for through NLWeb by their names.

With SITEPROVIDER_LONG=1 every document is asked for, else 500 of them.
"""

import asyncio
import gzip
import html
import json
import os
import random
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bridge_case import LONG, REPOSITORY, BridgeCase, run
from nlweb_host import nlweb

from siteprovider_nlweb import _wire as wire
from siteprovider_nlweb._plugin import acquire, release
from siteprovider_nlweb._settings import read_settings

DATA = Path(os.environ.get("SITEPROVIDER_DATA", REPOSITORY.parent / "shared/data"))
SAMPLED = 500
SEED = 4
NAMES = ("name", "headline", "title", "legalName", "alternateName")


def write_pages(directory: Path) -> int:
    """Write one HTML page for each row, and return how many there are."""
    count = 0
    with gzip.open(DATA / "real_jsonld.jsonl.gz", "rt", encoding="utf-8") as rows:
        for line in rows:
            row = json.loads(line)
            url = row["page_url"] or "https://pages.example/" + row["html_path"]
            scripts = "".join(f'<script type="application/ld+json">{s}</script>\n' for s in row["jsonld"])
            text = f'<!DOCTYPE html>\n<link rel="canonical" href="{html.escape(url)}">\n{scripts}'
            (directory / f"{count:05}.html").write_text(text, encoding="utf-8", errors="surrogatepass")
            count += 1
    return count


def a_text(value: Any) -> str:
    """The first text of a property."""
    if isinstance(value, list):
        return next((t for v in value if (t := a_text(v))), "")
    if isinstance(value, dict):
        return a_text(value.get("@value"))
    return value.strip() if isinstance(value, str) else ""


def name_of(schema: bytes) -> str:
    objects = json.loads(schema)
    for obj in objects if isinstance(objects, list) else [objects]:
        for name in NAMES:
            if text := a_text(obj.get(name)):
                return html.unescape(text)[:1000]
    return ""


async def documents(data: str) -> list[tuple[str, str, str]]:
    """Site, URL and name of every document of a store. Some have no name."""
    settings = read_settings({"command": os.environ["SITEPROVIDER"], "data": data})
    plugin = acquire(settings)

    async def pages(method: wire.Method, field: str, key: str, **request: Any) -> list[Any]:
        found: list[Any] = []
        while page := getattr(await plugin.call(method, method.request(**request), 60), field):
            found += page
            request["after"] = getattr(page[-1], key)
        return found

    async def of_site(site: str) -> list[tuple[str, str, str]]:
        out: list[tuple[str, str, str]] = []
        urls = [e.url for e in await pages(wire.LIST, "entries", "url", site=site)]
        while urls:
            request = wire.GET.request(urls=urls[:1000])
            wire.set_scope(request.scope, site)
            objects = (await plugin.call(wire.GET, request, 60)).objects
            out += [(site, o.url, name_of(o.schema)) for o in objects]
            urls = urls[len(objects) :]
        return out

    sites = await pages(wire.SITES, "sites", "site")
    found = await asyncio.gather(*(of_site(s.site) for s in sites))
    await release(plugin)
    return sorted(d for of in found for d in of)


@unittest.skipUnless(DATA.is_dir(), f"no data in {DATA}: set SITEPROVIDER_DATA")
class RealPagesTest(BridgeCase):
    def test_every_document_is_answered_for(self) -> None:
        pages = Path(self.path("pages"))
        pages.mkdir()
        count = write_pages(pages)
        data = self.path("siteprovider-data")
        report = json.loads(run("--data", data, "--json", "ingest", str(pages), ok=(0, 1)))
        every = asyncio.run(documents(data))
        self.assertEqual(report["stored"], len(every))
        asked = every if LONG else random.Random(SEED).sample(every, SAMPLED)

        failed: list[tuple[str, int, Any]] = []
        named = held = 0
        with nlweb(self.dir) as host, ThreadPoolExecutor(4) as pool:
            began = time.monotonic()
            # For the site and for all in turn; all answers there are, so that none is left out unseen.
            sites = [d[0] if n % 2 else "all" for n, d in enumerate(asked)]
            answers = pool.map(lambda d, s: host.ask(d[2] or d[1], s, max_results=100), asked, sites)
            for (_, url, name), answer in zip(asked, answers, strict=True):
                if answer.status != 200:
                    failed.append((url, answer.status, answer.document))
                if name:
                    named += 1
                    held += answer.status == 200 and url in answer.urls
            took = time.monotonic() - began
        print(
            f"\n{count} real pages, {len(every)} documents on {len({d[0] for d in every})} sites; of {len(asked)} answers "
            f"{len(asked) - len(failed)} were 200; of {named} documents that have a name, the answer held {held} ({took:.0f} s)",
            file=sys.stderr,
        )
        self.assertEqual([], failed[:5])
        self.assertGreater(held, 0.98 * named)


if __name__ == "__main__":
    unittest.main()
