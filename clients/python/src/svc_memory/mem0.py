"""For programs that come from mem0: its ``Memory`` and ``AsyncMemory``, kept by svc. docs/mem0.md says what differs."""

from __future__ import annotations

from ._mem0_async import AsyncMemory
from ._mem0_rules import ValidationError
from ._mem0_sync import Memory

__all__ = ["AsyncMemory", "Memory", "ValidationError"]
