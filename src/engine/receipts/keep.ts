import { reasonCode, SvcError } from "../../domain/errors.ts";
import type { Owner } from "../../domain/owner.ts";
import type { AnyReceipt, KeptReceipt } from "../../domain/records/receipt.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type {
  AnswerContext,
  ContextNode,
  ReceiptLog,
  StoredReceipt,
} from "../../ports/store/records.ts";
import type { Owners } from "../../ports/store/store.ts";
import type { Clock } from "../../ports/system.ts";
import type { EngineSettings } from "../settings.ts";
import type { ReceiptMaterial } from "./api.ts";
import {
  type BuiltReceipt,
  buildLean,
  buildReceipt,
  digestLongTexts,
  type ReceiptSurroundings,
} from "./build.ts";
import { decodeReceipt, encodeReceipt, receiptChecksum, receiptText } from "./codec.ts";
import { receiptProblems } from "./validate.ts";

/** Receipts that may wait to be written. */
const QUEUE_SIZE = 256;
const SETTLE_MS = 5000;
const ANSWER_MS = 1000;
/** Milliseconds before shown memories are recorded, and answers after which this happens at once. */
const NOTE_MS = 1000;
const NOTED_AT_ONCE = 64;

export type ReceiptKeeperDeps = {
  readonly store: Pick<ReceiptLog, "saveReceipt" | "receipt" | "noteContexts"> & {
    readonly owners: Pick<Owners, "names">;
  };
  readonly clock: Clock;
  readonly settings: ReceiptSurroundings["settings"] &
    Pick<EngineSettings, "receiptRetentionDays" | "receiptDetail">;
  readonly languageModel?: ReceiptSurroundings["languageModel"];
  readonly features: ReceiptSurroundings["features"];
  /** Never gets memory text. */
  readonly warn: (message: string) => void;
  /** Milliseconds that a reader or the closing engine waits for pending writes. Default: 5 s. */
  readonly settleMs?: number | undefined;
  /** Milliseconds that an answer waits for its receipt. Default: 1 s. */
  readonly answerMs?: number | undefined;
};

/** Writes receipts before their answers are sent, and reads them. */
export type ReceiptKeeper = {
  /**
   * Makes and writes a receipt. Never rejects.
   * @returns whether it is durable. False: retention is 0 days, the owner forgot something meanwhile, too many are waiting (it is dropped),
   * after `close`, the write failed, or it took longer than `answerMs` (it may still be written)
   */
  keep(material: ReceiptMaterial): Promise<boolean>;
  /** Runs a call that keeps a receipt. Receipts of calls that run at the same time are written together. */
  answering<T>(call: () => Promise<T>): Promise<T>;
  /** The receipt as `keep` would write it, checked. @throws SvcError storage_failed for an inconsistent one */
  make(material: ReceiptMaterial): Promise<KeptReceipt>;
  /**
   * A receipt, checked again; waits for receipts that this process is still writing. Undefined for an unknown request, or one of another
   * owner.
   * @throws SvcError storage_failed naming the retrieval if the stored receipt was damaged
   */
  read(requestId: Uuid, owner: Owner): Promise<KeptReceipt | undefined>;
  /** Resolves when all pending receipts are written, or on timeout. */
  settle(): Promise<void>;
  /** Like `settle`; later receipts are not kept. Idempotent. */
  close(): Promise<void>;
};

export function createReceiptKeeper(deps: ReceiptKeeperDeps): ReceiptKeeper {
  const { store, clock, settings, features, warn } = deps;
  const { settleMs = SETTLE_MS, answerMs = ANSWER_MS } = deps;
  const surroundings = { settings, features, languageModel: deps.languageModel };
  const waiting = new Map<Uuid, Promise<boolean>>();
  let isClosed = false;
  let running = 0;
  /** Receipts whose answers no longer wait for them. */
  let late = 0;

  const { note, showed } = notesOf(deps);
  const full = async (material: ReceiptMaterial) => {
    await digestLongTexts(material.results);
    return buildReceipt(material, surroundings);
  };
  const write = async (material: ReceiptMaterial, createdAt: Instant): Promise<boolean> => {
    const { requestId } = material.metadata;
    try {
      const built = await (settings.receiptDetail === "full" || material.explain
        ? full(material)
        : buildLean(material));
      const stored = toStored(built, createdAt);
      if (await store.saveReceipt(stored, material.forgettings, running === 1)) {
        showed({ ...built.receipt, context: contextOf(built.receipt) });
        return true;
      }
      warn(
        `the receipt of retrieval ${requestId} was not written (something was forgotten meanwhile)`,
      );
      return false;
    } catch (error) {
      warn(`the receipt of retrieval ${requestId} was not written (${reasonCode(error)})`);
      return false;
    } finally {
      waiting.delete(requestId);
    }
  };
  const settle = async (): Promise<void> => {
    await within(settleMs, Promise.all(waiting.values()).then(note));
  };
  const isRoom = (requestId: Uuid): boolean => {
    if (waiting.size < QUEUE_SIZE) return true;
    warn(`the receipt of retrieval ${requestId} was dropped: ${QUEUE_SIZE} others are waiting`);
    return false;
  };

  return {
    keep: async (material) => {
      if (isClosed) return false;
      const { requestId } = material.metadata;
      const now = clock.now();
      if (settings.receiptRetentionDays === 0 || !isRoom(requestId)) return false;
      // One turn later: receipts of answers that end together share a transaction.
      const end = Promise.resolve().then(() => write(material, now));
      waiting.set(requestId, end);
      // A hanging store delays one answer, not all.
      const isDurable = late > 0 ? undefined : await within(answerMs, end);
      if (isDurable !== undefined) return isDurable;
      late += 1;
      void end.then(() => {
        late -= 1;
      });
      return false;
    },
    answering: async (call) => {
      running += 1;
      try {
        return await call();
      } finally {
        running -= 1;
      }
    },
    make: async (material) => fromStored(toStored(await full(material), clock.now())),
    read: async (requestId, owner) => {
      await within(settleMs, waiting.get(requestId) ?? Promise.resolve(false));
      const stored = await store.receipt(requestId, owner);
      if (stored === undefined) return undefined;
      const kept = fromStored(stored);
      // A receipt keeps the owner's name at the time of the request.
      const names = await store.owners.names(stored.userId);
      if (names.some((name) => name.userId === kept.receipt.userId)) return kept;
      throw damagedReceipt(requestId, "it is of another owner");
    },
    settle,
    close: async () => {
      isClosed = true;
      await settle();
      if (waiting.size > 0) warn(`${waiting.size} receipts were not written before the end`);
      waiting.clear();
    },
  };
}

/** Memories shown in answers, recorded in batches, because their rows are far apart. */
function notesOf({ store, warn }: Pick<ReceiptKeeperDeps, "store" | "warn">) {
  const shown: AnswerContext[] = [];
  let noted = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const note = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const contexts = shown.splice(0);
    if (contexts.length > 0) {
      noted = noted
        .then(() => store.noteContexts(contexts))
        .catch((error) =>
          warn(`what ${contexts.length} answers showed was not noted (${reasonCode(error)})`),
        );
    }
    return noted;
  };
  const showed = (context: AnswerContext): void => {
    shown.push(context);
    timer ??= setTimeout(note, NOTE_MS);
    timer.unref();
    if (shown.length >= NOTED_AT_ONCE) void note();
  };
  return { note, showed };
}

/** The result of the work; undefined if it takes longer. */
async function within<T>(limitMs: number, work: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs);
  });
  const result = await Promise.race([work, late]);
  clearTimeout(timer);
  return result;
}

function toStored(built: BuiltReceipt<AnyReceipt>, createdAt: Instant): StoredReceipt {
  const text = receiptText(built.receipt);
  const checksum = receiptChecksum(text);
  const { requestId, userId } = built.receipt;
  return {
    requestId,
    userId,
    createdAt,
    body: encodeReceipt({ text, checksum, record: built.record }),
  };
}

function damagedReceipt(requestId: Uuid, why: string, cause?: unknown): SvcError {
  return new SvcError(
    "storage_failed",
    `the receipt of retrieval ${requestId} is damaged: ${why}`,
    { request_id: requestId },
    { cause },
  );
}

function fromStored({ requestId, createdAt, body }: StoredReceipt): KeptReceipt {
  const damaged = (why: string, cause?: unknown): SvcError => damagedReceipt(requestId, why, cause);
  const { receipt, record, checksum, text } = opened(body, damaged);
  if (receiptChecksum(text) !== checksum) throw damaged("it does not match its checksum");
  if (receipt.requestId !== requestId) throw damaged("it is of another retrieval");
  const [problem] = receiptProblems({ receipt, record });
  if (problem !== undefined) throw damaged(problem);
  return { receipt, record, text, checksum, createdAt };
}

function opened(body: Uint8Array, damaged: (why: string, cause: unknown) => SvcError) {
  try {
    return decodeReceipt(body);
  } catch (error) {
    throw damaged("it cannot be read", error);
  }
}

/** The memories in the context of an answer. */
function contextOf({ candidates }: AnyReceipt): ContextNode[] {
  return candidates.flatMap((candidate, index) => {
    const { nodeId, representation } = candidate;
    const rank = "rank" in candidate ? candidate.rank : index + 1;
    return representation === undefined ? [] : [{ nodeId, rank, representation }];
  });
}
