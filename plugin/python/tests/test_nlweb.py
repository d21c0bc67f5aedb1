"""NLWeb's own server, as it comes from PyPI, with the bridge as its search."""

import asyncio
import json
import os
import signal
import sys
import time
import unittest
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bridge_case import BridgeCase, alive, binary, children, dead, ingest, run, samples, until
from nlweb_core import config as nlweb_config
from nlweb_host import Answer, Host, example, nlweb

from siteprovider_nlweb import SiteproviderObjectLookupProvider, SiteproviderRetrievalProvider

QUESTIONS = [
    ("noodle soup", "kitchen.example"),
    ("headphones", "gadgets.example"),
    ("winter hike", "trails.example"),
    ("Lesung", "stadtbibliothek.example"),
    ("grillos", "cine.example"),
    ("noodle soup", "all"),
    ("soup", None),
]

HOSTILE = {
    "double quotes": '"noodle" "soup',
    "single quotes": "' OR '1'='1",
    "backslashes": "\\\\ \\n \\u0000",
    "line ends": "noodle\nsoup\r\nnow",
    "tabs and form feeds": "noodle\tsoup\f\v",
    "NUL": "noodle\x00soup",
    "control characters": "".join(map(chr, range(32))),
    "emoji": "🍜🥚 soup 👩‍👩‍👧‍👦",
    "10 KB": "noodle soup " * 900,
    "10 KB in one word": "x" * 10_240,
    "40 KB": "soup " * 8_000,
    "blank": "   ",
    "empty": "",
    "an operator of FTS": "NEAR(noodle soup) AND * OR NOT ^",
    "SQL": "'; DROP TABLE documents; --",
    "braces": "{request.site} {{x}} %s %n ${PATH}",
    "markup": "<script>alert(1)</script> &amp; ]]>",
    "right to left": "\u202eحساء\u200f مرق\u202c",
    "half a surrogate pair": "soup \ud83c",
    "combining marks": "e" + "\u0301" * 3_000,
    "JSON": '{"query":{"text":"soup"}}',
    "a byte order mark": "\ufeffsoup\ufffe\uffff",
}


def found(host: Host, text: str, url: str) -> Callable[[], bool]:
    return lambda: url in host.ask(text, "a.example").urls


class NLWebTest(BridgeCase):
    def setUp(self) -> None:
        super().setUp()
        self.data = self.path("siteprovider-data")

    def answered(self, answer: Answer) -> None:
        self.assertEqual(200, answer.status, answer.document)
        self.assertEqual("0.54", answer.document["_meta"]["version"])

    def test_questions(self) -> None:
        run("--data", self.data, "ingest", *samples())
        with nlweb(self.dir) as host:
            self.assertEqual([], host.plugins())  # before it is asked
            for text, site in QUESTIONS:
                answer = host.ask(text, site)
                self.answered(answer)
                self.assertTrue(answer.urls, (text, site))
                if site not in ("all", None):
                    self.assertEqual({site}, {r["site"] for r in answer.document["results"]})
            (plugin,) = host.plugins()
            best = host.ask("chicken noodle soup", "kitchen.example").document["results"][0]
            shown = json.loads(run("--data", self.data, "get", best["url"]))
            self.assertEqual((shown["name"], shown["@type"]), (best["name"], best["@type"]))
            self.assertEqual([], host.ask("noodle soup", "nowhere.example").urls)
            events = host.stream("chicken noodle soup")
            self.assertIn(best["url"], [r["url"] for e in events for r in e.get("results", ())])

            began = time.monotonic()
            with ThreadPoolExecutor(100) as pool:
                answers = list(pool.map(lambda n: host.ask(*QUESTIONS[n % len(QUESTIONS)]), range(100)))
            took = time.monotonic() - began
            for answer in answers:
                self.answered(answer)
                self.assertTrue(answer.urls)
            self.assertEqual([plugin], host.plugins())
            print(f"\n100 questions at once: {len(answers)} times 200 in {took:.1f} s", file=sys.stderr)

            counts: dict[int, int] = {}
            for what, text in HOSTILE.items():
                for site in ("kitchen.example", "all"):
                    status = host.ask(text, site).status
                    counts[status] = counts.get(status, 0) + 1
                    self.assertLess(status, 500, what)
            for site in ("", " ", "x\ny", "x" * 5000, "a.example,b.example", "'", "🍜"):
                self.assertLess(host.ask("soup", site).status, 500, site)
            print(f"{len(HOSTILE)} hostile questions, for a site and for all: {counts}", file=sys.stderr)

            self.assertTrue(host.ask("noodle soup").urls)
            self.assertEqual([plugin], host.plugins())
            self.assertEqual(0, host.terminate())
            self.assertFalse(alive(plugin))
            print("after SIGTERM: NLWeb's exit status is 0, no process is left", file=sys.stderr)

    def test_the_plugin_is_killed_while_nlweb_serves(self) -> None:
        run("--data", self.data, "ingest", *samples())
        with nlweb(self.dir) as host:
            for _ in range(3):
                self.assertTrue(host.ask("noodle soup").urls)
                (plugin,) = host.plugins()
                os.kill(plugin, signal.SIGKILL)
            self.assertTrue(host.ask("noodle soup").urls)
            self.assertEqual(0, host.terminate())

    def test_a_program_that_is_missing_costs_answers_only(self) -> None:
        run("--data", self.data, "ingest", *samples())
        with nlweb(self.dir) as host:
            program = Path(self.path("bin/siteprovider"))
            there = program.readlink()
            program.unlink()
            answer = host.ask("noodle soup")
            self.assertEqual(500, answer.status)
            self.assertEqual("siteprovider is not available; the host's log says why", answer.document["error"]["message"])
            self.assertIn("there is no siteprovider in PATH; give command its full path", host.log.read_text())
            program.symlink_to(there)
            self.answered(host.ask("noodle soup"))

    def test_nlweb_is_killed(self) -> None:
        run("--data", self.data, "ingest", *samples())
        with nlweb(self.dir) as host:
            self.assertTrue(host.ask("noodle soup").urls)
            (plugin,) = host.plugins()
            host.process.kill()
            host.process.wait()
            until("the plugin ends with its host", dead(plugin))

    def test_what_is_ingested_meanwhile_is_found(self) -> None:
        with nlweb(self.dir) as host:
            self.assertEqual([], host.ask("leek").urls)
            times = []
            for n in range(5):
                url = f"https://a.example/{n}"
                ingest(self.data, {"@type": "Recipe", "name": f"leek number{n}", "url": url, "datePublished": "2026-09-01"})
                done = time.monotonic()
                until("the new document is found", found(host, f"number{n}", url))
                times.append(time.monotonic() - done)
            print(f"\ningested while NLWeb serves, found after at most {max(times) * 1000:.0f} ms", file=sys.stderr)
            self.assertLess(max(times), 1)

    def test_configuration(self) -> None:
        """The README's configuration is read by NLWeb's loader, and by ours."""
        config = Path(self.path("config.yaml"))
        config.write_text(example(more=True))
        ingest(self.data, {"@type": "Recipe", "name": "leek soup", "url": "https://a.example/"})
        self.addCleanup(setattr, nlweb_config, "_STATIC_CONFIG", None)
        here = os.getcwd()
        os.chdir(self.dir)  # where NLWeb makes directories
        self.addCleanup(os.chdir, here)
        os.symlink(binary(), self.path("siteprovider"))
        self.addCleanup(os.environ.__setitem__, "PATH", os.environ["PATH"])
        os.environ["PATH"] = self.dir + os.pathsep + os.environ["PATH"]

        loaded = nlweb_config.initialize_config(config)
        nlweb_config.initialize_providers(loaded)
        os.chdir(here)
        search, lookup = loaded.get_retrieval_provider("default"), loaded.get_object_lookup_provider("default")
        self.assertIsInstance(search, SiteproviderRetrievalProvider)
        self.assertIsInstance(lookup, SiteproviderObjectLookupProvider)

        async def ask() -> None:
            handler = await loaded.get_site_config_lookup("handler").get_config("kitchen.example")
            self.assertEqual("DefaultAskHandler", handler["ask_handler_class"])
            (item,) = await search.search("leek", "all", 50)
            found = await lookup.get_by_id(item.url)
            assert found is not None
            self.assertEqual("leek soup", found["name"])
            self.assertEqual(1, len(children()))
            await nlweb_config.close_all_providers()

        asyncio.run(ask())
        self.assertEqual("1  a.example", run("--config", str(config), "sites").strip())
        self.assertIn("leek soup", run("--config", str(config), "get", "https://a.example/"))


if __name__ == "__main__":
    unittest.main()
