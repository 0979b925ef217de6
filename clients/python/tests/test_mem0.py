from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from svc_memory.mem0 import AsyncMemory, Memory, ValidationError


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    memory = Memory({"path": str(tmp_path_factory.mktemp("mem0") / "memory.pack")})
    yield memory
    memory.close()


def texts(answer: dict[str, Any]) -> list[str]:
    return [item["memory"] for item in answer["results"]]


def test_messages_become_memories_of_their_ids(memory: Memory) -> None:
    said = [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": "My spare key lies under the flower pot", "name": "Anna"},
        {"role": "assistant", "content": "Understood"},
        {"role": "user"},
    ]
    added = memory.add(said, user_id=" anna ", run_id="r1", metadata={"kind": "home", "user_id": "tom"}, infer=False)
    assert [(one["memory"], one["event"], one["role"], one["actor_id"]) for one in added["results"]] == [
        ("My spare key lies under the flower pot", "ADD", "user", "Anna"),
        ("Understood", "ADD", "assistant", None),
    ]
    item = memory.get(added["results"][0]["id"])
    assert item is not None
    assert item["metadata"] == {"kind": "home"}
    assert item["hash"] == "e9bc99e1adf63894eba3e9db972381e5"
    assert [item[name] for name in ("user_id", "run_id", "actor_id", "role")] == ["anna", "r1", "Anna", "user"]
    assert texts(memory.get_all(filters={"user_id": "anna", "run_id": "r1"})) == texts(added)
    assert texts(memory.get_all(filters={"user_id": "anna", "run_id": "r2"})) == []
    assert texts(memory.get_all(filters={"user_id": "tom"})) == []


def test_without_a_model_a_message_is_kept_as_it_is(memory: Memory) -> None:
    added = memory.add("I am allergic to nuts", user_id="ben")
    assert texts(added) == ["I am allergic to nuts"]
    (hit,) = memory.search("What is he allergic to?", filters={"user_id": "ben"}, explain=True)["results"]
    assert (hit["id"], hit["memory"]) == (added["results"][0]["id"], "I am allergic to nuts")
    assert 0.1 <= hit["score"] == hit["score_details"]["final_score"] <= 1


def test_an_update_keeps_the_id_and_a_history(memory: Memory) -> None:
    (added,) = memory.add("She likes tea", user_id="cleo", metadata={"n": 1}, infer=False)["results"]
    assert memory.update(added["id"], "She likes coffee", metadata={"m": 2})["message"] == "Memory updated successfully!"
    item = memory.get(added["id"])
    assert item is not None
    assert (item["id"], item["memory"], item["metadata"]) == (added["id"], "She likes coffee", {"n": 1, "m": 2})
    assert [one["id"] for one in memory.search("tea or coffee", filters={"user_id": "cleo"})["results"]] == [added["id"]]
    assert memory.update(added["id"], metadata={"m": 3})
    memory.delete(added["id"])
    assert memory.get(added["id"]) is None
    assert [(row["event"], row["old_memory"], row["new_memory"]) for row in memory.history(added["id"])] == [
        ("ADD", None, "She likes tea"),
        ("UPDATE", "She likes tea", "She likes coffee"),
        ("UPDATE", "She likes coffee", "She likes coffee"),
        ("DELETE", "She likes coffee", None),
    ]
    with pytest.raises(ValueError, match="not found"):
        memory.delete(added["id"])
    with pytest.raises(ValueError, match="not found"):
        memory.update("no such id", "text")
    assert memory.get("no such id") is None
    assert memory.history("no such id") == []


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ({"kind": "a"}, ["one"]),
        ({"kind": {"ne": "a"}}, ["two", "three"]),
        ({"kind": {"in": ["a", "b"]}}, ["one", "two"]),
        ({"n": {"gte": 2, "lt": 3}}, ["two"]),
        ({"kind": {"icontains": "A"}}, ["one"]),
        ({"kind": "*"}, ["one", "two", "three"]),
        ({"OR": [{"n": 1}, {"n": 3}]}, ["one", "three"]),
        ({"NOT": [{"n": 1}]}, ["two", "three"]),
        ({"AND": [{"n": {"gt": 1}}, {"kind": {"nin": ["c"]}}]}, ["two"]),
    ],
)
def test_filters_are_those_of_mem0(memory: Memory, condition: dict[str, Any], found: list[str]) -> None:
    if not memory.get_all(filters={"agent_id": "filters"})["results"]:
        for number, (text, kind) in enumerate([("one", "a"), ("two", "b"), ("three", "c")], 1):
            memory.add(text, agent_id="filters", metadata={"n": number, "kind": kind}, infer=False)
    wanted = {"agent_id": "filters", **condition}
    assert texts(memory.get_all(filters=wanted)) == found
    assert sorted(texts(memory.search("one two three", filters=wanted, threshold=0))) == sorted(found)


def test_expired_memories_are_shown_on_request(memory: Memory) -> None:
    (added,) = memory.add("old", user_id="dora", expiration_date="2000-01-01", infer=False)["results"]
    memory.add("new", user_id="dora", expiration_date="2999-01-01", infer=False)
    assert texts(memory.get_all(filters={"user_id": "dora"})) == ["new"]
    assert texts(memory.get_all(filters={"user_id": "dora"}, show_expired=True)) == ["old", "new"]
    memory.update(added["id"], expiration_date=None)
    assert texts(memory.get_all(filters={"user_id": "dora"}, top_k=1)) == ["old"]


def test_what_mem0_refuses_is_refused(memory: Memory) -> None:
    calls: list[Any] = [
        lambda: memory.add("text"),
        lambda: memory.add("text", user_id="a b"),
        lambda: memory.add("text", user_id=" "),
        lambda: memory.add(7, user_id="anna"),
        lambda: memory.add("text", user_id="anna", memory_type="semantic_memory"),
        lambda: memory.add("text", user_id="anna", expiration_date="tomorrow"),
        lambda: memory.search(" ", filters={"user_id": "anna"}),
        lambda: memory.search("text"),
        lambda: memory.search("text", user_id="anna"),
        lambda: memory.search("text", filters={"user_id": "anna"}, top_k=-1),
        lambda: memory.search("text", filters={"user_id": "anna"}, threshold=2),
        lambda: memory.get_all(user_id="anna"),
        lambda: memory.update("id"),
        lambda: memory.delete_all(),
    ]
    for call in calls:
        with pytest.raises(ValueError):
            call()
    with pytest.raises(ValidationError) as error:
        memory.add("text")
    assert error.value.error_code == "VALIDATION_001"


def test_everything_of_some_ids_or_of_all_goes(tmp_path: Path) -> None:
    async def run() -> None:
        memory = AsyncMemory.from_config({"path": str(tmp_path / "memory.pack"), "llm": {"provider": "openai"}})
        for run_id in ("r1", "r2"):
            await memory.add(f"text of {run_id}", user_id="anna", run_id=run_id, infer=False)
        await memory.delete_all(user_id="anna", run_id="r1")
        assert texts(await memory.get_all(filters={"user_id": "anna"})) == ["text of r2"]
        await memory.reset()
        assert texts(await memory.get_all(filters={"user_id": "anna"})) == []
        assert [event["content"] async for event in memory.svc.events(user_id="anna") if event["content"]] == []
        await memory.aclose()

    asyncio.run(run())
