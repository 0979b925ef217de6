"""LlamaIndex: the memory of an agent or chat engine, over a memory that outlives it."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemory
from pydantic import PrivateAttr

from ._conversation import Conversation
from .errors import invalid

if TYPE_CHECKING:
    from . import models
    from ._sync import Memory

__all__ = ["SvcMemory"]

_MESSAGE = "_svc_llama_index_message"
_ROLES = {
    "user": "user",
    "assistant": "assistant",
    "model": "assistant",
    "chatbot": "assistant",
    "tool": "tool",
    "function": "tool",
}


class SvcMemory(BaseMemory):
    """The messages of one session. Each with a text is a memory as well, and stays one when the session is reset.

    With ``context_tokens`` what is known about an input stands before the messages, from all sessions.
    """

    session_id: str
    context_tokens: int = 0
    _log: Conversation = PrivateAttr()

    def __init__(
        self, memory: Memory, session_id: str | None = None, *, user_id: str | None = None, context_tokens: int = 0
    ) -> None:
        super().__init__(session_id=session_id or str(uuid.uuid4()), context_tokens=context_tokens)
        self._log = Conversation(memory, self.session_id, user_id)

    @classmethod
    def class_name(cls) -> str:
        """Its name in LlamaIndex."""
        return "SvcMemory"

    @classmethod
    def from_defaults(cls, **kwargs: Any) -> SvcMemory:
        """The same as the constructor; ``memory`` is required."""
        if "memory" not in kwargs:
            raise invalid("memory: is required")
        return cls(**kwargs)

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """The messages, oldest first, and before them what is known about the input: else about what the user said last."""
        del kwargs
        messages = self.get_all()
        last = next((one.content for one in reversed(messages) if one.role.value == "user"), None)
        question = input or last
        if not question or self.context_tokens <= 0:
            return messages
        known = self._log.memory.context(question, token_budget=self.context_tokens, user_id=self._log.user_id)
        return [ChatMessage(role="system", content=known), *messages] if known else messages

    def get_all(self) -> list[ChatMessage]:
        """The messages, oldest first."""
        return [_message_of(event) for event in self._log.events()]

    def put(self, message: ChatMessage) -> None:
        """Stores a message."""
        kept = {_MESSAGE: {"version": 1, "message": message.model_dump(mode="json")}}
        role = _ROLES.get(message.role.value, "system")
        self._log.append(role, message.content or "", kept, stand_in=f"[{message.role.value} without text]")

    def set(self, messages: list[ChatMessage]) -> None:
        """Puts messages in the place of those of the session."""
        self.reset()
        self.put_messages(messages)

    def reset(self) -> None:
        """Empties the session."""
        self._log.clear()


def _message_of(event: models.Event) -> ChatMessage:
    stored = (event["metadata"] or {}).get(_MESSAGE)
    if isinstance(stored, dict) and stored.get("version") == 1:
        return ChatMessage.model_validate(stored["message"])
    return ChatMessage(role="assistant" if event["role"] == "assistant" else "user", content=event["content"])
