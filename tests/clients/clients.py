"""
HTTP clients, each as what it takes to stream a chat with it: one entry a client.

An entry opens a stream at a base URL and gives its source for `Stream`, `rebuild` and
the like: blocks of bytes, or the chunks of the openai client.  A client that is not
installed is skipped.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import subprocess

from collections.abc import AsyncIterable, Callable, Iterable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import attrs
import pytest


BODY = {"model": "example-1", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
PATH = "/chat/completions"


@attrs.frozen
class Client:
    """
    A client.

    Attributes:
        name: Its name.
        needs: The module or program that it needs.
        open: Opens a stream: a context manager, given the base URL and the seconds
            after which the client gives up waiting.
        errors: The names of what it raises, when the connection breaks.
        timeouts: Likewise, when it gives up waiting.
        has_done: It hands on the `[DONE]`.
    """

    name: str
    needs: str
    open: Callable[..., contextlib.AbstractContextManager | contextlib.AbstractAsyncContextManager]
    errors: frozenset[str]
    timeouts: frozenset[str]
    has_done: bool = True

    def check(self) -> None:
        found = shutil.which("curl") if self.needs == "curl" else find_spec(self.needs)
        if found is None:
            pytest.skip(f"{self.needs} is not installed")


# -- Sync ----------------------------------------------------------------------------


@contextlib.contextmanager
def open_httpx(url: str, patience: float, name: str = "httpx") -> Iterable[Iterable[bytes]]:
    httpx = import_module(name)
    with (
        httpx.Client(timeout=patience, trust_env=False) as client,
        client.stream("POST", url + PATH, json=BODY) as response,
    ):
        yield response.iter_bytes()


@contextlib.contextmanager
def open_requests(url: str, patience: float) -> Iterable[Iterable[bytes]]:
    import requests

    with requests.Session() as session:
        session.trust_env = False
        with session.post(url + PATH, json=BODY, stream=True, timeout=patience) as response:
            yield response.iter_content(None)


@contextlib.contextmanager
def open_urllib3(url: str, patience: float) -> Iterable[Iterable[bytes]]:
    import urllib3

    with urllib3.PoolManager(timeout=patience, retries=False) as pool:
        headers = {"Accept-Encoding": "gzip"}
        response = pool.request(
            "POST", url + PATH, json=BODY, headers=headers, preload_content=False
        )
        try:
            yield response.stream(decode_content=True)  # by default not, if it is chunked
        finally:
            response.close()


@contextlib.contextmanager
def open_curl(url: str, patience: float) -> Iterable[Iterable[bytes]]:
    command = ["curl", "-sN", "--compressed", "--noproxy", "*", "--max-time", str(patience)]
    command += ["-d", json.dumps(BODY), url + PATH]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield curl_blocks(process)
        finally:
            process.kill()


class CurlError(Exception):
    """curl failed, with this status."""


def curl_blocks(process: subprocess.Popen[bytes]) -> Iterable[bytes]:
    while block := process.stdout.read1():
        yield block
    if process.wait():
        raise CurlError(process.returncode)


@contextlib.contextmanager
def open_openai(url: str, patience: float) -> Iterable[Iterable[Any]]:
    import openai

    with (
        openai.OpenAI(base_url=url, api_key="none", timeout=patience, max_retries=0) as client,
        client.chat.completions.create(**BODY) as stream,
    ):
        yield stream


# -- Async ---------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def open_async_httpx(
    url: str, patience: float, name: str = "httpx"
) -> AsyncIterable[AsyncIterable[bytes]]:
    httpx = import_module(name)
    async with (
        httpx.AsyncClient(timeout=patience, trust_env=False) as client,
        client.stream("POST", url + PATH, json=BODY) as response,
    ):
        yield response.aiter_bytes()


@contextlib.asynccontextmanager
async def open_aiohttp(url: str, patience: float) -> AsyncIterable[AsyncIterable[bytes]]:
    import aiohttp

    timeout = aiohttp.ClientTimeout(sock_read=patience)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.post(url + PATH, json=BODY) as response,
    ):
        yield response.content.iter_any()
    await asyncio.sleep(0)  # its connections are closed by callbacks


@contextlib.asynccontextmanager
async def open_async_openai(url: str, patience: float) -> AsyncIterable[AsyncIterable[Any]]:
    import openai

    async with (
        openai.AsyncOpenAI(base_url=url, api_key="none", timeout=patience, max_retries=0) as client,
        await client.chat.completions.create(**BODY) as stream,
    ):
        yield stream


# httpx's own, or those of what the openai client calls it.
HTTPX = frozenset({"ReadError", "RemoteProtocolError", "APIConnectionError"})
HTTPX_LATE = frozenset({"ReadTimeout", "APITimeoutError"})

SYNC = (
    Client("httpx", "httpx", open_httpx, HTTPX, HTTPX_LATE),
    Client("httpx2", "httpx2", partial(open_httpx, name="httpx2"), HTTPX, HTTPX_LATE),
    Client(
        "requests",
        "requests",
        open_requests,
        frozenset({"ChunkedEncodingError", "ConnectionError"}),
        frozenset({"ConnectionError"}),  # what it makes of a time-out while it reads a body
    ),
    Client(
        "urllib3",
        "urllib3",
        open_urllib3,
        frozenset({"ProtocolError", "IncompleteRead"}),
        frozenset({"ReadTimeoutError"}),
    ),
    Client("curl", "curl", open_curl, frozenset({"CurlError"}), frozenset({"CurlError"})),
    Client("openai", "openai", open_openai, HTTPX, HTTPX_LATE, has_done=False),
)
ASYNC = (
    Client("httpx", "httpx", open_async_httpx, HTTPX, HTTPX_LATE),
    Client("httpx2", "httpx2", partial(open_async_httpx, name="httpx2"), HTTPX, HTTPX_LATE),
    Client(
        "aiohttp",
        "aiohttp",
        open_aiohttp,
        frozenset({"ClientPayloadError", "ClientOSError", "ClientConnectionResetError"}),
        frozenset({"SocketTimeoutError", "ServerTimeoutError"}),
    ),
    Client("openai", "openai", open_async_openai, HTTPX, HTTPX_LATE, has_done=False),
)
