"""Makes stores of other programs again, with these programs, for ``test/engine/import/real``.

Their sizes (660 and 180 MB) keep them out of the check. From the root of the repository, with a Python that loads extensions of SQLite:

    uv run --python 3.12 --with basic-memory==0.24.1 scripts/real-stores.py basic-memory test/engine/import/real/basic-memory
    uv run --with mcp-memory-service==12.4.0 scripts/real-stores.py mcp-memory-service test/engine/import/real/mcp-memory-service.sql

Ids and times differ from run to run.
"""

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path


def basic_memory(out: Path) -> None:
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "HOME": home, "BASIC_MEMORY_HOME": str(out.resolve())}
        env |= {"BASIC_MEMORY_CONFIG_DIR": home, "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false"}
        program = str(Path(sys.executable).with_name("basic-memory"))

        def tool(*args: str) -> None:
            subprocess.run([program, "tool", *args], env=env, check=True, stdout=subprocess.DEVNULL)

        coffee = (
            "# Coffee\n\nHow Anna makes coffee.\n\n## Observations\n"
            "- [method] Pour over gives more flavour #brewing (every morning)\n"
            "- [fact] Light roasts have more acidity #beans\n\n## Relations\n"
            "- relates_to [[Anna Berger]]\n- pairs_with [[Hazelnut cake]] (on Sundays)\n"
        )
        write = ("write-note", "--title", "Coffee brewing", "--folder", "drinks", "--content", coffee)
        tool(*write, "--tags", "coffee", "--tags", "brewing")
        anna = "# Anna Berger\n\nLives in Porto, see [[Coffee brewing]].\n\n- [allergy] Cannot eat hazelnuts\n- [ ] ask about walnuts\n"
        tool("write-note", "--title", "Anna Berger", "--folder", "people", "--type", "person", "--content", anna)
        job = "\n- [job] Works at the harbour since 2019 #work\n"
        tool("edit-note", "people/anna-berger", "--operation", "append", "--content", job)


async def mcp_memory_service(out: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"MCP_MEMORY_BASE_DIR": folder, "HF_HUB_OFFLINE": "1"}
        from mcp_memory_service.models.memory import Memory
        from mcp_memory_service.storage.graph import GraphStorage
        from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage
        from mcp_memory_service.utils.hashing import generate_content_hash

        path = str(Path(folder) / "store.db")
        storage = SqliteVecMemoryStorage(path)
        await storage.initialize()
        texts = ("Anna prefers window seats", "The wifi password is on the fridge", "Anna lives in Rome", "Anna lives in Porto")
        hashes = [generate_content_hash(text) for text in texts]
        for text, content_hash in zip(texts, hashes):
            memory = Memory(content=text, content_hash=content_hash, tags=["anna", "chat"], memory_type="note", metadata={"by": "a test"})
            stored, told = await storage.store(memory)
            assert stored, told
        seats, wifi, rome, porto = hashes
        await storage.delete(wifi)
        await storage.mark_superseded_batch([(porto, rome)])
        await GraphStorage(path).store_association(seats, porto, 0.4, ["semantic"], {"by": "a test"}, relationship_type="contradicts")
        # Only the tables without the extension for vectors.
        copy = sqlite3.connect(":memory:")
        with sqlite3.connect(path) as database:
            for table in ("memories", "memory_graph"):
                copy.execute(database.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0])
                rows = database.execute(f"SELECT * FROM {table}").fetchall()
                copy.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        copy.commit()
        out.write_text("".join(f"{line}\n" for line in copy.iterdump() if "sqlite_sequence" not in line), "utf-8")


if __name__ == "__main__":
    name, out = sys.argv[1], Path(sys.argv[2])
    if name == "basic-memory":
        basic_memory(out)
    else:
        asyncio.run(mcp_memory_service(out))
