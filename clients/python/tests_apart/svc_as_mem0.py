"""A plugin of pytest that puts ``svc_memory.mem0`` in the place of mem0's own classes: ``-p svc_as_mem0``."""

from __future__ import annotations

import os

import mem0
import mem0.memory.main

import svc_memory.mem0

os.environ.setdefault("SVC_PROGRAM", os.environ.get("TEST_PROGRAM", "svc"))

for name in ("Memory", "AsyncMemory"):
    for module in (mem0, mem0.memory.main):
        setattr(module, name, getattr(svc_memory.mem0, name))
