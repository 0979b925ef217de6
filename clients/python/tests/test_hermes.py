"""The memory slot of Hermes, with what it uses of Hermes' interface."""

from __future__ import annotations

import importlib.util
import json
import sys
import types
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "plugins/hermes"


class MemoryProvider(ABC):
    """What Hermes demands of a provider."""

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def is_available(self) -> bool: ...

    @abstractmethod
    def initialize(self, session_id: str, **kwargs: Any) -> None: ...

    @abstractmethod
    def get_tool_schemas(self) -> list[dict[str, Any]]: ...


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch, pack: Path, tmp_path: Path) -> Iterator[Any]:
    """The provider that Hermes is given, set up for the pack of these tests."""
    interface = types.ModuleType("agent.memory_provider")
    interface.MemoryProvider = MemoryProvider  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "agent", types.ModuleType("agent"))
    monkeypatch.setitem(sys.modules, "agent.memory_provider", interface)
    spec = importlib.util.spec_from_file_location("svc_hermes", FOLDER / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # A busy machine starts a program late.
    monkeypatch.setattr(module, "LIMIT_S", 60)
    registered: list[Any] = []
    module.register(types.SimpleNamespace(register_memory_provider=registered.append))
    [made] = registered
    made.save_config({"pack": str(pack), "user_id": "hermes"}, str(tmp_path))
    yield made
    made.shutdown()


#: Writes down what it hears, and answers with the name of the event.
RECORDER = """
import json, sys
heard = json.load(sys.stdin)
open(sys.argv[1], "a").write(json.dumps(heard) + chr(10))
print(json.dumps({"context": heard["hook_event_name"]}))
"""


def test_a_session_tells_what_is_said_and_hears_what_is_known(provider: Any, tmp_path: Path) -> None:
    assert (provider.name, provider.is_available()) == ("svc", True)
    provider.initialize("s1", hermes_home=str(tmp_path), platform="cli")
    assert provider._command[1:3] == ["hook", "hermes"]
    assert provider._command[-2:] == ["--user-id", "hermes"]
    log = tmp_path / "log"
    provider._command = [sys.executable, "-c", RECORDER, str(log)]
    assert provider.prefetch("What does Ada drink?", session_id="s1") == "SessionStart\nchat.message"
    assert provider.prefetch("And at noon?", session_id="s1") == "chat.message"
    provider.sync_turn("And at noon?", "Coffee.", session_id="s1")
    provider.on_session_switch("s2", reset=True)
    assert provider.prefetch("And now?") == "SessionStart\nchat.message"
    told = [json.loads(line) for line in log.read_text().splitlines()]
    assert [one.get("prompt") or one.get("answer") or one["source"] for one in told] == [
        *("startup", "What does Ada drink?", "And at noon?", "Coffee.", "startup", "And now?"),
    ]
    assert {(one["svc_plugin"], one["sessionID"]) for one in told} == {("hermes", "s1"), ("hermes", "s2")}


def test_its_tools_keep_and_find(provider: Any, tmp_path: Path) -> None:
    provider.initialize("s1", hermes_home=str(tmp_path), platform="cli")
    assert [tool["name"] for tool in provider.get_tool_schemas()] == ["svc_search", "svc_remember"]
    kept = json.loads(provider.handle_tool_call("svc_remember", {"text": "Ada drinks green tea every morning"}))
    found = json.loads(provider.handle_tool_call("svc_search", {"query": "What does Ada drink in the morning?"}))
    assert found["memories"][0] == {"id": kept["id"], "content": "Ada drinks green tea every morning", "strength": "strong"}


def test_hermes_goes_on_without_the_program_and_its_helpers_store_nothing(
    provider: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.initialize("s2", hermes_home=str(tmp_path), platform="cli", agent_context="subagent")
    assert provider.prefetch("What does Ada drink in the morning?") == ""
    provider._is_primary = True
    provider._command[0] = str(tmp_path / "missing")
    assert provider.prefetch("What does Ada drink in the morning?") == ""
    provider.shutdown()
    assert "error" in json.loads(provider.handle_tool_call("svc_search", {"query": "tea"}))
    monkeypatch.setenv("SVC_PROGRAM", str(tmp_path / "missing"))
    assert provider.is_available() is False
