"""The memory slot of Hermes: what is said goes to ``svc hook``, which stores and recalls; two tools ask the same memory."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent.memory_provider import MemoryProvider
from svc_memory import Memory, NoProgram, SvcError
from svc_memory._local import find_program

#: Seconds after which a hook is ended; it answers within 0.2.
LIMIT_S = 5.0
CONFIG = "svc.json"
#: What the setup of Hermes asks for.
FIELDS: list[dict[str, Any]] = [
    {"key": "pack", "description": "The pack, by its path", "default": "~/memory.pack"},
    {"key": "user_id", "description": "The owner of the memories (empty: the owner of the pack)", "default": ""},
]
TEXT = {"type": "string"}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "svc_search",
        "description": "Memories of earlier sessions that answer a question, best first.",
        "parameters": {"type": "object", "properties": {"query": TEXT}, "required": ["query"]},
    },
    {
        "name": "svc_remember",
        "description": "Keeps a lasting fact, preference or decision, in one sentence that is true without its context.",
        "parameters": {"type": "object", "properties": {"text": TEXT}, "required": ["text"]},
    },
]


class SvcMemoryProvider(MemoryProvider):  # type: ignore[misc,unused-ignore]
    """One pack of this machine. Its server runs while Hermes does, and is shared with other assistants."""

    def __init__(self) -> None:
        self._session = ""
        self._is_begun = False
        self._is_primary = True
        self._memory: Memory | None = None
        self._command: list[str] = []

    @property
    def name(self) -> str:
        return "svc"

    def is_available(self) -> bool:
        try:
            find_program(None)
        except NoProgram:
            return False
        return True

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        config = _read(Path(kwargs["hermes_home"]))
        pack = str(Path(config.get("pack") or FIELDS[0]["default"]).expanduser())
        owner = config.get("user_id") or None
        self._session, self._is_begun = session_id, False
        self._is_primary = kwargs.get("agent_context", "primary") == "primary"
        self._command = [find_program(None), "hook", "hermes", "--db-path", pack]
        if owner:
            self._command += ["--user-id", owner]
        self._memory = Memory(pack, user_id=owner)

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        begun = "" if self._is_begun else self._tell("SessionStart", session_id, source="startup")
        self._is_begun = True
        return "\n".join(filter(None, [begun, self._tell("chat.message", session_id, prompt=query)]))

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
    ) -> None:
        # The prompt was told when it was looked up.
        self._tell("session.idle", session_id, answer=assistant_content)

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        return TOOLS

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        try:
            if self._memory is None:
                raise SvcError("unavailable", "the memory is not open")
            if tool_name == "svc_remember":
                return json.dumps({"id": self._memory.store(str(args["text"]))["node_id"]})
            found = self._memory.search(str(args["query"]), limit=5)
            return json.dumps(
                {
                    "memories": [
                        {"id": one["node_id"], "content": one["content"], "strength": one.get("strength")} for one in found
                    ]
                }
            )
        except SvcError as error:
            return json.dumps({"error": f"{error.code}: {error}"})

    def on_session_switch(
        self, new_session_id: str, *, parent_session_id: str = "", reset: bool = False, rewound: bool = False, **kwargs: Any
    ) -> None:
        self._is_begun = self._is_begun and not reset
        self._session = new_session_id

    def on_memory_write(self, action: str, target: str, content: str, metadata: dict[str, Any] | None = None) -> None:
        if action == "add" and self._memory is not None and self._is_primary:
            self._memory.store(content)

    def shutdown(self) -> None:
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def get_config_schema(self) -> list[dict[str, Any]]:
        return FIELDS

    def save_config(self, values: dict[str, Any], hermes_home: str) -> None:
        (Path(hermes_home) / CONFIG).write_text(json.dumps({**_read(Path(hermes_home)), **values}, indent=2) + "\n")

    def _tell(self, event: str, session_id: str, **more: str) -> str:
        """Runs ``svc hook``. Never raises: Hermes goes on whatever happens."""
        if not self._is_primary or not self._command:
            return ""
        payload = {
            "svc_plugin": "hermes",
            "hook_event_name": event,
            "sessionID": session_id or self._session,
            "directory": os.getcwd(),
            **more,
        }
        try:
            done = subprocess.run(
                self._command, input=json.dumps(payload), capture_output=True, text=True, timeout=LIMIT_S, check=False
            )
            return str(json.loads(done.stdout).get("context", "")) if done.stdout else ""
        except (OSError, ValueError, subprocess.SubprocessError):
            return ""


def _read(hermes_home: Path) -> Mapping[str, str]:
    try:
        found = json.loads((hermes_home / CONFIG).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def register(ctx: Any) -> None:
    """Called by Hermes."""
    ctx.register_memory_provider(SvcMemoryProvider())
