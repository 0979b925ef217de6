/** Recall for a prompt that no process answers: the pack is read here, without a model, and nothing is written. */
import { basename, dirname } from "node:path";
import { readPackHeader, saltAt } from "../adapters/crypt/cipher.ts";
import { isEncryptedHeader } from "../adapters/crypt/keys.ts";
import { openKeyStore } from "../adapters/keystore/key-store.ts";
import { openReadOnlyStore } from "../adapters/sqlite/open-read-only.ts";
import { createSystemClock } from "../adapters/system/system.ts";
import { directoryLayout } from "../app/pack-path.ts";
import { VERSION } from "../app/version.ts";
import { type Recalled, type RecallRequest, recallByWords } from "../capture/recall.ts";
import { environment } from "../capture/state.ts";
import { SvcError } from "../domain/errors.ts";

/** Milliseconds to wait for a process that changes the pack as a whole. */
const BUSY_MS = 20;

/** @throws SvcError as `openReadOnlyStore`; encryption_failed also if this machine keeps no key of the pack */
export async function recallFrom(mainFile: string, request: RecallRequest): Promise<Recalled> {
  const store = await openReadOnlyStore({
    layout:
      basename(mainFile) === "memory.db"
        ? directoryLayout(dirname(mainFile))
        : { kind: "file", path: mainFile },
    createIfMissing: false,
    // That of the pack: nothing is embedded.
    embedding: { model: "", version: "", dimension: 0 },
    modelFor: (stored) => stored,
    softwareVersion: VERSION,
    scoringVersion: "",
    clock: createSystemClock(),
    synchronous: "normal",
    writeQueueSize: 1,
    busyTimeoutMs: BUSY_MS,
    encryptionKey: await keyOf(mainFile),
  });
  try {
    return await recallByWords(store, request);
  } finally {
    await store.close();
  }
}

/** The key that this machine keeps for a pack; undefined for an unencrypted one. */
async function keyOf(mainFile: string): Promise<string | undefined> {
  const [header, salt] = [readPackHeader(mainFile), saltAt(mainFile)];
  if (header === undefined || salt === undefined || !isEncryptedHeader(header)) return undefined;
  const kind = environment["SVC_KEY_STORE"] === "file" ? "file" : "auto";
  const found = await openKeyStore({ kind, environment }).find(salt);
  if (found.kind === "found") return found.key;
  throw new SvcError("encryption_failed", `${mainFile}: this machine keeps no key for it`);
}
