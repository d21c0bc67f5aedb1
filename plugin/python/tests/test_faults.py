"""What goes wrong with a plugin process never takes its host down, nor hangs it."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from bridge_case import TESTS, BridgeCase, alive, binary, children, dead, until

from siteprovider_nlweb import SiteproviderObjectLookupProvider, SiteproviderRetrievalProvider, _generation, _plugin
from siteprovider_nlweb import _wire as wire


async def ask(search: SiteproviderRetrievalProvider, text: str) -> str:
    """Tell the fake plugin something and return what it says."""
    (item,) = await search.search(text, "all")
    name: str = item.schema_object[0]["name"]
    return name


class FaultTest(BridgeCase):
    def with_fake(self, test: Any, *args: str, **options: Any) -> None:
        """Run a test that gets a provider, and close that afterwards."""

        async def run() -> None:
            search = SiteproviderRetrievalProvider(**self.fake(*args, **options))
            try:
                await test(search)
            finally:
                await search.close()

        asyncio.run(run())

    async def begun(self, path: str, times: int = 1) -> list[int]:
        """The processes in which `wait path` runs, once it does so often."""

        def pids() -> list[int]:
            try:
                return [int(p) for p in Path(path + ".begun").read_text().split()]
            except FileNotFoundError:
                return []

        return (await asyncio.to_thread(until, "the call has begun", lambda: (p := pids()) and len(p) >= times and p)) or []


class ProcessesThatEnd(FaultTest):
    def test_killed_between_calls(self) -> None:
        async def killed(search: SiteproviderRetrievalProvider) -> None:
            pids = set()
            for _ in range(5):
                pid = int(await ask(search, "pid"))
                os.kill(pid, signal.SIGKILL)
                pids.add(pid)
            self.assertEqual(5, len(pids))

        self.with_fake(killed)

    def test_killed_during_a_call(self) -> None:
        """A read is repeated on the next process, once."""

        async def killed(search: SiteproviderRetrievalProvider) -> None:
            path = self.path("go")
            call = asyncio.create_task(ask(search, "wait " + path))
            (first,) = await self.begun(path)
            os.kill(first, signal.SIGKILL)
            _, second = await self.begun(path, 2)
            Path(path).touch()
            self.assertEqual(str(second), await call)

            path = self.path("go2")
            call = asyncio.create_task(ask(search, "wait " + path))
            os.kill((await self.begun(path))[0], signal.SIGKILL)
            os.kill((await self.begun(path, 2))[1], signal.SIGKILL)
            with self.fails("ended during the call"):
                await call
            self.assertTrue(await ask(search, "pid"))

        self.with_fake(killed)

    def test_a_write_is_not_repeated(self) -> None:
        async def killed(search: SiteproviderRetrievalProvider) -> None:
            path = self.path("go")
            request = wire.PUT.request(documents=[{"url": path}])
            call = asyncio.create_task(search._provider.call(wire.PUT, request))
            (first,) = await self.begun(path)
            os.kill(first, signal.SIGKILL)
            with self.fails("put: the plugin ended during the call"):
                await call
            self.assertNotEqual(str(first), await ask(search, "pid"))
            self.assertEqual([first], await self.begun(path))

        self.with_fake(killed)

    def test_many_calls_share_one_start(self) -> None:
        async def killed(search: SiteproviderRetrievalProvider) -> None:
            for _ in range(3):
                pids = set(await asyncio.gather(*(ask(search, "pid") for _ in range(100))))
                self.assertEqual(1, len(pids))
                os.kill(int(pids.pop()), signal.SIGKILL)

        self.with_fake(killed)

    def test_every_call_of_many_ends_while_the_plugin_is_killed(self) -> None:
        async def killed(search: SiteproviderRetrievalProvider) -> None:
            end, right, failed = time.monotonic() + 5, 0, 0

            async def calls() -> None:
                nonlocal right, failed
                while time.monotonic() < end:
                    try:
                        await ask(search, "pid")
                        right += 1
                    except RuntimeError:
                        failed += 1
                        await asyncio.sleep(0.01)

            async def killer() -> None:
                while time.monotonic() < end:
                    await asyncio.sleep(0.3)
                    for pid in children():
                        os.kill(pid, signal.SIGKILL)

            await asyncio.wait_for(asyncio.gather(killer(), *(calls() for _ in range(16))), 100)
            self.assertGreater(right, 0)
            print(f"\nkilled every 300 ms for 5 s: {right} calls right, {failed} failed", file=sys.stderr)

        async def run() -> None:
            self.store({"@type": "Recipe", "name": "soup", "url": "https://a.example/"})
            search = SiteproviderRetrievalProvider(**self.real())
            with mock.patch(f"{__name__}.ask", lambda s, _: s.search("soup", "all")):
                await killed(search)
            await search.close()

        asyncio.run(run())

    def test_a_crash_loop_is_not_fed(self) -> None:
        starts = self.path("starts")
        command = ["/bin/sh", "-c", f"echo x >>{starts}; echo boom >&2; exit 7"]

        async def loop() -> None:
            search = SiteproviderRetrievalProvider(command=command)
            for _ in range(5):
                with self.fails("exit status 7.*its last words: boom"):
                    await search.search("x", "all")
            for _ in range(20):
                with self.fails("5 times in a row; the next start is tried in .*boom"):
                    await search.search("x", "all")
            self.assertEqual(5, len(Path(starts).read_text().split()))
            with mock.patch.object(_plugin, "_COOL_DOWN", 0.0), self.fails("exit status 7"):
                await search.search("x", "all")
            await search.close()

        asyncio.run(loop())

    def test_ends_with_its_first_call(self) -> None:
        """Processes that start well and answer nothing are a crash loop, too."""

        async def exits(search: SiteproviderRetrievalProvider) -> None:
            for _ in range(3):
                with self.assertRaises(RuntimeError):
                    await ask(search, "exit 3")
            with self.fails("times in a row"):
                await ask(search, "pid")

        self.with_fake(exits)


class ProcessesThatHang(FaultTest):
    def test_stopped(self) -> None:
        async def stopped(search: SiteproviderRetrievalProvider) -> None:
            pid = int(await ask(search, "pid"))
            os.kill(pid, signal.SIGSTOP)
            impatient = SiteproviderRetrievalProvider(**self.fake(timeout=0.5))
            with self.fails("did not answer in time"):
                await ask(impatient, "pid")
            await impatient.close()
            await asyncio.to_thread(until, "the stopped plugin is killed", dead(pid))
            self.assertNotEqual(str(pid), await ask(search, "pid"))

        with mock.patch.object(_generation, "_HEALTH_TIME", 0.2):
            self.with_fake(stopped)

    def test_stopped_during_a_call(self) -> None:
        """The question is asked again, of the next process, before its time is over."""

        async def stopped(search: SiteproviderRetrievalProvider) -> None:
            pid = int(await ask(search, "pid"))
            os.kill(pid, signal.SIGSTOP)
            self.assertNotEqual(str(pid), await ask(search, "pid"))
            await asyncio.to_thread(until, "the stopped plugin is killed", dead(pid))

        with mock.patch.object(_generation, "_HEALTH_TIME", 0.2), mock.patch.object(_plugin, "_LOOK_EVERY", 0.2):
            self.with_fake(stopped)

    def test_a_slow_call_is_no_hang(self) -> None:
        async def slow(search: SiteproviderRetrievalProvider) -> None:
            pid = await ask(search, "pid")
            impatient = SiteproviderRetrievalProvider(**self.fake(timeout="0.5"))
            with self.fails("did not answer in time"):
                await ask(impatient, "wait " + self.path("never"))
            await impatient.close()
            await asyncio.to_thread(until, "the plugin knows of it", lambda: os.path.exists(self.path("never.over")))
            self.assertEqual(pid, await ask(search, "pid"))

        self.with_fake(slow)

    def test_a_cancelled_call_is_cancelled_in_the_plugin(self) -> None:
        async def cancelled(search: SiteproviderRetrievalProvider) -> None:
            path = self.path("never")
            call = asyncio.create_task(ask(search, "wait " + path))
            (pid,) = await self.begun(path)
            call.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await call
            await asyncio.to_thread(until, "the plugin knows of it", lambda: os.path.exists(path + ".over"))
            self.assertEqual(str(pid), await ask(search, "pid"))

        self.with_fake(cancelled)

    def test_a_cancelled_caller_does_not_cancel_the_start_for_others(self) -> None:
        async def cancelled(search: SiteproviderRetrievalProvider) -> None:
            calls = [asyncio.create_task(ask(search, "pid")) for _ in range(3)]
            await asyncio.to_thread(until, "the plugin is being started", children)
            calls[0].cancel()
            self.assertEqual(1, len(set(await asyncio.gather(*calls[1:]))))

        self.with_fake(cancelled)

    def test_deaf_to_every_wish_to_end(self) -> None:
        async def stubborn() -> None:
            search = SiteproviderRetrievalProvider(**self.fake("stubborn"))
            pid = int(await ask(search, "pid"))
            began = time.monotonic()
            await search.close()
            self.assertLess(time.monotonic() - began, 15)
            self.assertFalse(alive(pid))

        asyncio.run(stubborn())

    def test_silent_at_its_start(self) -> None:
        async def silent() -> None:
            search = SiteproviderRetrievalProvider(command=["/bin/sh", "-c", "echo thinking >&2; exec sleep 60"])
            with self.fails("no handshake within .* s; its last words: thinking"):
                await search.search("x", "all")
            await search.close()

        with mock.patch.object(_generation, "START_TIMEOUT", 2.0):
            asyncio.run(asyncio.wait_for(silent(), 20))

    def test_closed_while_it_starts(self) -> None:
        async def closed() -> None:
            search = SiteproviderRetrievalProvider(command=["/bin/sh", "-c", "exec sleep 60"])
            call = asyncio.create_task(search.search("x", "all"))
            await asyncio.to_thread(until, "the plugin is being started", children)
            await search.close()
            with self.assertRaises(RuntimeError):
                await call

        with mock.patch.object(_generation, "START_TIMEOUT", 2.0):
            asyncio.run(closed())


class ProcessesThatTalk(FaultTest):
    def test_floods_of_every_kind(self) -> None:
        async def floods(search: SiteproviderRetrievalProvider) -> None:
            pid = await ask(search, "pid")
            self.assertEqual("written", await ask(search, "stdout 1048576"))
            self.assertEqual("written", await ask(search, "stderr 1048576"))
            self.assertEqual("read", await ask(search, "stdio 1024"))
            for line in ('{"@message":5}', '{"@level":[],"@message":{}}', "{", '{"a":' * 5000, "\x00\x7f", "null"):
                self.assertEqual("written", await ask(search, "line " + line))
            self.assertEqual(pid, await ask(search, "pid"))

        self.with_fake(floods)

    def test_log_lines_keep_their_levels(self) -> None:
        lines = {
            "DEBUG": '{"@level":"debug","@message":"d","@timestamp":"x"}',
            "WARNING": '{"@level":"warn","@message":"w","n":1}',
            "ERROR": '{"@level":"error","@message":"e"}',
            "INFO": "plain",
        }

        async def talks(search: SiteproviderRetrievalProvider) -> None:
            with self.assertLogs("siteprovider_nlweb.plugin", "DEBUG") as logs:
                for line in lines.values():
                    await ask(search, "line " + line)
                await asyncio.to_thread(until, "all lines are logged", lambda: len(logs.output) == len(lines))
            want = list(zip(lines, ("d", "w n=1", "e", "plain"), strict=True))
            self.assertEqual(want, [(r.levelname, r.getMessage()) for r in logs.records])

        self.with_fake(talks)


class WrongCommands(FaultTest):
    def cannot(self, pattern: str, **options: Any) -> None:
        """A search and a lookup fail, and say why."""

        async def run() -> None:
            search, lookup = SiteproviderRetrievalProvider(**options), SiteproviderObjectLookupProvider(**options)
            with self.fails(pattern):
                await search.search("x", "all")
            with self.fails(pattern):
                await lookup.get_by_id("https://a.example/")
            await search.close()
            await lookup.close()

        with self.subTest(pattern=pattern), self.assertLogs("siteprovider_nlweb") as logs:
            asyncio.run(run())
            self.assertRegex("\n".join(logs.output), pattern)
            self.assertNotIn("sk-secret", "".join(logs.output))

    def test_executables(self) -> None:
        plain = self.path("plain")
        Path(plain).write_text("x")
        self.cannot("no nonesuch-siteprovider in PATH; give command its full path", command="nonesuch-siteprovider")
        self.cannot("/nonesuch/siteprovider does not exist", command="/nonesuch/siteprovider")
        self.cannot("plain is not an executable file", command=plain)
        self.cannot("is not an executable file", command=self.dir)
        os.chmod(plain, 0o700)
        self.cannot("Exec format error", command=plain)
        self.cannot("ended before the handshake .exit status 0.; is it a siteprovider plugin", command="true")
        self.cannot("'hello' on its standard output is no handshake", command=["echo", "hello"])
        self.cannot("speaks protocol version 9, this host version 1", command=["echo", "1|9|unix|/x|grpc|"])
        self.cannot("serves netrpc over unix", command=["echo", "1|1|unix|/x|netrpc|"])
        self.cannot("over tcp", command=["echo", "1|1|tcp|127.0.0.1:1|grpc|"])
        self.cannot("wants TLS", command=["echo", "1|1|unix|/x|grpc|" + "x" * 60])
        self.cannot("no handshake", command=["sh", "-c", "head -c 1000000 /dev/zero"])
        self.cannot("does nothing by itself|it ended before|no handshake", command=[binary(), "version"])
        self.cannot("plugin_sha256: want 64", command=binary(), plugin_sha256="abc")
        self.cannot("SHA-256 is .* the one required is 0000", command=binary(), plugin_sha256="0" * 64)

    def test_settings(self) -> None:
        real = {"command": binary(), "data": self.path("store")}
        self.cannot("refuses its settings.*colour", **real, colour="sk-secret")
        self.cannot("unknown backend .nope", **{**real, "backend": "nope"})
        self.cannot("cache_bytes", **real, cache_bytes=[])
        self.cannot("data: want a path", command=binary(), data=5)
        self.cannot("data has no value; if the file says data_env", command=binary(), data=None)
        self.cannot("command: want", command=[])
        self.cannot("command: want", command={"sk-secret": 1})
        self.cannot("command and plugin both", **real, plugin="x")
        self.cannot("timeout: want", **real, timeout="soon")
        self.cannot("no form in JSON", **real, key={"sk-secret"})
        self.cannot("use needs a host", use="retrieval.default")
        self.cannot("data has no meaning beside use", use="retrieval.default", data="x")
        self.cannot("refuses its settings: .*not today", **self.fake(refuse="sk-secret"))

    def test_socket_directories(self) -> None:
        deep = os.path.join(self.sockets, "d" * 80)
        os.mkdir(deep)
        with mock.patch.object(tempfile, "tempdir", deep):
            self.cannot("longer than 80 bytes: set TMPDIR", command=binary(), data=self.path("store"))
        self.assertEqual([], os.listdir(deep))
        os.rmdir(deep)

    def test_odd_socket_directories_work(self) -> None:
        odd = os.path.join(self.sockets, "a %41 ü?#")
        os.mkdir(odd)

        async def run() -> None:
            search = SiteproviderRetrievalProvider(**self.real())
            self.assertEqual([], await search.search("x", "all"))
            (made,) = Path(odd).iterdir()
            self.assertEqual(0o700, stat.S_IMODE(made.stat().st_mode))
            await search.close()

        with mock.patch.object(tempfile, "tempdir", odd):
            asyncio.run(run())
        os.rmdir(odd)


HOST = """
import asyncio, os, sys, time
sys.path.append(sys.argv[1])
from siteprovider_nlweb import SiteproviderRetrievalProvider, _generation
_generation.START_TIMEOUT = 120.0
search = SiteproviderRetrievalProvider(command=eval(sys.argv[2]), data=sys.argv[3], timeout=120)
async def main():
    await search.search("pid", "all")
    print("ready", flush=True)
    mode = sys.argv[4]
    if mode == "wait":
        await asyncio.Event().wait()
    if mode == "raise":
        raise SystemExit(3)
    if mode == "fork" and os.fork() == 0:
        print("forked", flush=True)
        os.close(1)
        time.sleep(60)
    if mode == "fork":
        await asyncio.Event().wait()
asyncio.run(main())
"""


class HostsThatEnd(FaultTest):
    def host(self, mode: str, *fake: str) -> tuple["subprocess.Popen[str]", int]:
        command = self.fake(*fake)["command"] if fake else [binary(), "plugin"]
        errors = open(self.path("host.err"), "w+")
        self.addCleanup(errors.close)
        host = subprocess.Popen(
            [sys.executable, "-c", HOST, str(TESTS.parent), repr(command), self.path("store"), mode],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "TMPDIR": self.sockets},
        )
        self.addCleanup(host.wait)
        self.addCleanup(host.kill)
        assert host.stdout is not None
        self.addCleanup(host.stdout.close)
        plugin = until("the plugin runs", lambda: children(host.pid) or host.poll() is not None and [0])[0]
        self.assertEqual("ready\n", host.stdout.readline(), Path(self.path("host.err")).read_text())
        return host, plugin

    def test_at_the_end_of_the_program(self) -> None:
        for mode, status in (("return", 0), ("raise", 3)):
            host, plugin = self.host(mode)
            self.assertEqual(status, host.wait(60))
            until("the plugin has ended", dead(plugin))
            self.assertEqual([], os.listdir(self.sockets))

    def test_at_the_end_of_the_program_it_is_killed_if_need_be(self) -> None:
        host, plugin = self.host("return", "stubborn")
        self.assertEqual(0, host.wait(60))
        until("the plugin has ended", dead(plugin))

    def test_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            host, plugin = self.host("wait")
            host.send_signal(number)
            host.wait(60)
            until(f"the plugin ends after signal {number}", dead(plugin))
            until("the socket directory is gone", lambda: not os.listdir(self.sockets))

    def test_a_forked_child_does_not_keep_the_plugin(self) -> None:
        host, plugin = self.host("fork", "watches its lease only")
        assert host.stdout is not None
        self.assertEqual("forked\n", host.stdout.readline())
        (child,) = [p for p in children(host.pid) if p != plugin]
        try:
            host.kill()
            host.wait(60)
            until("the plugin ends with its host", dead(plugin))
        finally:
            os.kill(child, signal.SIGKILL)


class NothingIsLost(FaultTest):
    def test_a_hundred_restarts_leave_nothing_behind(self) -> None:
        async def restarts() -> None:
            search = SiteproviderRetrievalProvider(**self.real())
            counts = []
            for n in range(103):
                await search.search("x", "all")
                (pid,) = children()
                if n in (2, 102):
                    await asyncio.to_thread(until, "the threads of the last one are done", lambda: counts_now()[1] <= 4)
                    counts.append(counts_now())
                os.kill(pid, signal.SIGKILL)
                await asyncio.to_thread(until, "it is gone", dead(pid))
            await search.close()
            print(f"\n100 restarts: {counts[0]} open files and threads before, {counts[1]} after", file=sys.stderr)
            self.assertLessEqual(counts[1][0], counts[0][0] + 3)

        def counts_now() -> tuple[int, int]:
            ours = [t for t in threading.enumerate() if "siteprovider" in t.name]
            return len(os.listdir("/proc/self/fd")), len(ours)

        asyncio.run(restarts())


if __name__ == "__main__":
    unittest.main()
