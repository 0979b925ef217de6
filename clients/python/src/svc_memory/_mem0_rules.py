"""What mem0 checks, and how its memories stand in those of svc. No I/O."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timezone
from typing import Any

log = logging.getLogger("svc_memory.mem0")

#: The member of the metadata with what mem0 keeps beside the caller's.
OWN = "_mem0"
ENTITIES = ("user_id", "agent_id", "run_id")
PROMOTED = (*ENTITIES, "actor_id", "role", "expiration_date")
ROLES: Mapping[str, Any] = {"user": "user", "assistant": "assistant", "tool": "tool"}
ACTIVE = frozenset({"tentative", "stable", "contested"})
STATES: Sequence[Any] = ("tentative", "stable", "contested", "superseded", "deprecated", "archived")


class ValidationError(ValueError):
    """As ``mem0.exceptions.ValidationError``."""

    def __init__(self, message: str, error_code: str) -> None:
        super().__init__(message)
        self.message = message
        self.error_code = error_code


def place_of(config: object) -> dict[str, Any]:
    """Where the memory is, of a configuration."""
    default = os.environ.get("SVC_DB_PATH") or "./memory.pack"
    if not isinstance(config, Mapping):
        if config is not None:
            log.warning("%s has no effect: give a dict such as {'path': './memory.pack'}", type(config).__name__)
        return {"pack": default}
    known = {name: config[name] for name in ("url", "key", "program", "encryption_key", "settings", "timeout") if name in config}
    others = [name for name in config if name not in known and name != "path"]
    if others:
        log.warning("%s have no effect: svc has its own models and store", ", ".join(sorted(map(str, others))))
    return known if "url" in known else {**known, "pack": config.get("path", default)}


def entity(value: object, name: str) -> str | None:
    """An id as mem0 takes it."""
    if value is None:
        return None
    trimmed = str(value).strip()
    if not trimmed:
        raise ValueError(f"Invalid {name}: cannot be empty or whitespace-only. Provide a valid identifier.")
    if any(char.isspace() for char in trimmed):
        raise ValueError(f"Invalid {name}: cannot contain whitespace. Provide a valid identifier without spaces.")
    return trimmed


def identity(**ids: object) -> dict[str, str]:
    """The ids that were given; at least one is needed."""
    checked = {name: entity(value, name) for name, value in ids.items()}
    given = {name: value for name, value in checked.items() if value is not None}
    if not given:
        raise ValidationError("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.", "VALIDATION_001")
    return given


def owner_of(ids: Mapping[str, Any]) -> str:
    """The owner in svc: the user; of memories without one the agent, else the run."""
    if ids.get("user_id"):
        return str(ids["user_id"])
    return f"agent:{ids['agent_id']}" if ids.get("agent_id") else f"run:{ids['run_id']}"


def place_in(ids: Mapping[str, Any]) -> Any:
    """Owner and conversation of a memory."""
    return {"user_id": owner_of(ids), **({"session_id": ids["run_id"]} if "run_id" in ids else {})}


def require_memory_type(memory_type: str | None) -> None:
    """Refuses types other than mem0's one."""
    if memory_type not in (None, "procedural_memory"):
        message = "Invalid 'memory_type'. Please pass procedural_memory to create procedural memories."
        raise ValidationError(message, "VALIDATION_002")


def messages_of(messages: object) -> list[dict[str, Any]]:
    """Messages that can be kept: those with a role and a text, but system's."""
    if isinstance(messages, (str, Mapping)):
        messages = [{"role": "user", "content": messages} if isinstance(messages, str) else messages]
    if not isinstance(messages, list):
        raise ValidationError("messages must be str, dict, or list[dict]", "VALIDATION_003")
    kept = []
    for message in messages:
        if not isinstance(message, Mapping) or message.get("role") is None or message.get("content") is None:
            log.warning("Skipping invalid message format: %s", message)
            continue
        content = message["content"]
        if not isinstance(content, str):
            parts = content if isinstance(content, list) else [content]
            content = "\n".join(str(part["text"]) for part in parts if isinstance(part, Mapping) and "text" in part)
        if message["role"] != "system" and content:
            kept.append({**message, "content": content})
    return kept


def kept_metadata(metadata: Mapping[str, Any] | None, own: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata of a memory in svc. Ids in the caller's are dropped, since they would move it."""
    for name in sorted({*ENTITIES, "actor_id"} & set(metadata or {})):
        if (metadata or {})[name] != own.get(name):
            log.warning("ignoring metadata['%s'] - identity fields cannot be set through metadata", name)
    mine = {name: value for name, value in (metadata or {}).items() if name not in (*ENTITIES, "actor_id", OWN)}
    return {**mine, OWN: {name: value for name, value in own.items() if value is not None}}


def split(metadata: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The caller's metadata, and mem0's own."""
    rest = dict(metadata or {})
    return rest, dict(rest.pop(OWN, {}))


def item_of(node: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
    """A memory as mem0 shows it. ``first`` is the one from which it came by updates."""
    metadata, own = split(node["metadata"])
    text = node["content"]
    item: dict[str, Any] = {
        "id": own.get("id") or node.get("id") or node["node_id"],
        "memory": text,
        "hash": hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest(),
        "created_at": first.get("created_at"),
        "updated_at": node.get("created_at") or first.get("created_at"),
    }
    item |= {name: own[name] for name in PROMOTED if name in own}
    return {**item, "metadata": metadata} if metadata else item


def expiration_of(value: object) -> str | None:
    """A date as mem0 keeps it."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    try:
        return date.fromisoformat(value).isoformat()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ValueError("expiration_date must be a valid date in YYYY-MM-DD format.") from None


def is_shown(item: Mapping[str, Any], wanted: Mapping[str, Any], *, show_expired: bool) -> bool:
    """Whether a memory is in a list or an answer."""
    expires = item.get("expiration_date")
    today = datetime.now(timezone.utc).date().isoformat()
    return (show_expired or expires is None or str(expires) >= today) and matches(item, wanted)


def refuse_top_level(others: Mapping[str, object], method: str) -> None:
    """Refuses what mem0 refuses beside filters."""
    wrong = sorted(set(ENTITIES) & set(others))
    if wrong:
        raise ValueError(
            f"Top-level entity parameters {set(wrong)} are not supported in {method}(). Use filters={{'user_id': '...'}} instead."
        )


def require_search_numbers(*, threshold: object = None, top_k: object = None) -> None:
    """Checks the numbers of a search."""
    if threshold is not None:
        if not isinstance(threshold, (int, float)):
            raise ValueError("threshold must be a valid number")
        if not 0 <= threshold <= 1:
            raise ValueError(f"Invalid threshold: {threshold}. Must be between 0 and 1 (inclusive).")
    if top_k is not None:
        if not isinstance(top_k, int) or isinstance(top_k, bool):
            raise ValueError("top_k must be a valid integer")
        if top_k < 0:
            raise ValueError(f"Invalid top_k: {top_k}. Must be a non-negative integer.")


def query_of(query: object) -> str:
    """A question that is one."""
    if not isinstance(query, str):
        raise ValueError("Invalid query: must be a non-empty string.")
    if not query.strip():
        raise ValueError("Invalid query: cannot be empty or whitespace-only.")
    return query.strip()


def filters_of(filters: Mapping[str, Any] | None) -> dict[str, Any]:
    """Filters with at least one id."""
    wanted = dict(filters or {})
    for name in ENTITIES:
        if name in wanted:
            wanted[name] = entity(wanted[name], name)
    if not any(wanted.get(name) for name in ENTITIES):
        raise ValueError("filters must contain at least one of: user_id, agent_id, run_id. Example: filters={'user_id': 'u1'}")
    return wanted


def matches(item: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a memory has what filters ask for."""
    fields = {**item.get("metadata", {}), **{name: value for name, value in item.items() if name != "metadata"}}
    return _matches(fields, wanted)


def _matches(fields: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    for name, condition in wanted.items():
        if name in ("AND", "OR", "NOT"):
            if not isinstance(condition, list) or (name != "AND" and not condition):
                raise ValueError(f"{name} operator requires a {'' if name == 'AND' else 'non-empty '}list of conditions")
            found = [_matches(fields, part) for part in condition]
            if not (all(found) if name == "AND" else any(found) if name == "OR" else not any(found)):
                return False
        elif not _has(fields.get(name), condition):
            return False
    return True


def _has(value: Any, condition: Any) -> bool:
    if condition == "*":
        return True
    if not isinstance(condition, Mapping):
        return bool(value in condition if isinstance(condition, list) else value == condition)
    return all(_holds(value, operator, operand) for operator, operand in condition.items())


def _holds(value: Any, operator: str, operand: Any) -> bool:
    match operator:
        case "eq":
            return bool(value == operand)
        case "ne":
            return bool(value != operand)
        case "in":
            return value in operand
        case "nin":
            return value not in operand
        case "contains":
            return value is not None and operand in value
        case "icontains":
            return value is not None and str(operand).casefold() in str(value).casefold()
        case "gt" | "gte" | "lt" | "lte":
            if value is None:
                return False
            order = (value > operand) - (value < operand)
            return bool({"gt": order > 0, "gte": order >= 0, "lt": order < 0, "lte": order <= 0}[operator])
    raise ValueError(f"Unsupported metadata filter operator: {operator}")


def history_of(memory_id: str, nodes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The history of a memory, of the versions that it had."""
    rows: list[dict[str, Any]] = []
    before: str | None = None
    for node in nodes:
        own = split(node["metadata"])[1]
        shared = {"memory_id": memory_id, "actor_id": own.get("actor_id"), "role": own.get("role")}
        times = {"created_at": nodes[0]["created_at"], "updated_at": node["created_at"]}
        event = "ADD" if before is None else "UPDATE"
        row = {"id": node["id"], "old_memory": before, "new_memory": node["content"], "event": event, "is_deleted": False}
        rows.append({**row, **shared, **times})
        before = node["content"]
        if node["lifecycle_state"] == "archived":
            gone = {"id": f"{node['id']}:deleted", "old_memory": before, "new_memory": None, "event": "DELETE"}
            rows.append({**gone, "is_deleted": True, **shared, **times, "updated_at": node["updated_at"]})
    return rows
