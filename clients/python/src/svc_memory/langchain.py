"""LangChain: a retriever and a chat history over a memory."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    message_to_dict,
    messages_from_dict,
)
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from ._conversation import Conversation
from ._sync import Memory

if TYPE_CHECKING:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun

    from . import models

__all__ = ["SvcChatMessageHistory", "SvcRetriever"]

_MESSAGE = "_svc_chat_message"
_ROLES = {
    "human": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}


class SvcRetriever(BaseRetriever):
    """Memories that answer a question, as documents; ``k`` at most."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    memory: Memory
    user_id: str | None = None
    k: int = 10

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        hits = self.memory.search(query, limit=self.k if k is None else k, user_id=self.user_id)
        return [Document(id=hit["node_id"], page_content=hit["content"], metadata=_metadata_of(hit)) for hit in hits]


def _metadata_of(hit: models.RetrieveResult) -> dict[str, Any]:
    own = {name: value for name, value in (hit["metadata"] or {}).items() if not name.startswith("_svc")}
    names = ("node_type", "lifecycle_state", "confidence", "scope", "session_id", "event_time", "score", "strength")
    found: dict[str, Any] = {**hit}
    return {**own, **{name: found[name] for name in names if found.get(name) is not None}}


class SvcChatMessageHistory(BaseChatMessageHistory):
    """The messages of one conversation. Each is a memory as well, and stays one when the history is cleared."""

    def __init__(self, memory: Memory, session_id: str | None = None, *, user_id: str | None = None) -> None:
        self.session_id = session_id or str(uuid.uuid4())
        self._log = Conversation(memory, self.session_id, user_id)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """Oldest first, with what other programs stored in the session."""
        return [_message_of(event) for event in self._log.events()]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Stores messages one after the other."""
        for message in messages:
            stored = {"version": 1, "format": "langchain-v1", "message": message_to_dict(message)}
            role = message.role if isinstance(message, ChatMessage) else _ROLES.get(message.type, "participant")
            text = message.text if isinstance(message.text, str) else message.text()
            self._log.append(
                role if role in ("user", "assistant", "system", "tool") else "participant",
                text,
                {_MESSAGE: stored},
                stand_in=f"[{message.type} message without text]",
            )

    def clear(self) -> None:
        """Empties the conversation; its messages stay memories."""
        self._log.clear()


def _message_of(event: models.Event) -> BaseMessage:
    stored = (event["metadata"] or {}).get(_MESSAGE)
    if isinstance(stored, dict) and stored.get("version") == 1:
        try:
            return messages_from_dict([stored["message"]])[0]
        except (KeyError, TypeError, ValueError):
            pass  # Another form: role and text remain.
    kinds = {"user": HumanMessage, "human": HumanMessage, "assistant": AIMessage, "system": SystemMessage}
    kind = kinds.get(event["role"])
    return ChatMessage(content=event["content"], role=event["role"]) if kind is None else kind(content=event["content"])
