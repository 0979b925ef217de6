import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { isReceiptWhole } from "../../../src/engine/receipt-check.ts";
import type { ReceiptMaterial } from "../../../src/engine/receipts/api.ts";
import {
  decodeReceipt,
  encodeReceipt,
  receiptChecksum,
  receiptText,
} from "../../../src/engine/receipts/codec.ts";
import { createReceiptKeeper, type ReceiptKeeper } from "../../../src/engine/receipts/keep.ts";
import { asUuid, type Uuid } from "../../../src/lib/uuid.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { altered, testClock, useEngines } from "../engines.ts";
import { aRetrieval, SURROUNDINGS } from "./retrievals.ts";

const engines = useEngines();

type Options = {
  readonly alter?: (store: Store) => Partial<Store>;
  readonly days?: number;
  readonly settleMs?: number;
  readonly answerMs?: number;
};

type Opened = {
  readonly keeper: ReceiptKeeper;
  readonly store: Store;
  readonly warnings: readonly string[];
  readonly clock: ReturnType<typeof testClock>;
};

/** A keeper on a real pack. */
async function open({ alter, days, settleMs, answerMs = 30_000 }: Options = {}): Promise<Opened> {
  const { store } = await engines.open();
  const warnings: string[] = [];
  const clock = testClock();
  const keeper = createReceiptKeeper({
    ...SURROUNDINGS,
    store: alter === undefined ? store : altered(store, alter(store)),
    clock,
    settings: { ...SURROUNDINGS.settings, receiptRetentionDays: days, receiptDetail: "full" },
    warn: (message) => warnings.push(message),
    settleMs,
    answerMs,
  });
  return { keeper, store, warnings, clock };
}

let serial = 0;

function aMaterial(more: Partial<ReceiptMaterial> = {}): ReceiptMaterial {
  serial += 1;
  return { ...aRetrieval({ seed: serial, found: 3, neighbours: 1, packed: 2 }), ...more };
}

const idOf = ({ metadata }: ReceiptMaterial): Uuid => metadata.requestId;
const OWNER = "conv-26";

describe("keep", () => {
  test("notes what answers showed once each, before anybody who waits for the keeper reads", async () => {
    const noted: Uuid[] = [];
    const { keeper, store } = await open({
      alter: (real) => ({
        noteContexts: async (contexts) => {
          noted.push(...contexts.map(({ requestId }) => requestId));
          await real.noteContexts(contexts);
        },
      }),
    });
    const materials = Array.from({ length: 20 }, () => aMaterial());
    for (const material of materials) await keeper.keep(material);
    await keeper.settle();
    await keeper.close();
    expect(noted).toEqual(materials.map(idOf));
    const [first] = materials;
    const { node } = first!.results[0]!;
    // The memories of these answers are in no store: such ones are left out.
    expect((await store.usesOf({ userId: OWNER, nodeId: node.id, limit: 9 })).items).toEqual([]);
  });

  test("drops what comes while too many wait for a store that hangs", async () => {
    const { keeper, warnings } = await open({
      answerMs: 500,
      alter: () => ({ saveReceipt: () => new Promise(() => {}) }),
    });
    const material = aMaterial();
    const withId = (index: number): ReceiptMaterial => ({
      ...material,
      metadata: {
        ...material.metadata,
        requestId: asUuid(`01900000-0000-7000-8000-${String(index).padStart(12, "0")}`),
      },
    });
    const kept = await Promise.all(
      Array.from({ length: 258 }, (_, index) => keeper.keep(withId(index))),
    );
    expect(kept).toEqual(Array(258).fill(false));
    expect(warnings).toEqual([
      expect.stringContaining(`${idOf(withId(256))} was dropped: 256 others are waiting`),
      expect.stringContaining(`${idOf(withId(257))} was dropped`),
    ]);
  });

  test("writes a receipt that does not replay, which no one is given", async () => {
    const { keeper, store, warnings } = await open();
    const usual = aMaterial();
    const results = usual.results.map((result, index) =>
      index === 0 ? { ...result, compositeScore: result.compositeScore + 0.5 } : result,
    );
    expect(await keeper.keep({ ...usual, results })).toBeTrue();
    const { body } = (await store.receipt(idOf(usual), OWNER))!;
    expect(isReceiptWhole(body)).toBeFalse();
    await expect(keeper.read(idOf(usual), OWNER)).rejects.toMatchObject({ code: "storage_failed" });
    expect(warnings).toEqual([]);
  });

  test("writes in the order of the answers, and does not wait for one to begin the next", async () => {
    const order: Uuid[] = [];
    const gate = Promise.withResolvers<void>();
    const { keeper } = await open({
      alter: (store) => ({
        saveReceipt: async (receipt) => {
          order.push(receipt.requestId);
          if (order.length === 5) gate.resolve();
          await gate.promise;
          return await store.saveReceipt(receipt);
        },
      }),
    });
    const materials = Array.from({ length: 5 }, () => aMaterial());
    const kept = await Promise.all(materials.map((material) => keeper.keep(material)));
    expect(kept).toEqual(Array(5).fill(true));
    expect(order).toEqual(materials.map(idOf));
  });

  test("writes what is waiting, and takes nothing more", async () => {
    const { keeper, store, warnings } = await open();
    const materials = Array.from({ length: 20 }, () => aMaterial());
    for (const material of materials) void keeper.keep(material);
    await keeper.close();
    for (const material of materials) {
      expect(await store.receipt(idOf(material), OWNER)).toBeDefined();
    }
    expect(await keeper.keep(aMaterial())).toBeFalse();
    await keeper.close();
    expect(warnings).toEqual([]);
  });

  test("gives up on a store that hangs, and says how many receipts are lost", async () => {
    const { keeper, warnings } = await open({
      settleMs: 50,
      alter: () => ({ saveReceipt: () => new Promise(() => {}) }),
    });
    void keeper.keep(aMaterial());
    void keeper.keep(aMaterial());
    await keeper.close();
    expect(warnings).toEqual(["2 receipts were not written before the end"]);
  }, 120_000);
});

describe("read", () => {
  const damages: readonly {
    readonly name: string;
    readonly says: string;
    readonly damage: (body: Uint8Array) => Uint8Array;
  }[] = [
    {
      name: "of which a byte was changed",
      says: "it cannot be read",
      damage: (body) => body.with(100, body[100]! ^ 1),
    },
    { name: "that was cut", says: "it cannot be read", damage: (body) => body.slice(0, 60) },
    {
      name: "that vouches for another text",
      says: "it does not match its checksum",
      damage: (body) => encodeReceipt({ ...decodeReceipt(body), checksum: "0".repeat(64) }),
    },
    {
      name: "of another owner",
      says: "it is of another owner",
      damage: (body) => rewritten(body, (receipt) => ({ ...receipt, userId: "eve" })),
    },
    {
      name: "of another retrieval",
      says: "it is of another retrieval",
      damage: (body) =>
        rewritten(body, (receipt) => ({
          ...receipt,
          requestId: asUuid("01900000-0000-7000-8000-0000000000ff"),
        })),
    },
    {
      name: "with a candidate twice",
      says: "a candidate stands twice",
      damage: (body) =>
        rewritten(body, (receipt) => ({
          ...receipt,
          candidates: receipt.candidates.flatMap((one) => [one, one]) as never,
        })),
    },
  ];

  test.each([...damages])(
    "refuses a receipt $name, and names the retrieval",
    async ({ says, damage }) => {
      const { keeper } = await open({
        alter: (store) => ({
          receipt: async (requestId, userId) => {
            const stored = await store.receipt(requestId, userId);
            return stored && { ...stored, body: damage(stored.body) };
          },
        }),
      });
      const material = aMaterial();
      void keeper.keep(material);
      const error = await keeper.read(idOf(material), OWNER).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(SvcError);
      expect(error).toMatchObject({
        code: "storage_failed",
        message: `the receipt of retrieval ${idOf(material)} is damaged: ${says}`,
        data: { request_id: idOf(material) },
      });
    },
  );
});

/** The body of another receipt that vouches for itself. */
function rewritten(
  body: Uint8Array,
  change: (
    receipt: ReturnType<typeof decodeReceipt>["receipt"],
  ) => ReturnType<typeof decodeReceipt>["receipt"],
): Uint8Array {
  const stored = decodeReceipt(body);
  const receipt = change(stored.receipt);
  const text = receiptText(receipt);
  return encodeReceipt({ ...stored, text, checksum: receiptChecksum(text) });
}
