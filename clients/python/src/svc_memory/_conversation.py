"""The items of one conversation in the log of a memory, in the form that the adapters of JavaScript have, too."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .errors import Conflict, InvalidArgument, SvcError

if TYPE_CHECKING:
    from . import models
    from ._sync import Memory

_CONTROL = "_svc_chat_history_control"
_VERSION = 1


class Conversation:
    """What was said in a session and is still part of it. Each item with a text is a memory, too, and stays one."""

    def __init__(self, memory: Memory, session_id: str, user_id: str | None) -> None:
        self.memory = memory
        self.session_id = session_id
        self.user_id = user_id

    def append(self, role: Any, text: str, metadata: Mapping[str, Any], *, stand_in: str) -> str:
        """Stores an item. One without a visible text, and a user's question, is kept, but not found: it states nothing."""
        text = text.encode("utf-8", "replace").decode()
        is_found = bool(text.strip()) and not (role == "user" and is_question(text))
        kind: Any = {"node_type": "note"} if is_found else {"node_type": "event", "ttl_days": 0}
        receipt = self.memory.store(
            text if text.strip() else stand_in,
            role=role,
            session_id=self.session_id,
            user_id=self.user_id,
            metadata=dict(metadata),
            **kind,
        )
        return receipt["node_id"]

    def events(self) -> list[models.Event]:
        """The items, oldest first."""
        entries: dict[str, models.Event] = {}
        for event in self._log():
            control = _control_of(event)
            if control is None:
                if event["content"] != "" or "erased" not in (event["metadata"] or {}):
                    entries[event["id"]] = event
            elif control["operation"] == "clear":
                entries.clear()
            else:
                entries.pop(control["target_event_id"].lower(), None)
        return list(entries.values())

    def clear(self) -> None:
        """Empties the conversation; its memories stay."""
        self._say({"operation": "clear"}, "[chat history cleared]")

    def remove(self, event_id: str) -> None:
        """Takes an item out of the conversation; it stays a memory."""
        self._say({"operation": "delete", "target_event_id": event_id}, "[chat message deleted]")

    def _log(self) -> Sequence[models.Event]:
        found = self.memory.events(session_id=self.session_id, user_id=self.user_id)
        return sorted(found, key=lambda event: (event["timestamp"], event["id"]))

    def _say(self, control: Mapping[str, str], text: str) -> None:
        metadata = {_CONTROL: {"version": _VERSION, **control}}
        receipt = self.memory.store(
            text,
            role="system",
            node_type="event",
            ttl_days=0,
            session_id=self.session_id,
            user_id=self.user_id,
            metadata=metadata,
        )
        # The sweep of expired memories may be first.
        with contextlib.suppress(Conflict, InvalidArgument):
            self.memory.api.archive_node(receipt["node_id"], user_id=self.user_id)


def is_question(text: str) -> bool:
    """Whether a text consists of questions alone."""
    sentences = re.split(r"(?<=[.!?\u3002\uff01\uff1f\u061f])\s+|\n+", text.strip())
    return all(
        sentence.rstrip("\"')\u201d\u2019 ").endswith(("?", "\uff1f", "\u061f")) for sentence in sentences if sentence.strip()
    )


def _control_of(event: models.Event) -> Mapping[str, str] | None:
    metadata = event["metadata"] or {}
    if _CONTROL not in metadata:
        return None
    control = metadata[_CONTROL]
    if isinstance(control, Mapping) and control.get("version") == _VERSION:
        is_clear = control.get("operation") == "clear"
        if is_clear or (control.get("operation") == "delete" and isinstance(control.get("target_event_id"), str)):
            return control
    detail = f"event {event['id']} is an instruction about the chat history that this version cannot read"
    raise SvcError("unsupported", detail, data={"event_id": event["id"]})
