"""With LlamaIndex, which is too heavy for every check: ``pip install llama-index-core``, then ``pytest tests_apart``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback

from svc_memory import InvalidArgument, Memory
from svc_memory.llama_index import SvcMemory


class ScriptedModel(CustomLLM):
    """Says how many lines it was shown, and whether a word stands in them."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=f"{prompt.count('user:')} {'Kiel' in prompt}")

    def stream_complete(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def test_a_chat_engine_keeps_its_messages_and_knows_other_sessions(tmp_path: Path) -> None:
    program = os.environ.get("TEST_PROGRAM")
    with Memory(tmp_path / "memory.pack", user_id="anna", program=program) as memory:
        monday = SvcMemory(memory, "monday")
        said = [
            ChatMessage(role="user", content="I moved to Kiel"),
            ChatMessage(role="assistant", blocks=[ToolCallBlock(tool_call_id="1", tool_name="look", tool_kwargs={"at": 1})]),
            ChatMessage(role="tool", blocks=[TextBlock(text="done")], additional_kwargs={"tool_call_id": "1"}),
        ]
        monday.put_messages(said)
        assert monday.get_all() == said
        engine = SimpleChatEngine.from_defaults(llm=ScriptedModel(), memory=SvcMemory(memory, "tuesday", context_tokens=300))
        assert str(engine.chat("Where do I live?")) == "1 True"
        assert str(engine.chat("Thank you")).startswith("2 ")
        assert len(SvcMemory(memory, "tuesday").get()) == 4
        monday.set(said[:1])
        assert monday.get() == said[:1]
        monday.reset()
        assert monday.get() == []
        assert memory.search("Where does she live?", limit=1)[0]["content"] == "I moved to Kiel"
        with pytest.raises(InvalidArgument):
            SvcMemory.from_defaults()
