from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from svc_memory import Memory

#: The built program.
PROGRAM = os.environ.get("TEST_PROGRAM", str(Path(__file__).parents[3] / "dist" / "svc"))


@pytest.fixture(scope="session", autouse=True)
def _private_places(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keys and sockets of the tests are not those of the user."""
    for name in [name for name in os.environ if name.startswith("SVC_")]:
        del os.environ[name]
    for name in ("XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"):
        folder = tmp_path_factory.mktemp("x")
        folder.chmod(0o700)
        os.environ[name] = str(folder)
    os.environ["SVC_PROGRAM"] = PROGRAM
    # Loopback is reached past every proxy.
    os.environ["HTTP_PROXY"] = os.environ["http_proxy"] = "http://127.0.0.1:9"


@pytest.fixture(scope="session")
def pack(tmp_path_factory: pytest.TempPathFactory, _private_places: None) -> Iterator[Path]:
    """A pack whose server runs as long as the tests."""
    path = tmp_path_factory.mktemp("pack") / "memory.pack"
    with Memory(path) as memory:
        memory.ready()
        yield path


@pytest.fixture
def memory_of(pack: Path) -> Iterator[Callable[[str], Memory]]:
    """The memory of an owner."""
    made: list[Memory] = []

    def of(user_id: str) -> Memory:
        made.append(Memory(pack, user_id=user_id))
        return made[-1]

    yield of
    for memory in made:
        memory.close()
