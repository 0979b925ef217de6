"""A plugin of pytest that puts svc in the place of LangGraph's store in memory: ``-p svc_in_place``."""

from __future__ import annotations

import itertools
import os
import tempfile
from pathlib import Path
from typing import Any

import langgraph.store.memory as replaced

from svc_memory import Memory
from svc_memory.langgraph import SvcStore

_PACK = Path(tempfile.mkdtemp(prefix="svc-in-place-"), "memory.pack")
_OWNERS = itertools.count()


class InMemoryStore(SvcStore):
    """Each one is of an owner of its own."""

    def __init__(self, *, index: dict[str, Any] | None = None) -> None:
        memory = Memory(_PACK, user_id=f"owner-{next(_OWNERS)}", program=os.environ.get("TEST_PROGRAM"))
        self.index_config = index
        super().__init__(memory, fields=(index or {}).get("fields") or ("$",))


replaced.InMemoryStore = InMemoryStore  # type: ignore[misc,assignment]
