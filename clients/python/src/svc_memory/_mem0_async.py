"""mem0's ``AsyncMemory`` over a memory of svc. ``_mem0_sync.py`` is made of this file by ``generate.py``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _mem0_rules as rules
from ._async import AsyncMemory as _Svc
from .errors import InvalidArgument, NotFound

if TYPE_CHECKING:
    from . import models

_UNSET: Any = object()


class AsyncMemory:
    """mem0's ``AsyncMemory`` (open source, version 2), kept by svc.

    ``config`` says where: ``{"path": "./memory.pack"}`` (the default), or ``{"url": ..., "key": ...}``. What mem0's own
    configuration says about models and vector stores has no effect: svc searches with its own model, and extracts with the one of
    its settings.
    """

    def __init__(self, config: object = None) -> None:
        self.config = config
        self.svc = _Svc(**rules.place_of(config))

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> AsyncMemory:
        """The memory that a configuration describes."""
        return cls(config_dict)

    async def add(
        self,
        messages: object,
        *,
        user_id: object = None,
        agent_id: object = None,
        run_id: object = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: object = None,
        expiration_date: object = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Keeps messages. With ``infer`` a server with extraction turned on derives memories; otherwise each message is one."""
        del prompt  # The extraction has instructions of its own.
        if timestamp is not None:
            raise ValueError("timestamp is not supported by add(); use metadata or expiration_date")
        expires = rules.expiration_of(expiration_date)
        ids = rules.identity(user_id=user_id, agent_id=agent_id, run_id=run_id)
        rules.require_memory_type(memory_type)
        said = rules.messages_of(messages)
        results: list[dict[str, Any]] = []
        for message in said:
            own = {**ids, "role": message["role"], "actor_id": message.get("name"), "expiration_date": expires}
            kept = rules.kept_metadata(metadata, own)
            role = rules.ROLES.get(message["role"], "participant")
            if infer:
                event = await self.svc.api.ingest(
                    {
                        **{"content": message["content"], "role": role, "metadata": kept, "wait_for_extraction": True},
                        **rules.place_in(ids),
                    }
                )
                derived = await self.svc.api.get_event_nodes(event["event_id"])
                nodes = [(node["id"], node["content"]) for node in derived["nodes"]]
            else:
                receipt = await self.svc.store(message["content"], role=role, metadata=kept, **rules.place_in(ids))
                nodes = [(receipt["node_id"], message["content"])]
            for node_id, text in nodes:
                named = {} if infer else {"actor_id": own["actor_id"], "role": message["role"]}
                results.append({"id": node_id, "memory": text, "event": "ADD", **named})
        return {"results": results}

    async def get(self, memory_id: str) -> dict[str, Any] | None:
        """A memory, or None."""
        node = await self._current(memory_id)
        return None if node is None else rules.item_of(node, await self._first(node))

    async def get_all(
        self, *, filters: Mapping[str, Any] | None = None, top_k: int = 20, show_expired: bool = False, **others: object
    ) -> dict[str, Any]:
        """Memories that match the filters, the oldest first."""
        rules.refuse_top_level(others, "get_all")
        rules.require_search_numbers(top_k=top_k)
        wanted = rules.filters_of(filters)
        found: list[dict[str, Any]] = []
        async for node in self.svc.all(user_id=rules.owner_of(wanted)):
            item = rules.item_of(node, await self._first(node))
            if rules.is_shown(item, wanted, show_expired=show_expired):
                found.append(item)
        return {"results": sorted(found, key=lambda item: str(item["created_at"]))[:top_k]}

    async def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: object = None,
        show_expired: bool = False,
        **others: object,
    ) -> dict[str, Any]:
        """Memories that answer a question, best first. ``rerank`` is a setting of the server."""
        del rerank
        if reference_date is not None:
            raise ValueError("reference_date is not supported by search()")
        rules.refuse_top_level(others, "search")
        rules.require_search_numbers(threshold=threshold, top_k=top_k)
        text = rules.query_of(query)
        wanted = rules.filters_of(filters)
        found: list[dict[str, Any]] = []
        # Filters are of metadata, so all results are read before they are counted.
        for hit in await self.svc.search(text, limit=0, user_id=rules.owner_of(wanted)):
            if len(found) == top_k:
                break
            item = rules.item_of(hit, await self._first(hit))
            score = min(hit["score"], 1.0)
            if score < (threshold or 0) or not rules.is_shown(item, wanted, show_expired=show_expired):
                continue
            item["score"] = score
            if explain:
                details = {"final_score": score, "threshold": threshold, "semantic_score": hit.get("semantic_relevance")}
                item["score_details"] = details
            found.append(item)
        return {"results": found}

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: object = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Changes a memory, which keeps its id; what it was before stays in its history."""
        if data is not None:
            rules.log.warning("The `data` argument to update() is deprecated; use `text` instead.")
            text = data if text is None else text
        if text is None and metadata is None and expiration_date is _UNSET:
            raise ValueError("At least one of text, metadata, or expiration_date must be provided.")
        expires = _UNSET if expiration_date is _UNSET else rules.expiration_of(expiration_date)
        node = await self._current(memory_id)
        if node is None:
            raise ValueError(f"Memory with id {memory_id} not found. Please provide a valid 'memory_id'")
        kept, own = rules.split(node["metadata"])
        own |= {"id": memory_id}
        own |= {} if expires is _UNSET else {"expiration_date": expires}
        changed = rules.kept_metadata({**kept, **(metadata or {})}, own)
        await self.svc.replace(
            node["id"],
            node["content"] if text is None else text,
            user_id=node["user_id"],
            metadata=changed,
            session_id=node["session_id"],
        )
        return {"message": "Memory updated successfully!"}

    async def delete(self, memory_id: str) -> dict[str, str]:
        """Takes a memory out of use; its history stays, as mem0's does. ``svc.forget`` erases it for good."""
        node = await self._current(memory_id)
        if node is None:
            raise ValueError(f"Memory with id {memory_id} not found")
        await self.svc.api.archive_node(node["id"])
        return {"message": "Memory deleted successfully!"}

    async def delete_all(self, user_id: object = None, agent_id: object = None, run_id: object = None) -> dict[str, str]:
        """Takes all memories of these ids out of use."""
        try:
            wanted = rules.identity(user_id=user_id, agent_id=agent_id, run_id=run_id)
        except rules.ValidationError:
            raise ValueError(
                "At least one filter is required to delete all memories. "
                "If you want to delete all memories, use the `reset()` method."
            ) from None
        chosen: list[str] = []
        async for node in self.svc.all(user_id=rules.owner_of(wanted)):
            if rules.matches(rules.item_of(node, node), wanted):
                chosen.append(node["id"])
        for node_id in chosen:
            await self.svc.api.archive_node(node_id)
        return {"message": "Memories deleted successfully!"}

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        """What was done to a memory: ADD, UPDATE, DELETE, the oldest first."""
        node = await self._get(memory_id)
        if node is None:
            return []
        return rules.history_of(memory_id, await self.svc.history(node["id"], user_id=node["user_id"]))

    async def reset(self) -> None:
        """Erases the memories of all owners for good."""
        for owner in (await self.svc.api.list_owners())["owners"]:
            for state in rules.STATES:
                ids = [node["id"] async for node in self.svc.all(user_id=owner["user_id"], state=[state])]
                for start in range(0, len(ids), 100):
                    await self.svc.forget(*ids[start : start + 100], user_id=owner["user_id"])

    async def aclose(self) -> None:
        """Ends the connections, and the program if this was its last user."""
        await self.svc.aclose()

    async def chat(self, query: str) -> str:
        """Not there, as in mem0."""
        raise NotImplementedError("Chat function not implemented yet.")

    async def _current(self, memory_id: str) -> models.Node | None:
        """The memory of that id as it is now; None if it is unknown or out of use."""
        node = await self._get(memory_id)
        if node is not None and node["lifecycle_state"] == "superseded":
            later = (await self.svc.api.chain(node["id"], direction="forward"))["nodes"]
            node = later[-1] if later else node
        return node if node is not None and node["lifecycle_state"] in rules.ACTIVE else None

    async def _first(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        """The memory from which this one came by updates."""
        first = rules.split(node["metadata"])[1].get("id")
        if first is None:
            return node if "created_at" in node else await self.svc.api.get_node(node["node_id"])
        return await self._get(first) or node

    async def _get(self, memory_id: str) -> models.Node | None:
        """A memory of any owner that the key reaches, in any state."""
        try:
            return await self.svc.api.get_node(str(memory_id))
        except (NotFound, InvalidArgument):
            return None
