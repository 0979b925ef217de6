"""Says how the generated modules are made where they are missing: in a checkout, which does not keep them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GeneratedModules(BuildHookInterface):  # type: ignore[type-arg]
    """Refuses to build a package that could not be imported."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Runs before each build."""
        package = Path(self.root, "src", "svc_memory")
        if not (package / "models.py").is_file():
            raise SystemExit(
                "svc-memory: the modules that follow from the OpenAPI document are not in version control.\n"
                "Make them first, in the root of the checkout: bun install && CI=true bun scripts/python.ts make"
            )
