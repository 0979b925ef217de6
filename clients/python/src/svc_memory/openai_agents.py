"""OpenAI Agents SDK: a session over a memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from agents.memory.session import SessionABC

from ._conversation import Conversation

if TYPE_CHECKING:
    from agents.items import TResponseInputItem
    from agents.memory import SessionSettings

    from . import models
    from ._sync import Memory

__all__ = ["SvcSession"]

_ITEM = "_svc_agents_item"
_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


class SvcSession(SessionABC):
    """The items of one session. Each with a text is a memory as well, and stays one when it leaves the session."""

    def __init__(self, session_id: str, memory: Memory, *, user_id: str | None = None) -> None:
        self.session_id = session_id
        self.session_settings: SessionSettings | None = None
        self._log = Conversation(memory, session_id, user_id)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The latest items, oldest first."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        items = [_item_of(event) for event in await anyio.to_thread.run_sync(self._log.events)]
        return items if limit is None else items[max(len(items) - limit, 0) :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Stores items one after the other."""
        for item in items:
            fields: dict[str, Any] = dict(item)
            role = _ROLES.get(str(fields.get("role")), "tool")
            kept = {_ITEM: {"version": 1, "item": fields}}
            stand_in = f"[{fields.get('type', 'item')} without text]"
            await anyio.to_thread.run_sync(partial(self._log.append, role, _text_of(fields), kept, stand_in=stand_in))

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the latest item out of the session."""
        events = await anyio.to_thread.run_sync(self._log.events)
        if not events:
            return None
        await anyio.to_thread.run_sync(self._log.remove, events[-1]["id"])
        return _item_of(events[-1])

    async def clear_session(self) -> None:
        """Empties the session."""
        await anyio.to_thread.run_sync(self._log.clear)


def _text_of(item: dict[str, Any]) -> str:
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part)


def _item_of(event: models.Event) -> Any:
    stored = (event["metadata"] or {}).get(_ITEM)
    if isinstance(stored, dict) and stored.get("version") == 1:
        return stored["item"]
    return {"role": "assistant" if event["role"] == "assistant" else "user", "content": event["content"]}
