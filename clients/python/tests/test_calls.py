"""What a call does when its answer is late, refused or lost: answered in the process, without a server."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable

import anyio.lowlevel
import httpx
import pytest

from svc_memory import AsyncMemory, Memory, SvcError, Unavailable
from svc_memory.errors import error_of

RECEIPT = {"event_id": "e", "node_id": "n", "processing_status": {}}
BUSY = httpx.Response(503, json={"code": "storage_busy", "detail": "in a moment"})


class Server:
    """Answers one call after the other with what it was given: an answer, or an error of the connection."""

    def __init__(self, *answers: httpx.Response | type[httpx.TransportError]) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, httpx.Response):
            return answer
        raise answer("broken", request=request)

    def memory(self, *, retries: bool = True) -> Memory:
        transport = httpx.MockTransport(self)
        return Memory(url="http://memory.test", user_id="anna", key="k", retries=retries, transport=transport)


def test_a_store_is_repeated_with_its_request_id() -> None:
    server = Server(httpx.ReadError, BUSY, httpx.Response(200, json=RECEIPT))
    assert server.memory().store("a text") == RECEIPT
    keys = {request.headers["idempotency-key"] for request in server.requests}
    assert (len(server.requests), len(keys)) == (3, 1)
    assert {request.headers["authorization"] for request in server.requests} == {"Bearer k"}


@pytest.mark.parametrize(
    ("ask", "answers", "sent"),
    [
        (lambda memory: memory.ingest("a text"), (httpx.ReadError,), 1),
        (lambda memory: memory.ingest("a text"), (httpx.ConnectError,) * 4, 4),
        (lambda memory: memory.search("a text"), (httpx.ReadError,) * 4, 4),
        (lambda memory: memory.store("a text"), (httpx.ReadTimeout,), 1),
    ],
)
def test_only_what_changes_nothing_twice_is_sent_again(
    ask: Callable[[Memory], object], answers: tuple[type[httpx.TransportError], ...], sent: int
) -> None:
    server = Server(*answers)
    with pytest.raises(Unavailable):
        ask(server.memory())
    assert len(server.requests) == sent


def test_an_accepted_text_is_not_sent_again() -> None:
    accepted = {"code": "storage_busy", "detail": "later", "accepted": True, "event_id": "e"}
    server = Server(httpx.Response(503, json=accepted))
    with pytest.raises(Unavailable) as error:
        server.memory().store("a text")
    assert (error.value.data["accepted"], error.value.data["event_id"]) == (True, "e")


async def test_of_many_tasks_a_few_call_at_once() -> None:
    running = most = 0

    async def answer(request: httpx.Request) -> httpx.Response:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.lowlevel.checkpoint()
        running -= 1
        return httpx.Response(200, json={"user_id": "anna"})

    async with AsyncMemory(url="http://memory.test", transport=httpx.MockTransport(answer)) as memory:
        owners = await asyncio.gather(*(memory.api.caller() for _ in range(1000)))
    assert (len(owners), most) == (1000, 64)


def test_retries_can_be_turned_off() -> None:
    server = Server(httpx.ReadError)
    with pytest.raises(Unavailable, match="may have been"):
        server.memory(retries=False).store("a text")


def test_a_foreign_server_is_told_from_a_memory() -> None:
    for answer in (httpx.Response(200, text="<html>"), httpx.Response(404, text="nothing here")):
        with pytest.raises(SvcError, match="is this its address"):
            Server(answer).memory().search("a text")


def test_an_error_survives_pickling() -> None:
    error = error_of(409, {"code": "request_conflict", "detail": "used", "path": "p"}, "here")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.data) == (type(error), str(error), {"path": "p"})
