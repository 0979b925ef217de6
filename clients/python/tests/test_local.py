"""The server of a pack on this machine: started, shared, ended."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from svc_memory import AsyncMemory, InvalidArgument, Memory, NoProgram, NotFound, SvcError
from svc_memory._line import _Socket
from svc_memory._local import LocalServer

STORES = """
import sys
from svc_memory import Memory
memory = Memory(sys.argv[1], user_id="anna")
for number in range(1000):
    print(memory.store(f"text {number}")["node_id"], memory.api._address().url, flush=True)
"""


def server_of(memory: Memory | AsyncMemory) -> int:
    """The number of the process that serves."""
    source = memory.api._source
    assert isinstance(source, LocalServer)
    source.address()
    assert isinstance(source._line, _Socket)
    told = source._line._line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", told)[0])


def test_the_server_ends_with_its_last_user(tmp_path: Path) -> None:
    path = tmp_path / "memory.pack"
    first, second = Memory(path, user_id="anna"), Memory(path, user_id="anna")
    stored = first.store("a text")["node_id"]
    server = server_of(first)
    assert server_of(second) == server
    first.close()
    assert second.get(stored) is not None
    second.close()
    with Memory(path, user_id="anna") as third:
        assert server_of(third) != server
        assert third.get(stored) is not None


def test_a_killed_user_loses_nothing_acknowledged_and_disturbs_nobody(tmp_path: Path) -> None:
    path = tmp_path / "memory.pack"
    with Memory(path, user_id="anna") as memory:
        memory.store("mine")
        command = [sys.executable, "-c", STORES, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            said = [other.stdout.readline().split() for _ in range(5)]
            other.kill()
        assert {url for _, url in said} == {memory.api._address().url}
        assert all(memory.get(node_id) is not None for node_id, _ in said)
        memory.store("mine, too")


def test_a_killed_server_is_followed_by_another(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.pack", user_id="anna") as memory:
        stored = memory.store("a text")["node_id"]
        os.kill(server_of(memory), signal.SIGKILL)
        again = memory.store("another text")["node_id"]
        assert {node["id"] for node in memory.all()} == {stored, again}


async def test_a_task_follows_changes_over_a_server_that_dies(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path / "memory.pack", user_id="anna") as memory:
        await memory.store("one")
        seen = []
        async for change in memory.changes(follow=True):
            seen.append(change["node"] and change["node"]["content"])
            if len(seen) == 3:
                break
            os.kill(server_of(memory), signal.SIGKILL)
            await memory.store(("two", "three")[len(seen) - 1])
        assert seen == ["one", "two", "three"]


# Newer versions of Python warn of a fork beside threads, which is what is tried.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_has_its_own_share(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.pack", user_id="anna") as memory:
        memory.store("the parent's")
        server = server_of(memory)
        child = os.fork()
        if child == 0:
            try:
                memory.store("the child's")
                os._exit(0 if server_of(memory) == server else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert len(list(memory.all())) == 2


def test_an_encrypted_pack_needs_its_key(tmp_path: Path) -> None:
    path = tmp_path / "memory.pack"
    key, other = "5a" * 32, "c3" * 32
    with Memory(path, user_id="anna", encryption_key=key) as memory:
        memory.store("a text")
    with Memory(path, encryption_key=other) as stranger, pytest.raises(SvcError) as wrong:
        stranger.search("a text")
    assert wrong.value.code == "encryption_failed"
    with Memory(path, user_id="anna", encryption_key=key) as memory:
        assert len(memory.search("a text")) == 1


def test_what_cannot_be_served_says_why(tmp_path: Path) -> None:
    with Memory(tmp_path / "none" / "memory.pack") as memory, pytest.raises(NotFound):
        memory.search("anything")
    no_pack = tmp_path / "text.pack"
    no_pack.write_text("no pack")
    with Memory(no_pack) as memory, pytest.raises(SvcError) as error:
        memory.search("anything")
    assert error.value.code == "not_a_pack"
    with pytest.raises(InvalidArgument):
        Memory()
    with pytest.raises(InvalidArgument):
        Memory(no_pack, url="http://127.0.0.1:1")


def test_a_missing_or_foreign_program_is_named_with_what_works(tmp_path: Path) -> None:
    with (
        Memory(tmp_path / "memory.pack", program=tmp_path / "svc") as memory,
        pytest.raises(NoProgram, match=r"no program that can be started.*0\.1\.0 or newer"),
    ):
        memory.search("anything")
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho 7.3.0\n[ $1 = --version ]\n")
    other.chmod(0o755)
    with (
        Memory(tmp_path / "memory.pack", program=other) as memory,
        pytest.raises(NoProgram, match=r"is svc 7\.3\.0.*0\.1\.0 or newer"),
    ):
        memory.search("anything")
