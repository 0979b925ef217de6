import { SvcError } from "../domain/errors.ts";
import {
  type Cell,
  RECORD_KINDS,
  RECORDS,
  type RecordKind,
  type TransferRecord,
} from "../domain/records/rows.ts";
import type { TransferSource, TransferTarget } from "../ports/store/store.ts";

export type TransferRun = {
  readonly signal: AbortSignal;
  /** Called now and then. @param stage what is being done */
  readonly onProgress: (stage: string, done: number, total: number) => void;
};

/** How many records there are of each kind. */
export type TransferCounts = Readonly<Record<RecordKind, number>>;

/** Copies all records that the target does not have yet, a page at a time, and lets it index them. */
export async function copyRecords(
  source: TransferSource,
  target: TransferTarget,
  { signal, onProgress }: TransferRun,
): Promise<void> {
  const counts = await countsOf(source);
  const total = sum(counts);
  let done = 0;
  for (const kind of RECORD_KINDS) {
    const taken = target.taken(kind);
    if (taken < counts[kind]) {
      let copied = taken;
      for await (const page of source.read(kind, taken)) {
        await target.take(kind, page);
        copied += page.length;
        onProgress("copying", done + copied, total);
        signal.throwIfAborted();
      }
    }
    done += counts[kind];
  }
  await target.index((indexed) => onProgress("indexing", indexed, counts.node), signal);
}

/**
 * Compares everything that two stores hold: of each kind, and of each owner, how many records there are and a checksum of them.
 * @param place names the copy in errors
 * @returns how many records both have
 * @throws SvcError storage_failed naming the first difference
 */
export async function requireSameRecords(
  original: TransferSource,
  copy: TransferSource,
  place: string,
  { signal, onProgress }: TransferRun,
): Promise<TransferCounts> {
  const total = 2 * sum(await countsOf(original));
  let done = 0;
  const onRead = (records: number): void => {
    done += records;
    onProgress("comparing", done, total);
    signal.throwIfAborted();
  };
  const counts: [RecordKind, number][] = [];
  for (const kind of RECORD_KINDS) {
    const wanted = await checksumsOf(original, kind, onRead);
    const found = await checksumsOf(copy, kind, onRead);
    for (const owner of new Set([...wanted.keys(), ...found.keys()])) {
      requireSame(wanted.get(owner) ?? NOTHING, found.get(owner) ?? NOTHING, {
        kind,
        owner,
        place,
      });
    }
    counts.push([kind, wanted.values().reduce((all, { count }) => all + count, 0)]);
  }
  // SAFETY: every kind was counted.
  return Object.fromEntries(counts) as TransferCounts;
}

async function countsOf(source: TransferSource): Promise<TransferCounts> {
  const counts: [RecordKind, number][] = [];
  for (const kind of RECORD_KINDS) counts.push([kind, await source.count(kind)]);
  // SAFETY: every kind was counted.
  return Object.fromEntries(counts) as TransferCounts;
}

function sum(counts: TransferCounts): number {
  return Object.values(counts).reduce((all, count) => all + count, 0);
}

/** The records of an owner: how many, and the exclusive or of their SHA-256, which does not depend on their order. */
type Checksum = { readonly count: number; readonly sha256: Uint8Array };

const SHA256_BYTES = 32;
const NOTHING: Checksum = { count: 0, sha256: new Uint8Array(SHA256_BYTES) };

async function checksumsOf(
  source: TransferSource,
  kind: RecordKind,
  onRead: (records: number) => void,
): Promise<ReadonlyMap<string, Checksum>> {
  const byOwner = new Map<string, Checksum>();
  for await (const page of source.read(kind, 0)) {
    for (const record of page) {
      const owner = String(record["user_id"] ?? "");
      const { count, sha256 } = byOwner.get(owner) ?? {
        ...NOTHING,
        sha256: new Uint8Array(SHA256_BYTES),
      };
      const hash = new Bun.CryptoHasher("sha256").update(textOf(kind, record)).digest();
      hash.forEach((byte, place) => {
        sha256[place] = (sha256[place] ?? 0) ^ byte;
      });
      byOwner.set(owner, { count: count + 1, sha256 });
    }
    onRead(page.length);
  }
  return byOwner;
}

function textOf(kind: RecordKind, record: TransferRecord): string {
  return JSON.stringify(RECORDS[kind].map((name) => shown(record[name] ?? null)));
}

/** Different for different cells. */
function shown(cell: Cell): unknown {
  return cell instanceof Uint8Array ? { bytes: cell.toBase64() } : cell;
}

function requireSame(
  wanted: Checksum,
  found: Checksum,
  { kind, owner, place }: { readonly kind: string; readonly owner: string; readonly place: string },
): void {
  const isSame = wanted.count === found.count && wanted.sha256.toHex() === found.sha256.toHex();
  if (isSame) return;
  const whose = owner === "" ? "" : ` of ${JSON.stringify(owner)}`;
  const what =
    wanted.count === found.count
      ? `the content of a ${kind} record${whose} differs`
      : `it has ${found.count} of ${wanted.count} ${kind} records${whose}`;
  throw new SvcError(
    "storage_failed",
    `${place}: the copy differs from the original (${what}); the original stays as it is. If the copy has been used since, it holds something else now`,
    { path: place },
  );
}
