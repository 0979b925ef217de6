"""LangGraph: a store over a memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import anyio.to_thread
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    tokenize_path,
)

if TYPE_CHECKING:
    from ._sync import Memory

__all__ = ["SvcStore"]

_OWN = "_langgraph"
_PAGE = 500


class SvcStore(BaseStore):
    """Items in namespaces. Each is a memory of one owner, found by its texts; what it was before stays as its history.

    ``fields`` are the paths of values that questions find, ``$`` for all texts of a value.
    """

    def __init__(self, memory: Memory, *, user_id: str | None = None, fields: Iterable[str] = ("$",)) -> None:
        self._memory = memory
        self._user_id = user_id
        self._fields = list(fields)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Reads see what was there before; of puts of one item the last counts."""
        asked = list(ops)
        results: list[Result] = [None if isinstance(op, PutOp) else self._read(op) for op in asked]
        puts = {(op.namespace, op.key): op for op in asked if isinstance(op, PutOp)}
        for op in puts.values():
            self._put(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As ``batch``, in a thread."""
        return await anyio.to_thread.run_sync(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            found = self._find(op.namespace, op.key)
            return None if found is None else Item(**_fields_of(found))
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise ValueError(f"Unknown operation type: {type(op)}")

    def _put(self, op: PutOp) -> None:
        old = self._find(op.namespace, op.key)
        if op.value is None:
            if old is not None:
                self._memory.api.archive_node(old["id"], user_id=self._user_id)
            return
        paths = [] if op.index is False else self._fields if op.index is None else op.index
        texts = [text for path in paths for text in _texts(op.value, path)]
        own = {"namespace": list(op.namespace), "key": op.key, "value": dict(op.value), "is_found": bool(texts)}
        if old is not None:
            own["created_at"] = _own(old).get("created_at", old["created_at"])
        text = "\n".join(texts).strip() or op.key
        self._memory.store(
            text,
            user_id=self._user_id,
            session_id=_session_of(op.namespace),
            metadata={_OWN: own},
            supersedes=[] if old is None else [old["id"]],
        )

    def _find(self, namespace: tuple[str, ...], key: str) -> dict[str, Any] | None:
        for node in self._pages(session_id=_session_of(namespace)):
            if _own(node)["key"] == key:
                return node
        return None

    def _search(self, op: SearchOp) -> list[SearchItem]:
        depth = len(op.namespace_prefix)
        known = {
            node["id"]: node
            for node in self._pages()
            if tuple(_own(node)["namespace"][:depth]) == op.namespace_prefix and _fits(_own(node)["value"], op.filter or {})
        }
        scores: dict[str, float] = {}
        if op.query:
            # The filters are of metadata, so all results are read before they are counted.
            for hit in self._memory.search(op.query, limit=0, user_id=self._user_id):
                if hit["node_id"] in known and _own(known[hit["node_id"]])["is_found"]:
                    scores[hit["node_id"]] = hit["score"]
        ordered = [*scores, *(node_id for node_id in known if node_id not in scores)]
        chosen = ordered[op.offset : op.offset + op.limit]
        return [SearchItem(**_fields_of(known[node_id]), score=scores.get(node_id)) for node_id in chosen]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = {tuple(_own(node)["namespace"]) for node in self._pages()}
        matching = {one for one in found if all(_matches(one, condition) for condition in op.match_conditions or ())}
        cut = {one[: op.max_depth] for one in matching} if op.max_depth is not None else matching
        return sorted(cut)[op.offset : op.offset + op.limit]

    def _pages(self, session_id: str | None = None) -> Iterator[dict[str, Any]]:
        """The items of a namespace, or of all, the oldest first."""
        cursor: str | None = None
        owner = self._user_id or self._memory.owner()
        while True:
            page = self._memory.api.browse_nodes(user_id=owner, session_id=session_id, order="oldest", limit=_PAGE, cursor=cursor)
            for node in page["nodes"]:
                if _OWN in (node["metadata"] or {}):
                    yield dict(node)
            if not page["has_more"]:
                return
            cursor = page["next_cursor"]


def _own(node: Mapping[str, Any]) -> Any:
    return node["metadata"][_OWN]


def _texts(value: Any, path: str) -> list[str]:
    """The texts at a path; all of a value without their names, or the whole where it has none."""
    if path != "$":
        return list(get_text_at_path(value, tokenize_path(path)))
    return list(_leaves(value)) or [json.dumps(value, ensure_ascii=False, default=str)]


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(part)


def _session_of(namespace: tuple[str, ...]) -> str:
    return "langgraph:" + "/".join(quote(part, safe="") for part in namespace)


def _fields_of(node: Mapping[str, Any]) -> dict[str, Any]:
    own = _own(node)
    return {
        "namespace": tuple(own["namespace"]),
        "key": own["key"],
        "value": own["value"],
        "created_at": datetime.fromisoformat(own.get("created_at", node["created_at"]).replace("Z", "+00:00")),
        "updated_at": datetime.fromisoformat(node["created_at"].replace("Z", "+00:00")),
    }


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", own) for own, wanted in zip(part, path, strict=True))


def _fits(value: Any, wanted: Any) -> bool:
    """As LangGraph's own stores compare: a member or an operator for each name."""
    if isinstance(wanted, Mapping):
        if any(str(name).startswith("$") for name in wanted):
            return all(_holds(value, name, operand) for name, operand in wanted.items())
        return isinstance(value, Mapping) and all(_fits(value.get(name), operand) for name, operand in wanted.items())
    if isinstance(wanted, (list, tuple)):
        is_list = isinstance(value, (list, tuple)) and len(value) == len(wanted)
        return is_list and all(_fits(one, other) for one, other in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _holds(value: Any, operator: str, operand: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return bool((value == operand) == (operator == "$eq"))
    try:
        order = (float(value) > float(operand)) - (float(value) < float(operand))
    except (TypeError, ValueError):
        if operator in ("$gt", "$gte", "$lt", "$lte"):
            return False
        raise ValueError(f"Unsupported operator: {operator}") from None
    held = {"$gt": order > 0, "$gte": order >= 0, "$lt": order < 0, "$lte": order <= 0}
    if operator not in held:
        raise ValueError(f"Unsupported operator: {operator}")
    return held[operator]
