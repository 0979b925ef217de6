"""The asynchronous client. ``_sync.py`` is made of this file by ``generate.py``."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import anyio
import anyio.to_thread
import httpx

from . import _wire
from ._generated.async_operations import AsyncOperations
from ._local import Address, LocalServer, require_version
from .errors import NotFound, SvcError, invalid

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from . import models

#: How often a call is sent at most.
_TRIES = 4
#: Seconds before the second try; doubled for each further one.
_PAUSE = 0.05
#: Calls at once; further ones wait here, since each that waits for a connection makes all others slower.
_CALLS = 64
#: Memories that the server takes at once.
_BATCH = 1000
#: Memories of a page when everything is read.
_PAGE = 500

Role = Literal["user", "human", "participant", "assistant", "tool", "system"]


class AsyncApi(AsyncOperations):
    """Every operation of the HTTP interface, as its document names them."""

    def __init__(
        self,
        source: Address | LocalServer,
        *,
        timeout: float,
        retries: bool,
        transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        self._source = source
        self._timeout = timeout
        self._tries = _TRIES if retries else 1
        self._transport = transport
        self._client: httpx.AsyncClient | None = None
        self._made_for: tuple[object, ...] = ()
        self._turns = anyio.Semaphore(_CALLS)

    async def _address(self) -> Address:
        if isinstance(self._source, Address):
            return self._source
        # Starting a server blocks.
        known = self._source.known()
        if known is not None:
            return known
        return await anyio.to_thread.run_sync(self._source.address)

    def _client_for(self, address: Address) -> httpx.AsyncClient:
        # Connections belong to the process and the event loop that made them.
        place = (os.getpid(), _wire.event_loop(), address)
        if self._client is None or self._made_for != place:
            self._made_for = place
            self._turns = anyio.Semaphore(_CALLS)
            self._client = httpx.AsyncClient(
                base_url=address.url,
                headers=_wire.headers_of(address.key),
                timeout=httpx.Timeout(self._timeout, pool=None),
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
                # Certificates are read only where they are needed; no proxy for this machine.
                verify=address.url.startswith("https:"),
                trust_env=not _wire.is_loopback(address.url),
                transport=self._transport,
            )
        return self._client

    async def _call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: Any = None,
        raw: bool = False,
    ) -> Any:
        is_file = isinstance(body, bytes)
        content = body if body is None or is_file else _wire.encode(body)
        sent = {name: value for name, value in (headers or {}).items() if value is not None}
        if content is not None:
            sent["content-type"] = "application/octet-stream" if is_file else "application/json"
        params = _wire.query_of(query)
        repeatable = _wire.is_repeatable(method, path, sent)
        for attempt in range(1, self._tries + 1):
            address = await self._address()
            try:
                client = self._client_for(address)
                async with self._turns:
                    response = await client.request(method, path, params=params, content=content, headers=sent)
                return _wire.read(response, address.url, raw=raw)
            except httpx.TransportError as error:
                if isinstance(self._source, LocalServer) and not isinstance(error, httpx.TimeoutException):
                    self._source.lost(address)
                is_late = isinstance(error, httpx.TimeoutException) and _wire.was_sent(error)
                again = not is_late and (repeatable or not _wire.was_sent(error))
                if attempt == self._tries or not again:
                    raise _wire.unreachable(address.url, error, self._timeout) from error
            except SvcError as error:
                if attempt == self._tries or not _wire.may_pass(error):
                    raise
            await anyio.sleep(_PAUSE * 2 ** (attempt - 1))
        raise AssertionError("a call has at least one try")

    async def follow(self, since: str | None, user_id: str | None) -> AsyncIterator[Any]:
        """Changes after a cursor as they come, for ever; a connection that ends is made again."""
        failures = 0
        while True:
            address = await self._address()
            params = _wire.query_of({"since": since, "user_id": user_id})
            headers = {"accept": "text/event-stream"}
            try:
                async with self._client_for(address).stream("GET", "/v1/changes", params=params, headers=headers) as answer:
                    if not answer.is_success:
                        await answer.aread()
                        _wire.read(answer, address.url, raw=False)
                    rest = b""
                    async for part in answer.aiter_bytes():
                        failures = 0
                        *lines, rest = (rest + part).split(b"\n")
                        for line in lines:
                            if line.startswith(b"id: "):
                                since = line[4:].decode()
                            elif line.startswith(b"data: "):
                                yield json.loads(line[6:])
            except httpx.TransportError as error:
                if isinstance(self._source, LocalServer) and not isinstance(error, httpx.TimeoutException):
                    self._source.lost(address)
                failures += 1
                if failures == _TRIES:
                    raise _wire.unreachable(address.url, error, self._timeout) from error
            except SvcError as error:
                failures += 1
                if failures == _TRIES or not _wire.may_pass(error):
                    raise
            await anyio.sleep(_PAUSE * 2**failures)

    async def aclose(self) -> None:
        """Ends the connections, and the server if this was its last user."""
        client, self._client = self._client, None
        if client is not None and self._made_for[:2] == (os.getpid(), _wire.event_loop()):
            await client.aclose()
        if isinstance(self._source, LocalServer):
            await anyio.to_thread.run_sync(self._source.close)


class AsyncMemory:
    """A memory: a pack of this machine, or a server.

    ``AsyncMemory("./memory.pack")`` uses the server of the pack on this machine: it starts one, or shares that of another
    program with this client, and it ends with its last user. ``AsyncMemory(url=..., key=...)`` uses a server.

    ``user_id`` is the owner of everything that is stored and found; without it that of the key, or of the pack.
    ``timeout`` is in seconds, for each call. ``api`` has every operation of the interface.
    """

    def __init__(
        self,
        pack: str | os.PathLike[str] | None = None,
        *,
        url: str | None = None,
        key: str | None = None,
        user_id: str | None = None,
        timeout: float = 60.0,
        retries: bool = True,
        program: str | os.PathLike[str] | None = None,
        encryption_key: str | None = None,
        settings: Mapping[str, str] | None = None,
        start_timeout: float = 120.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        source: Address | LocalServer
        if url is not None and pack is None:
            source = Address(_wire.base_of(url), key)
        elif pack is not None and url is None:
            source = LocalServer(
                pack,
                program=program,
                encryption_key=encryption_key,
                settings=settings or {},
                start_timeout=start_timeout,
            )
        else:
            raise invalid("give either the path of a pack or url=")
        self._user_id = user_id
        self._is_asked = user_id is not None
        self.api = AsyncApi(source, timeout=timeout, retries=retries, transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Ends the connections, and the server if this was its last user."""
        await self.api.aclose()

    async def owner(self) -> str | None:
        """The owner of everything that is stored and found; None where the key of the server decides."""
        if not self._is_asked:
            caller = await self.api.caller()
            if caller["user_id"] is None:
                self._user_id = caller["default_user_id"]
            self._is_asked = True
        return self._user_id

    async def store(
        self,
        content: str,
        *,
        user_id: str | None = None,
        request_id: str | None = None,
        event_time: datetime | str | None = None,
        **more: Unpack[models.StoreOptions],
    ) -> models.StoreReceipt:
        """Keeps one memory, which can be found when this returns. ``near`` of the answer are memories that it may replace.

        ``request_id`` is a UUID that makes a repeat store nothing; one is made for the tries of this call.
        """
        body: dict[str, Any] = {"content": content, "user_id": user_id or await self.owner(), **more}
        if event_time is not None:
            body["event_time"] = _wire.instant(event_time)
        return await self.api.store(_wire.body(body), idempotency_key=request_id or str(uuid.uuid4()))

    async def store_many(self, items: Iterable[str | models.StoreItem], *, user_id: str | None = None) -> list[models.Memory]:
        """Keeps many memories, each a text or ``{"content": ..., "node_type": ...}``; all can be found when this returns.

        Each thousand is kept as a whole or not at all.
        """
        owner = user_id or await self.owner()
        rest: list[Any] = [{"content": item} if isinstance(item, str) else item for item in items]
        stored: list[models.Memory] = []
        for start in range(0, len(rest), _BATCH):
            body = _wire.body({"items": rest[start : start + _BATCH], "user_id": owner})
            answer = await self.api.store_many(body, idempotency_key=str(uuid.uuid4()))
            stored += answer["memories"]
        return stored

    async def ingest(
        self,
        messages: str | Sequence[models.IngestMessage],
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        **more: Unpack[models.IngestOptions],
    ) -> list[str]:
        """Keeps messages of a conversation, ``{"role": ..., "content": ...}`` each, and returns the ids of their events.

        They are kept as a whole or not at all. With extraction on, the server derives memories of what they state.
        """
        owner = user_id or await self.owner()
        said = {"content": messages} if isinstance(messages, str) else {"messages": messages}
        answer = await self.api.ingest(_wire.body({**said, "user_id": owner, "session_id": session_id, **more}))
        return answer["event_ids"] if "event_ids" in answer else [answer["event_id"]]

    async def search(
        self, query: str, *, limit: int = 10, user_id: str | None = None, **more: Unpack[models.SearchOptions]
    ) -> list[models.RetrieveResult]:
        """Memories that answer a question, best first. Those of ``strength`` ``weak`` are merely the nearest there are."""
        answer = await self.retrieve(query, limit=limit, user_id=user_id, token_budget=0, **more)
        return answer["results"]

    async def context(
        self,
        query: str,
        *,
        token_budget: int = 4096,
        user_id: str | None = None,
        **more: Unpack[models.SearchOptions],
    ) -> str:
        """What the memory knows about a question, as a text for a prompt of at most so many tokens."""
        answer = await self.retrieve(query, token_budget=token_budget, user_id=user_id, **more)
        return answer["bundle"]["rendered_context"]

    async def retrieve(
        self,
        query: str,
        *,
        limit: int | None = None,
        token_budget: int | None = None,
        user_id: str | None = None,
        **more: Unpack[models.SearchOptions],
    ) -> models.RetrieveAnswer:
        """The whole answer to a question: results, context and figures."""
        budgets = {"limit": limit, "token_budget": token_budget}
        owner = user_id or await self.owner()
        return await self.api.retrieve(_wire.body({"query": query, "user_id": owner, **budgets, **more}))

    async def get(self, node_id: str, *, user_id: str | None = None) -> models.Node | None:
        """One memory in any state; None where it is unknown or of another owner."""
        try:
            return await self.api.get_node(node_id, user_id=user_id or await self.owner())
        except NotFound:
            return None

    async def history(self, node_id: str, *, user_id: str | None = None) -> list[models.Node]:
        """What a memory replaced, the memory, and what replaced it: the oldest first."""
        owner = user_id or await self.owner()
        before = (await self.api.chain(node_id, direction="backward", user_id=owner))["nodes"]
        after = (await self.api.chain(node_id, direction="forward", user_id=owner))["nodes"]
        own = await self.api.get_node(node_id, user_id=owner)
        others = {own["id"]}
        older = [node for node in reversed(before) if node["id"] not in others]
        return [*older, own, *(node for node in after if node["id"] not in others)]

    async def replace(
        self,
        node_id: str,
        content: str,
        *,
        user_id: str | None = None,
        request_id: str | None = None,
        event_time: datetime | str | None = None,
        **more: Unpack[models.StoreOptions],
    ) -> models.StoreReceipt:
        """Stores a memory in place of another, whose type and scope it has unless others are given; that one stays as history."""
        owner = user_id or await self.owner()
        old = await self.api.get_node(node_id, user_id=owner)
        kept: dict[str, Any] = {"node_type": old["node_type"], "scope": old["scope"], "supersedes": [old["id"]]}
        kept |= more
        return await self.store(content, user_id=owner, request_id=request_id, event_time=event_time, **kept)

    async def forget(
        self,
        *node_ids: str,
        session_id: str | None = None,
        containing: str | None = None,
        preview: bool = False,
        user_id: str | None = None,
        **more: Unpack[models.ForgetOptions],
    ) -> models.ForgetAnswer:
        """Erases memories and their source texts for good; ``preview=True`` only says which."""
        choice: dict[str, Any] = {"ids": list(node_ids) or None, "session_id": session_id, **more}
        choice |= {"containing": containing, "user_id": user_id or await self.owner()}
        answer = await self.api.forget(_wire.body({**choice, "mode": "preview"}))
        if preview or answer["confirm"] is None:
            return answer
        sure = {"mode": "erase", "confirm": answer["confirm"]}
        return await self.api.forget(_wire.body({**choice, **sure}))

    async def all(self, *, user_id: str | None = None, **filters: Unpack[models.ScanNodesQuery]) -> AsyncIterator[models.Node]:
        """Every memory by id, read page by page; the active ones unless ``state`` names others."""
        owner = user_id or await self.owner()
        options: dict[str, Any] = {"limit": _PAGE, **filters, "user_id": owner}
        while True:
            page = await self.api.scan_nodes(**options)
            for node in page["nodes"]:
                yield node
            if not page["has_more"]:
                return
            options["after_id"] = page["next_cursor"]

    async def events(
        self, *, user_id: str | None = None, **filters: Unpack[models.ListEventsQuery]
    ) -> AsyncIterator[models.Event]:
        """Every source text, the oldest first unless ``order`` says otherwise, read page by page."""
        owner = user_id or await self.owner()
        options: dict[str, Any] = {"limit": _PAGE, "order": "oldest", **filters, "user_id": owner}
        while True:
            page = await self.api.list_events(**options)
            for event in page["events"]:
                yield event
            if not page["has_more"]:
                return
            options["cursor"] = page["next_cursor"]

    async def changes(
        self, *, since: str | None = None, follow: bool = False, user_id: str | None = None
    ) -> AsyncIterator[models.FeedChange]:
        """What became of memories in the order of the commits: ``stored``, ``superseded``, ``forgotten`` and so on.

        ``since`` is the ``cursor`` of the last one that is known, or ``now``; without it, all. With ``follow`` it goes on for
        ever.
        """
        owner = user_id or await self.owner()
        if follow:
            async for change in self.api.follow(since, owner):
                yield change
        while True:
            page = await self.api.changes(since=since, limit=_PAGE, user_id=owner)
            for change in page["changes"]:
                yield change
            if not page["has_more"]:
                return
            since = page["next_cursor"]

    async def profile(self, *, user_id: str | None = None, **options: Unpack[models.ProfileQuery]) -> models.Profile:
        """What is known of a person at a glance: ``text`` for a prompt, of at most ``max_tokens`` tokens, and its ``entries``."""
        return await self.api.profile(user_id=user_id or await self.owner(), **options)

    async def ready(self, *, timeout: float = 60.0) -> str:
        """Waits until the memory answers, and returns the version of its program, which must be one that this client knows."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                version = (await self.api.health())["version"]
                break
            except SvcError:
                if time.monotonic() > deadline:
                    raise
                await anyio.sleep(_PAUSE)
        require_version(version, "the server")
        return version
