"""What the pages show is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / name for name in ("README.md", "docs/python.md", "docs/mem0.md", "clients/python/README.md")]


def examples() -> list[tuple[str, str]]:
    """Each example that begins with an import, with its page."""
    found = []
    for page in PAGES:
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
        found += [(page.name, block) for block in blocks if block.startswith(("import ", "from "))]
    return found


@pytest.mark.parametrize(("page", "code"), examples())
def test_an_example_prints_what_its_comments_say(page: str, code: str, tmp_path: Path) -> None:
    del page
    said = re.findall(r"^ *print\(.*\)  # (.*)$", code, re.MULTILINE)
    assert said
    env = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python/src")}
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines() == said
