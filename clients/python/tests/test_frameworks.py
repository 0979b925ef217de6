"""The adapters of frameworks, with scripted models and without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, ModelResponse, Runner, Usage
from agents.models.interface import Model
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_tests.integration_tests import RetrieversIntegrationTests
from openai.types.responses import ResponseOutputMessage, ResponseOutputText
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.messages import ModelMessage, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.messages import ModelResponse as PydanticResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel

from svc_memory import AsyncMemory, Memory
from svc_memory.langchain import SvcChatMessageHistory, SvcRetriever
from svc_memory.langgraph import SvcStore
from svc_memory.openai_agents import SvcSession
from svc_memory.pydantic_ai import memory_tools

MemoryOf = Callable[[str], Memory]


class TestRetriever(RetrieversIntegrationTests):
    """LangChain's standard tests of retrievers."""

    memory: Memory

    @pytest.fixture(autouse=True)
    def _filled(self, memory_of: MemoryOf) -> None:
        self.memory = memory_of("retriever")
        if not list(self.memory.all()):
            self.memory.store_many([f"Anna has {n} bicycles in the shed" for n in ("two", "three", "four", "five")])

    @property
    def retriever_constructor(self) -> type[SvcRetriever]:
        return SvcRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.memory}

    @property
    def retriever_query_example(self) -> str:
        return "How many bicycles has Anna?"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_langchain_history_keeps_messages_as_they_were_and_their_texts_as_memories(memory_of: MemoryOf) -> None:
    memory = memory_of("langchain")
    history = SvcChatMessageHistory(memory, "monday")
    call = {"name": "look", "args": {"at": 1}, "id": "c1", "type": "tool_call"}
    said = [
        HumanMessage("I moved to Kiel", name="anna"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("done", tool_call_id="c1"),
    ]
    history.add_messages(said)
    assert history.messages == said
    assert memory.search("Where does Anna live?", limit=1)[0]["content"] == "I moved to Kiel"
    history.clear()
    assert history.messages == []
    assert len(memory.search("Where does Anna live?")) >= 1
    echo = RunnableWithMessageHistory(
        RunnableLambda(lambda messages: AIMessage(f"{len(messages)} messages")),
        lambda session_id: SvcChatMessageHistory(memory, session_id),
    )
    for count in (1, 3):
        answer = echo.invoke([HumanMessage("hello")], {"configurable": {"session_id": "tuesday"}})
        assert answer.content == f"{count} messages"


def test_langgraph_items_are_kept_replaced_found_and_deleted(memory_of: MemoryOf) -> None:
    store = SvcStore(memory_of("langgraph"))
    store.put(("users", "anna"), "food", {"text": "Anna likes tea", "n": 1})
    store.put(("users", "tom"), "food", {"text": "Tom likes coffee", "n": 2})
    first = store.get(("users", "anna"), "food")
    assert first is not None
    store.put(("users", "anna"), "food", {"text": "Anna likes cocoa", "n": 3})
    item = store.get(("users", "anna"), "food")
    assert item is not None
    assert (item.value["text"], item.created_at) == ("Anna likes cocoa", first.created_at)
    assert item.updated_at > first.updated_at
    hits = store.search(("users",), query="Who likes coffee?")
    assert (hits[0].namespace, hits[0].value["n"]) == (("users", "tom"), 2)
    assert [hit.key for hit in store.search(("users",), filter={"n": {"$gt": 2}})] == ["food"]
    assert store.list_namespaces(prefix=("users",), max_depth=2) == [("users", "anna"), ("users", "tom")]
    store.delete(("users", "anna"), "food")
    assert store.get(("users", "anna"), "food") is None
    assert [hit.value["n"] for hit in asyncio.run(store.asearch(("users",)))] == [2]


class ScriptedModel(Model):
    """Says how many items it was shown."""

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **others: Any) -> ModelResponse:
        text = ResponseOutputText(type="output_text", text=f"{len(input)} items", annotations=[])
        said = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **others: Any) -> Any:
        raise NotImplementedError


def test_an_agent_of_openai_has_its_session(memory_of: MemoryOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    memory = memory_of("agents")

    async def run() -> None:
        agent = Agent(name="agent", model=ScriptedModel())
        for text, answer in (("I moved to Kiel", "1 items"), ("Where do I live?", "3 items")):
            result = await Runner.run(agent, text, session=SvcSession("s1", memory))
            assert result.final_output == answer
        session = SvcSession("s1", memory)
        assert [item["role"] for item in await session.get_items(limit=2)] == ["user", "assistant"]
        popped = await session.pop_item()
        assert popped is not None
        assert popped["content"][0]["text"] == "3 items"
        assert len(await session.get_items()) == 3
        await session.clear_session()
        assert await session.get_items() == []
        assert await session.pop_item() is None

    asyncio.run(run())
    assert memory.search("Where does she live?", limit=1)[0]["content"] == "I moved to Kiel"


def test_an_agent_of_pydantic_uses_the_memory(pack: Path) -> None:
    def script(messages: list[ModelMessage], info: AgentInfo) -> PydanticResponse:
        returned = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
        if not returned:
            return PydanticResponse([ToolCallPart("memory_store", {"text": "Anna is allergic to nuts"})])
        if len(returned) == 1:
            return PydanticResponse([ToolCallPart("memory_search", {"question": "What can Anna not eat?"})])
        return PydanticResponse([TextPart(returned[-1].content[0]["text"])])

    async def run() -> str:
        async with AsyncMemory(pack, user_id="pydantic") as memory:
            agent = PydanticAgent(FunctionModel(script), toolsets=[memory_tools(memory)])
            return str((await agent.run("What can Anna not eat?")).output)

    assert asyncio.run(run()) == "Anna is allergic to nuts"
