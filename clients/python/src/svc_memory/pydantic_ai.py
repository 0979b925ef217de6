"""Pydantic AI: tools with which a model uses a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_ai import FunctionToolset

if TYPE_CHECKING:
    from ._async import AsyncMemory

__all__ = ["memory_tools"]


def memory_tools(memory: AsyncMemory, *, user_id: str | None = None) -> FunctionToolset[Any]:
    """Tools of one owner: search, store, replace. None erases a text, and nothing that a model writes selects another owner."""

    async def memory_search(question: str) -> list[dict[str, Any]]:
        """Search the long-term memory, in plain words. Call it before you answer about the user or earlier conversations."""
        hits = await memory.search(question, limit=8, user_id=user_id)
        return [{"id": hit["node_id"], "text": hit["content"], "certain": hit.get("strength") != "weak"} for hit in hits]

    async def memory_store(text: str) -> str:
        """Keep something worth knowing in later conversations, as one sentence that can be understood alone. Returns its id."""
        return (await memory.store(text, role="user", user_id=user_id))["node_id"]

    async def memory_replace(id: str, text: str) -> str:
        """Replace a memory that is no longer true by a text; the old one stays as history. Returns the new id."""
        return (await memory.replace(id, text, user_id=user_id))["node_id"]

    return FunctionToolset(tools=[memory_search, memory_store, memory_replace])
