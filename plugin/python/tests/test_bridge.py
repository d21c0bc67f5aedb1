"""Searches and lookups through the bridge, against the real program and its store."""

import asyncio
import json
import os
import threading
import unittest
from typing import Any

from bridge_case import BridgeCase, children, ingest, run, samples
from nlweb_core.retriever import ObjectLookupProvider, RetrievalProvider

from siteprovider_nlweb import SiteproviderObjectLookupProvider, SiteproviderRetrievalProvider


def recipe(name: str, url: str, **more: Any) -> dict[str, Any]:
    return {"@context": "https://schema.org", "@type": "Recipe", "name": name, "url": url, **more}


class BridgeTest(BridgeCase):
    def test_searches_and_lookups_share_one_process(self) -> None:
        run("--data", self.store(), "ingest", *samples())

        async def both() -> None:
            search, lookup = SiteproviderRetrievalProvider(**self.real()), SiteproviderObjectLookupProvider(**self.real())
            self.assertIsInstance(search, RetrievalProvider)
            self.assertIsInstance(lookup, ObjectLookupProvider)
            self.assertEqual([], children())  # lazily
            items = await search.search("noodle soup", "kitchen.example", 3, index_name="x", query_params={})
            self.assertEqual({"kitchen.example"}, {i.site for i in items})
            self.assertEqual(3, len(items))
            for item in items:
                self.assertEqual(item.raw_schema_object, await lookup.get_by_id(item.url))
            self.assertEqual(1, len(children()))
            await search.close()
            self.assertIsNotNone(await lookup.get_by_id(items[0].url))
            with self.assertRaisesRegex(RuntimeError, "closed"):
                await search.search("noodle soup", "all")
            await lookup.close()
            await lookup.close()
            self.assertEqual([], children())

        asyncio.run(both())

    def test_other_settings_are_another_process(self) -> None:
        async def both() -> None:
            one = SiteproviderRetrievalProvider(**self.real())
            other = SiteproviderRetrievalProvider(**self.real(cache_bytes=1 << 20))
            await asyncio.gather(one.search("x", "all"), other.search("x", "all"))
            self.assertEqual(2, len(children()))
            await one.close()
            self.assertEqual(1, len(children()))
            await other.close()

        asyncio.run(both())

    def test_sites(self) -> None:
        data = self.store()
        for site in ("a.example", "b.example", "c.example"):
            ingest(data, recipe(f"soup of {site}", f"https://{site}/"), site=site)

        async def sites(search: SiteproviderRetrievalProvider, *args: Any) -> list[str]:
            return sorted(i.site for i in await search.search("soup", *args))

        async def all_of_them() -> None:
            search = SiteproviderRetrievalProvider(**self.real())
            every = ["a.example", "b.example", "c.example"]
            for site in ("all", "ALL", "*", None, ["a.example", "All"], ("*",)):
                self.assertEqual(every, await sites(search, site), site)
            self.assertEqual(every, await sites(search))
            self.assertEqual(["a.example"], await sites(search, "a.example"))
            self.assertEqual(["a.example", "c.example"], await sites(search, ["c.example", "a.example", "d.example"]))
            self.assertEqual([], await sites(search, "a.example, b.example"))
            for site in ("", " ", [], [""], "a\nb", "\ud800", 5, b"a.example", ["a.example", 5]):
                with self.assertRaises(ValueError, msg=repr(site)):
                    await sites(search, site)
            await search.close()

        asyncio.run(all_of_them())

    def test_one_item_for_each_url(self) -> None:
        """The first page of hits is one document on many sites; more is asked for."""
        data = self.store()
        for n in range(12):
            ingest(data, recipe("leek soup with leek", "https://a.example/leek"), site=f"s{n:02}.example")
        ingest(data, recipe("a long soup of many other things and a little leek", "https://b.example/2"))
        ingest(data, recipe("another long soup of many other things and some leek", "https://b.example/3"))

        async def search() -> None:
            search, lookup = SiteproviderRetrievalProvider(**self.real()), SiteproviderObjectLookupProvider(**self.real())
            best = json.loads(run("--data", data, "--json", "search", "leek soup"))["hits"][0]["site"]
            for n in (1, 2, 3, 4, 1000, 5000):
                items = await search.search("leek soup", "all", n)
                self.assertEqual(best, items[0].site)
                urls = [i.url for i in items]
                self.assertEqual(len(set(urls)), len(urls))
                self.assertEqual(min(n, 3), len(urls))
            for n in (0, -1):
                self.assertEqual([], await search.search("leek soup", "all", n))
            for blank in ("", " \n"):
                self.assertEqual([], await search.search(blank, "all"))
            self.assertIsNone(await lookup.get_by_id("https://a.example/leek"), "ambiguous")
            self.assertIsNone(await lookup.get_by_id("https://a.example/none"))
            self.assertIsNone(await lookup.get_by_id(""))
            await search.close()
            await lookup.close()

        asyncio.run(search())

    def test_dates_are_filtered(self) -> None:
        self.store(
            recipe("old soup", "https://a.example/old", datePublished="2025-02-28"),
            recipe("new soup", "https://a.example/new", datePublished="2026-03-01T10:00:00+01:00"),
            recipe("soup of no date", "https://a.example/none"),
        )

        async def search() -> None:
            search = SiteproviderRetrievalProvider(**self.real())
            for date_filter, want in {
                "datePublished ge 2026-02-26T02:21:00.123456+00:00": ["new"],
                "datePublished lt 2026-01-01": ["old"],
                "datePublished ge '2025-01-01T00:00:00Z' and datePublished lt 2026-04-01": ["new", "old"],
                "datePublished ge 2026-03-01T09:30:00Z": [],
            }.items():
                items = await search.search("soup", "a.example", 50, date_filter=date_filter)
                self.assertEqual(want, sorted(i.url.rpartition("/")[2] for i in items), date_filter)
                dates = [i.schema_object[0]["datePublished"] for i in items]
                self.assertTrue(all("+" in d for d in dates), dates)
            for date_filter in ("datePublished", "site eq 'x'", "datePublished ge 2026 or 1 eq 1", "datePublished ge soon"):
                with self.assertRaises(ValueError, msg=date_filter):
                    await search.search("soup", "a.example", 50, date_filter=date_filter)
            await search.close()

        asyncio.run(search())

    def test_wrong_arguments_are_value_errors(self) -> None:
        async def wrong() -> None:
            search, lookup = SiteproviderRetrievalProvider(**self.real()), SiteproviderObjectLookupProvider(**self.real())
            with self.assertRaisesRegex(ValueError, "16384"):
                await search.search("x" * 20_000, "all")
            with self.assertRaises(ValueError):
                await search.search("\ud800", "all")
            with self.assertRaisesRegex(ValueError, "8192"):
                await lookup.get_by_id("https://a.example/" + "x" * 9000)
            await search.close()
            await lookup.close()

        asyncio.run(wrong())

    def test_large_objects(self) -> None:
        """A reply has room for three of these; what is known of the rest comes without it."""
        urls = [f"https://a.example/{n}" for n in range(5)]
        self.store(*(recipe(f"large soup {u}", u, text="soup " * 780_000) for u in urls))

        async def large() -> None:
            search, lookup = SiteproviderRetrievalProvider(**self.real()), SiteproviderObjectLookupProvider(**self.real())
            with self.assertLogs("siteprovider_nlweb", "WARNING") as logs:
                items = await search.search("large soup", "all")
            self.assertIn("RESULT_TRUNCATED", "".join(logs.output))
            self.assertEqual(urls, sorted(i.url for i in items))
            names = [i.schema_object[0]["name"] for i in items]
            self.assertEqual([f"large soup {i.url}" for i in items], names)
            self.assertEqual({True, False}, {"text" in i.schema_object[0] for i in items})
            for found in await asyncio.gather(*(lookup.get_by_id(u) for u in urls)):
                assert found is not None
                self.assertEqual(3_900_000, len(found["text"]))
            await search.close()
            await lookup.close()

        asyncio.run(large())

    def test_many_at_once_from_several_threads_and_loops(self) -> None:
        run("--data", self.store(), "ingest", *samples())
        search, lookup = SiteproviderRetrievalProvider(**self.real()), SiteproviderObjectLookupProvider(**self.real())
        pids: list[list[int]] = []
        failed: list[BaseException] = []

        async def many() -> None:
            items = await search.search("noodle soup", "all", 10)
            found = await asyncio.gather(*(lookup.get_by_id(i.url) for i in items * 100))
            assert len(found) == 1000 and all(found)
            pids.append(children())

        def loop() -> None:
            try:
                asyncio.run(many())
                asyncio.run(many())
            except BaseException as err:
                failed.append(err)

        threads = [threading.Thread(target=loop) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([], failed)
        self.assertEqual(1, len({tuple(p) for p in pids}), pids)

        async def close() -> None:
            await search.close()
            await lookup.close()

        asyncio.run(close())

    def test_what_is_ingested_meanwhile_is_found(self) -> None:
        async def search() -> None:
            search = SiteproviderRetrievalProvider(**self.real())
            with self.assertLogs("siteprovider_nlweb", "WARNING") as logs:
                self.assertEqual([], await search.search("soup", "all"))
            self.assertIn("no store in", logs.output[0])
            self.store(recipe("soup", "https://a.example/"))
            self.assertEqual(1, len(await search.search("soup", "all")))
            await search.close()

        asyncio.run(search())

    def test_the_plugin_gets_little_of_the_hosts_environment(self) -> None:
        secret = "sk-very-secret-0451"
        os.environ["SECRET_OF_THE_HOST"] = os.environ["PLUGIN_CLIENT_CERT"] = secret
        self.addCleanup(os.environ.pop, "SECRET_OF_THE_HOST")
        self.addCleanup(os.environ.pop, "PLUGIN_CLIENT_CERT")

        async def ask() -> None:
            search = SiteproviderRetrievalProvider(**self.fake(api_key=secret, nested={"x": [1]}))
            with self.assertLogs("siteprovider_nlweb", "DEBUG") as logs:
                answers = {}
                for what in ("settings", "env", "args"):
                    (item,) = await search.search(what, "all")
                    answers[what] = json.loads(item.schema_object[0]["name"])
            self.assertEqual({"api_key": secret, "backend": "fake", "nested": {"x": [1]}}, answers["settings"])
            self.assertNotIn(secret, json.dumps([answers["env"], answers["args"], logs.output]) + repr(vars(search._provider)))
            self.assertEqual(os.environ["PATH"], answers["env"]["PATH"])
            self.assertNotIn("SECRET_OF_THE_HOST", answers["env"])
            sockets = answers["env"]["PLUGIN_UNIX_SOCKET_DIR"]
            self.assertEqual(0o700, os.stat(sockets).st_mode & 0o777)
            await search.close()
            self.assertFalse(os.path.exists(sockets))

        asyncio.run(ask())


if __name__ == "__main__":
    unittest.main()
