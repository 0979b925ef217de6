import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import {
  createKeyStore,
  openSecretStore,
  type SecretStore,
} from "../../../src/adapters/keystore/key-store.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { useFolders } from "../crypt/packs.ts";

const SALT = Buffer.alloc(16, 0xab);
const NAME = "ab".repeat(16);
const MASTER = Buffer.alloc(32, 7);
const KEY = `raw_key:${MASTER.toString("base64url")}`;

const folder = useFolders();

/** A secret store in memory. */
function memorySecrets(): SecretStore & { readonly values: Map<string, string> } {
  const values = new Map<string, string>();
  return {
    values,
    get: async (name) => ({ kind: "done", value: values.get(name) }),
    set: async (name, value) => {
      values.set(name, value);
      return { kind: "done", value: undefined };
    },
    delete: async (name) => {
      values.delete(name);
      return { kind: "done", value: undefined };
    },
  };
}

function deadSecrets(kind: "absent" | "silent"): SecretStore {
  const answer = async () => ({ kind }) as const;
  return { get: answer, set: answer, delete: answer };
}

describe("a key store", () => {
  test("keeps keys in the secret store and makes no file", async () => {
    const secrets = memorySecrets();
    const keys = folder();
    const store = createKeyStore(() => keys, secrets);
    expect(await store.save(SALT, MASTER)).toEqual({ kind: "secret-store" });
    expect([...secrets.values]).toEqual([[NAME, KEY]]);
    expect(readdirSync(keys)).toEqual([]);
    expect(await store.find(SALT)).toEqual({
      kind: "found",
      key: KEY,
      place: { kind: "secret-store" },
    });
    expect(await store.forget(SALT)).toEqual([{ kind: "secret-store" }]);
    expect(await store.find(SALT)).toEqual({ kind: "none" });
  });

  test.each([
    { name: "there is no secret store", secrets: deadSecrets("absent") },
    { name: "the secret store is silent", secrets: deadSecrets("silent") },
    { name: "only files are wanted", secrets: undefined },
    {
      name: "the secret store forgets what it accepts",
      secrets: {
        ...memorySecrets(),
        set: async () => ({ kind: "done", value: undefined }) as const,
      },
    },
  ])("keeps keys in files when $name", async ({ secrets }) => {
    const keys = join(folder(), "keys");
    const store = createKeyStore(() => keys, secrets);
    const place = { kind: "file", path: join(keys, `${NAME}.key`) } as const;
    expect(await store.save(SALT, MASTER)).toEqual(place);
    expect(await store.find(SALT)).toEqual({ kind: "found", key: KEY, place });
    expect(await store.places(SALT)).toEqual([{ place, problem: undefined }]);
    expect(await store.find(Buffer.alloc(16, 1))).not.toHaveProperty("key");
    expect(await store.forget(SALT)).toEqual([place]);
    expect(await store.forget(SALT)).toEqual([]);
    expect(existsSync(place.path)).toBeFalse();
  });

  test("names every place of a key, and what is wrong with one", async () => {
    const keys = join(folder(), "keys");
    const secrets = memorySecrets();
    await createKeyStore(() => keys, undefined).save(SALT, MASTER);
    const store = createKeyStore(() => keys, secrets);
    await store.save(SALT, MASTER);
    expect((await store.places(SALT)).map(({ place }) => place.kind)).toEqual([
      "secret-store",
      "file",
    ]);
    chmodSync(join(keys, `${NAME}.key`), 0o644);
    expect((await store.places(SALT))[1]?.problem).toContain("chmod 600");
    expect(await store.forget(SALT)).toHaveLength(2);
  });

  test("without a home looks in the secret store alone, and says so when it has to make a file", async () => {
    const homeless = (): string => {
      throw new SvcError("encryption_failed", "set HOME");
    };
    const secrets = memorySecrets();
    secrets.values.set(NAME, KEY);
    expect(await createKeyStore(homeless, secrets).find(SALT)).toMatchObject({ key: KEY });
    const saving = createKeyStore(homeless, deadSecrets("silent")).save(SALT, MASTER);
    expect(saving).rejects.toThrow("set HOME");
  });
});

describe("the secret store of the system", () => {
  test("is absent where there is no message bus", async () => {
    if (process.platform !== "linux") return;
    const environment = { XDG_RUNTIME_DIR: folder() };
    const store = openSecretStore({ timeoutMs: 5000, environment });
    expect(await store.get(NAME)).toEqual({ kind: "absent" });
  });

  test("that never answers is given up in time, and not asked again", async () => {
    const path = join(folder(), "bus");
    const silent = createServer(() => {}).listen(path);
    const timeoutMs = 2000;
    try {
      const environment = { ...process.env, DBUS_SESSION_BUS_ADDRESS: `unix:path=${path}` };
      const store = openSecretStore({ timeoutMs, environment });
      const started = performance.now();
      expect(await store.get(NAME)).toEqual({ kind: "silent" });
      expect(performance.now() - started).toBeLessThan(30_000);
      const again = performance.now();
      expect(await store.set(NAME, KEY)).toEqual({ kind: "silent" });
      expect(performance.now() - again).toBeLessThan(timeoutMs);
    } finally {
      silent.close();
    }
  });
});
