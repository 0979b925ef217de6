from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from svc_memory import (
    AsyncMemory,
    Conflict,
    InvalidArgument,
    Memory,
    NotFound,
    Unauthenticated,
    Unavailable,
)

MemoryOf = Callable[[str], Memory]
UNKNOWN = "01a00000-0000-7000-8000-000000000000"


def texts(found: object) -> list[str]:
    return [one["content"] for one in found]  # type: ignore[attr-defined]


def test_what_is_stored_is_found_by_its_owner_alone(memory_of: MemoryOf) -> None:
    anna = memory_of("anna-1")
    anna.store("The spare key lies under the blue flower pot", node_type="fact", metadata={"floor": 1})
    found = anna.search("Where is the spare key?")[0]
    assert (found["content"], found["node_type"], found["metadata"]) == (
        "The spare key lies under the blue flower pot",
        "fact",
        {"floor": 1},
    )
    assert "blue flower pot" in anna.context("Where is the spare key?", token_budget=500)
    assert memory_of("tom-1").search("Where is the spare key?") == []


def test_many_are_stored_at_once_and_read_page_by_page(memory_of: MemoryOf) -> None:
    memory = memory_of("many")
    receipts = memory.store_many(["one", {"content": "two", "node_type": "task"}, "three"])
    assert [memory.get(one["node_id"]) is not None for one in receipts] == [True] * 3
    assert sorted(texts(memory.all(limit=2))) == ["one", "three", "two"]
    assert sorted(texts(memory.events(limit=2))) == ["one", "three", "two"]
    assert texts(memory.all(type="task")) == ["two"]


def test_a_conversation_is_kept_by_its_messages(memory_of: MemoryOf) -> None:
    memory = memory_of("talk")
    ids = memory.ingest(
        [{"role": "user", "content": "I moved to Kiel"}, {"role": "assistant", "content": "Noted"}], session_id="monday"
    )
    assert len(ids) == 2
    assert len(memory.ingest("I like it there", session_id="monday")) == 1
    events = memory.events(session_id="monday")
    assert [(event["role"], event["content"]) for event in events] == [
        ("user", "I moved to Kiel"),
        ("assistant", "Noted"),
        ("user", "I like it there"),
    ]


def test_a_replaced_memory_stays_as_history(memory_of: MemoryOf) -> None:
    memory = memory_of("changes")
    old = memory.store("Anna drinks tea", node_type="preference")["node_id"]
    new = memory.replace(old, "Anna drinks coffee")["node_id"]
    for node_id in (old, new):
        history = memory.history(node_id)
        assert [(node["content"], node["lifecycle_state"], node["node_type"]) for node in history] == [
            ("Anna drinks tea", "superseded", "preference"),
            ("Anna drinks coffee", "tentative", "preference"),
        ]
    assert texts(memory.search("What does Anna drink?")) == ["Anna drinks coffee"]


def test_forgetting_erases_after_a_preview_that_changes_nothing(memory_of: MemoryOf) -> None:
    memory = memory_of("forgets")
    node_id = memory.store("The code of the door is 4711")["node_id"]
    assert [one["id"] for one in memory.forget(node_id, preview=True)["memories"]] == [node_id]
    assert memory.get(node_id) is not None
    assert memory.forget(containing="4711")["mode"] == "erase"
    assert memory.get(node_id) is None
    assert "4711" not in "".join(texts(memory.events()))


def test_changes_are_told_in_order_and_followed_from_any_of_them(memory_of: MemoryOf) -> None:
    memory = memory_of("followed")
    tea = memory.store("Anna drinks tea\u2028at five")["node_id"]
    memory.replace(tea, "Anna drinks coffee")
    told = [(one["change"], one["node"]["content"] if one["node"] else None) for one in memory.changes()]
    assert told == [
        ("stored", "Anna drinks tea\u2028at five"),
        ("stored", "Anna drinks coffee"),
        ("superseded", "Anna drinks tea\u2028at five"),
    ]
    following = memory.changes(follow=True)
    followed = [next(following) for _ in told]
    assert [one["change"] for one in followed] == [change for change, _ in told]
    memory.forget(tea)
    last = next(following)
    assert (last["change"], last["node_id"], last["node"]) == ("forgotten", tea, None)
    assert [one["cursor"] for one in memory.changes(since=followed[-1]["cursor"])] == [last["cursor"]]
    with pytest.raises(InvalidArgument, match="since"):
        next(memory.changes(since="99", follow=True))


def test_a_profile_says_at_a_glance_what_is_known(memory_of: MemoryOf) -> None:
    memory = memory_of("profile")
    memory.store("Always answer in French", node_type="instruction")
    profile = memory.profile(max_tokens=100)
    assert [(one["part"], one["text"]) for one in profile["entries"]] == [("instructions", "Always answer in French")]
    assert "Always answer in French" in profile["text"]
    assert memory.profile(max_tokens=0)["entries"] == []


def test_without_an_owner_it_is_that_of_the_pack(pack: Path, memory_of: MemoryOf) -> None:
    with Memory(pack) as memory:
        owner = memory.owner()
        assert owner
        memory.store("The bakery opens at six")
    assert texts(memory_of(owner).search("When does the bakery open?", limit=1)) == ["The bakery opens at six"]


def test_every_operation_of_the_document_has_a_method(memory_of: MemoryOf) -> None:
    api = memory_of("operations").api
    document = api._call("GET", "/openapi.json")
    named = {one["operationId"] for path in document["paths"].values() for one in path.values()}
    assert {name for name in named if not callable(getattr(api, name, None))} == set()
    assert api.list_sessions(user_id="operations")["sessions"] == []
    assert api.facets(user_id="operations", state=["stable", "tentative"])["total"] == 0


def test_errors_have_the_code_of_the_answer(memory_of: MemoryOf) -> None:
    memory = memory_of("errors")
    with pytest.raises(NotFound) as unknown:
        memory.history(UNKNOWN)
    assert (unknown.value.code, unknown.value.status) == ("not_found", 404)
    other = memory_of("other").store("a text")["node_id"]
    with pytest.raises(NotFound):
        memory.replace(other, "mine now")
    with pytest.raises(InvalidArgument, match="node_type"):
        memory.store("a text", node_type="wish")  # type: ignore[arg-type]
    request_id = "6f1c1f9e-9d0c-4c0a-9d55-0d1a8b0f5f10"
    first = memory.store("a text", request_id=request_id)
    assert memory.store("a text", request_id=request_id)["node_id"] == first["node_id"]
    with pytest.raises(Conflict) as conflict:
        memory.store("another text", request_id=request_id)
    assert conflict.value.code == "request_conflict"


def test_a_key_is_needed(memory_of: MemoryOf) -> None:
    served = memory_of("keys")
    served.ready()
    address = served.api._address()
    for key in (None, "wrong"):
        with Memory(url=address.url, key=key) as stranger, pytest.raises(Unauthenticated):
            stranger.search("anything")
    with Memory(url=address.url + "/", key=address.key, user_id="keys") as owner:
        assert owner.search("anything") == []


@pytest.mark.parametrize(
    ("content", "metadata", "reason"),
    [
        ("half \ud83d of it", {}, "half of a character"),
        ("a number", {"n": float("nan")}, "not a value of JSON"),
        ("a number", {"n": 2**60 + 1}, "metadata"),
        ("a set", {"n": {1, 2}}, "set is no value of JSON"),
        ("a moment", {"at": datetime(2026, 3, 1)}, "without a time zone"),
    ],
)
def test_what_json_cannot_carry_is_refused(memory_of: MemoryOf, content: str, metadata: dict[str, object], reason: str) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        memory_of("refused").store(content, metadata=metadata)


def test_instants_need_their_zone(memory_of: MemoryOf) -> None:
    memory = memory_of("times")
    with pytest.raises(InvalidArgument, match="tzinfo"):
        memory.store("a text", event_time=datetime(2026, 3, 1, 10))
    at = datetime(2026, 3, 1, 10, tzinfo=timezone(timedelta(hours=1)))
    node = memory.get(memory.store("a text", event_time=at)["node_id"])
    assert node is not None
    assert node["event_time"] == "2026-03-01T09:00:00.000000Z"


def test_threads_share_a_memory(memory_of: MemoryOf) -> None:
    memory = memory_of("threads")
    threads = [threading.Thread(target=memory.store, args=(f"text {n}",)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(memory.all())) == 16


def test_many_tasks_share_a_memory_in_more_than_one_loop(pack: Path) -> None:
    memory = AsyncMemory(pack, user_id="loops")

    async def store(count: int) -> int:
        receipts = await asyncio.gather(*(memory.store(f"text {n}") for n in range(count)))
        return len({one["node_id"] for one in receipts})

    async def count() -> int:
        found = len([node async for node in memory.all()])
        await memory.aclose()
        return found

    # The first loop ends before the connections are closed.
    assert asyncio.run(store(200)) == 200
    assert asyncio.run(count()) == 200


def test_an_address_without_a_server_is_unavailable() -> None:
    with Memory(url="http://127.0.0.1:9", user_id="anna") as memory, pytest.raises(Unavailable) as nobody:
        memory.search("anything")
    assert nobody.value.code == "storage_unavailable"
    for url in ("memory.pack", "ftp://127.0.0.1", "http://name:word@127.0.0.1"):
        with pytest.raises(InvalidArgument):
            Memory(url=url)
