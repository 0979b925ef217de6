import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import { put } from "../../contract/samples.ts";
import { directoryPack, encrypted, filePack, RAW_KEY } from "../../contract/sqlite-pack.ts";
import { failure, useFolders } from "./folder.ts";

const { folder, open } = useFolders();

describe("an encrypted directory pack", () => {
  test("answers nothing while it is locked, and everything afterwards", async () => {
    const place = folder();
    const store = await open(encrypted(directoryPack(place)));
    await put(store, { content: "before" });
    await store.lock();
    await store.lock();
    const call = async () => store.countNodes("ada");
    expect(await failure(call())).toMatchObject({ code: "pack_locked" });
    expect(readdirSync(place).filter((name) => /-(wal|shm)$/.test(name))).toEqual([]);
    const wrong = `raw_key:${Buffer.alloc(32).toString("base64url")}`;
    expect(await failure(store.unlock(wrong))).toMatchObject({ code: "encryption_failed" });
    expect(await failure(call())).toMatchObject({ code: "pack_locked" });
    await Promise.all([store.unlock(RAW_KEY), store.unlock(RAW_KEY)]);
    await put(store, { content: "after" });
    expect(await store.countNodes("ada")).toBe(2);
  });

  test("can be closed while it is locked", async () => {
    const store = await open(encrypted(directoryPack(folder())));
    await store.lock();
    await store.close();
    expect(await failure(store.unlock(RAW_KEY))).toMatchObject({ code: "engine_closed" });
  });

  test("says in manifest.json how it is encrypted, without a secret", async () => {
    const place = folder();
    const pack = encrypted(directoryPack(place));
    await (await open(pack)).close();
    const text = readFileSync(join(place, "manifest.json"), "utf8");
    expect(JSON.parse(text)).toEqual({
      encryption: {
        enabled: true,
        algorithm: "AES-256-GCM",
        format_version: 1,
        kdf: "PBKDF2-HMAC-SHA256",
        kdf_iterations: 600_000,
        encrypted_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        files: ["lexical_index/lexical.db", "memory.db", "vectors.index"],
      },
    });
    await (await open(pack)).close();
    expect(readFileSync(join(place, "manifest.json"), "utf8")).toBe(text);
  });

  test("leaves the manifest of another program alone", async () => {
    const place = folder();
    writeFileSync(join(place, "manifest.json"), '{"name":"a web page"}');
    await (await open(encrypted(directoryPack(place)))).close();
    expect(readFileSync(join(place, "manifest.json"), "utf8")).toBe('{"name":"a web page"}');
  });
});

test.each([
  { name: "a file", at: filePack },
  { name: "an encrypted file", at: (place: string) => encrypted(filePack(place)) },
  { name: "an unencrypted directory", at: directoryPack },
])("$name is neither locked nor unlocked", async ({ at }) => {
  const store = await open(at(folder()));
  expect(await failure(store.lock())).toMatchObject({ code: "unsupported" });
  expect(await failure(store.unlock("key"))).toMatchObject({ code: "unsupported" });
  expect(await store.countNodes(ALL_OWNERS)).toBe(0);
});
