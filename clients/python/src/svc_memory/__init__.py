"""A long-term memory for AI assistants that its user owns."""

from __future__ import annotations

from ._async import AsyncMemory
from ._sync import Memory
from .errors import (
    Conflict,
    Forbidden,
    InvalidArgument,
    NoProgram,
    NotFound,
    SvcError,
    TooLarge,
    Unauthenticated,
    Unavailable,
)

__version__ = "0.1.0"

__all__ = [
    "AsyncMemory",
    "Conflict",
    "Forbidden",
    "InvalidArgument",
    "Memory",
    "NoProgram",
    "NotFound",
    "SvcError",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
]
