import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { exportLines, readSnapshot } from "../../../src/adapters/sqlite/transfer/export-lines.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import { anAdmission, anEvent, at, put, unit } from "../../contract/samples.ts";
import { directoryPack, encrypted, filePack, type SqlitePack } from "../../contract/sqlite-pack.ts";
import { aBlob } from "../../contract/store-blobs.ts";
import { aReceipt, saveShown } from "../../contract/store-receipts.ts";
import { ANYTHING, contentsOf } from "../../contract/store-vectors.ts";
import { connectionOf, exported, fillRichly, IDENTITY, imported } from "./exported.ts";
import { failure, useFolders } from "./folder.ts";

const { folder, open } = useFolders();

/**
 * The lines after the header, whose times differ, and before the footer, whose hash covers the header; with the key that an import
 * gives the one edge.
 */
function records(text: string): readonly string[] {
  return text
    .split("\n")
    .slice(1, -2)
    .map((line) => line.replace(/^{"record":"edge","key":\d+/, '{"record":"edge","key":1'));
}

/** Closes a text with the footer that belongs to it. */
function sealed(lines: readonly string[], footer: string): string {
  const body = lines.map((line) => `${line}\n`).join("");
  return `${body}${footer.replace(/"sha256":"\w+"/, `"sha256":"${sha256Hex(body)}"`)}\n`;
}

async function aRichPack(pack: SqlitePack): Promise<string> {
  const store = await open(pack);
  await fillRichly(store, pack);
  await store.close();
  return exported(pack);
}

test.each([
  { name: "a pack of one file", packIn: filePack },
  { name: "a directory pack", packIn: directoryPack },
  { name: "an encrypted pack", packIn: (place: string) => encrypted(filePack(place)) },
  {
    name: "an encrypted directory pack",
    packIn: (place: string) => encrypted(directoryPack(place)),
  },
])("an export of $name imports into the same records and the same answers", async ({ packIn }) => {
  const pack = packIn(folder());
  const text = await aRichPack(pack);
  const copy = packIn(join(folder(), "copy"));

  const result = await imported(copy, text, { chunkBytes: 7 });

  expect(result).toMatchObject({
    counts: {
      owner: 2,
      event: 8,
      operation: 2,
      node: 6,
      edge: 1,
      job: 8,
      receipt: 2,
      blob: 2,
      vector: 3,
    },
    lacksVectors: true,
  });
  expect(records(exported(copy))).toEqual([...records(text)]);
  const [one, other] = [await open(pack), await open(copy)];
  for (const question of ["tea", "coffee tea", "東京", "old", "vector"]) {
    expect(await other.searchText(question, ANYTHING, 9)).toEqual(
      await one.searchText(question, ANYTHING, 9),
    );
  }
  const hits = await other.searchVectors(unit(1, 2), ANYTHING, 9);
  expect(hits).toEqual(await one.searchVectors(unit(1, 2), ANYTHING, 9));
  expect(await contentsOf(other, hits)).toEqual(["bravo coffee", "charlie 東京", "alpha tea"]);
  expect(await other.manifest()).toEqual({ ...(await one.manifest()), updatedAt: at(120) });
});

test("receipts come back under their ids, whatever their size", async () => {
  const pack = filePack(folder());
  const store = await open(pack);
  const bodies = [0, 1, 300, 20_000].map((length) =>
    Uint8Array.from({ length }, (_, i) =>
      length === 300 ? Math.imul(i, 2654435761) >>> 24 : i % 7,
    ),
  );
  const receipts = bodies.map((body, second) => aReceipt({ body, createdAt: at(second) }));
  for (const receipt of receipts) await store.saveReceipt(receipt);
  await store.close();
  const copy = filePack(folder());

  await imported(copy, exported(pack));

  const other = await open(copy);
  for (const receipt of receipts) {
    expect(await other.receipt(receipt.requestId, "ada")).toEqual(receipt);
  }
  expect(await other.pruneReceipts(at(2), 9)).toBe(2);
});

test("a file of a development build is imported without its receipts, which none can read", async () => {
  const pack = filePack(folder());
  await aRichPack(pack);
  const lines = exported(pack, false).split("\n").slice(0, -1);
  const former = lines.map((line) => line.replace(/,"context":\[.*\]}$/, "}"));
  former[0] = (former[0] ?? "").replace('"format_version":1,', '"format_version":4,');
  const footer = former.pop() ?? "";
  const copy = filePack(folder());

  const { counts, formerReceipts } = await imported(copy, sealed(former, footer));

  expect(counts).toMatchObject({ event: 8, operation: 2, receipt: 0, blob: 2 });
  expect(formerReceipts).toBe(2);
  const rest = (text: string) =>
    records(text).filter((line) => !line.startsWith('{"record":"receipt"'));
  expect(rest(exported(copy, false))).toEqual([...rest(`${former.join("\n")}\n\n`)]);
});

test("what was in the context of an answer comes with its receipt", async () => {
  const pack = filePack(folder());
  const store = await open(pack);
  const [tea] = await put(store, { content: "tea" });
  const receipt = aReceipt();
  await saveShown(store, receipt, [{ nodeId: tea!.id, rank: 3, representation: "prose" }]);
  await store.close();
  const copy = filePack(folder());
  await imported(copy, exported(pack));
  const uses = await (await open(copy)).usesOf({ userId: "ada", nodeId: tea!.id, limit: 9 });
  expect(uses.items).toEqual([{ receipt, rank: 3, representation: "prose" }]);
});

test("who holds a job is left behind: an imported job is free", async () => {
  const pack = filePack(folder());
  const text = await aRichPack(pack);
  const copy = filePack(folder());
  await imported(copy, text);
  const store = await open(copy);
  expect(text).not.toContain("lease");
  expect(await store.countJobs(ALL_OWNERS)).toEqual({ pending: 2, failed: 1 });
  expect(await store.claimJobs(ALL_OWNERS, 9)).toHaveLength(2);
});

test.each([
  [false, 0],
  [true, 1],
])("a proposed alias whose verification is %p comes along as %d edges", async (verified, edges) => {
  const lines = (await aRichPack(filePack(folder()))).trimEnd().split("\n");
  const metadata = { relation: "alias", identity_verified: verified };
  const changed = lines.slice(0, -1).map((line) => {
    if (!line.startsWith('{"record":"edge"')) return line;
    return JSON.stringify({ ...JSON.parse(line), edge_type: "relates_to", metadata });
  });
  const copy = filePack(join(folder(), "copy"));

  await imported(copy, sealed(changed, lines.at(-1) ?? ""));

  using database = new Database(mainPath(copy.layout));
  expect(database.query("SELECT count(*) AS count FROM edges").get()).toEqual({ count: edges });
});

test("vectors of another model are left out, and everything is to be embedded", async () => {
  const text = await aRichPack(filePack(folder()));
  const copy = filePack(folder());
  const embedding = { ...IDENTITY, dimension: 4, model: "small" };

  expect((await imported(copy, text, { embedding })).lacksVectors).toBe(true);

  const store = await open(copy, { embedding });
  expect((await store.manifest()).embedding).toEqual(embedding);
  expect(await store.searchVectors(new Float32Array(4).fill(0.5), ANYTHING, 9)).toEqual([]);
});

test("an export shows one moment, whatever is written while it is read", async () => {
  const pack = filePack(folder());
  const store = await open(pack);
  const many = Array.from({ length: 400 }, (_, n) => ({
    content: `memory ${n} ${"x".repeat(600)}`,
  }));
  await put(store, ...many);
  const choices = { withVectors: false, softwareVersion: "1", exportedAt: at(1) };
  const pieces: string[] = [];
  for (const piece of readSnapshot(pack.layout, connectionOf(pack), (db) =>
    exportLines(db, choices),
  )) {
    if (pieces.length === 0) await put(store, { content: "came late" });
    pieces.push(piece);
  }
  expect(pieces.length).toBeGreaterThan(2);
  expect(pieces.join("")).not.toContain("came late");
  expect((await imported(filePack(folder()), pieces.join(""))).counts.node).toBe(400);
});

test("a file that is cut off anywhere is refused with the line at which it ends", async () => {
  const text = await aRichPack(filePack(folder()));
  const bytes = new TextEncoder().encode(text);
  const cuts = [
    0,
    1,
    200,
    ...Array.from({ length: 25 }, (_, n) => Math.floor((bytes.length * n) / 25)),
  ];
  // Without its last line feed it is whole.
  for (const cut of [...new Set(cuts), bytes.length - 2]) {
    const error = await failure(imported(filePack(folder()), bytes.slice(0, cut)));
    const line = new TextDecoder().decode(bytes.slice(0, cut)).split("\n").length;
    expect({ cut, code: error.code }).toEqual({ cut, code: "not_an_export" });
    expect(error.data).toMatchObject({ path: "the file" });
    // A cut right behind a line feed is only noticed as a missing last line.
    const named = Number(/line (\d+)/.exec(error.message)?.[1]);
    expect([line, Math.max(1, line - 1)]).toContain(named);
  }
});

test("a byte that was changed anywhere is noticed", async () => {
  const bytes = new TextEncoder().encode(await aRichPack(filePack(folder())));
  for (let place = 3; place < bytes.length; place += 397) {
    const changed = bytes.slice();
    changed[place] = (changed[place] ?? 0) ^ 1;
    const error = await failure(imported(filePack(folder()), changed));
    expect({ place, code: error.code }).toEqual({
      place,
      code: expect.stringMatching(/^not_an_export$|^pack_too_new$/),
    });
  }
});

/** Where the records of a kind begin. */
function first(lines: readonly string[], record: string): number {
  return lines.findIndex((line) => line.startsWith(`{"record":"${record}"`));
}

type Damage = {
  readonly name: string;
  readonly says: string;
  readonly line?: number;
  readonly change: (lines: string[]) => void;
};

const replaceIn =
  (record: string, from: string | RegExp, to: string) =>
  (lines: string[]): void => {
    const index = first(lines, record);
    lines[index] = (lines[index] ?? "").replace(from, to);
  };

const DAMAGES = (
  [
    ["no JSON", "it is not JSON", (lines) => void lines.splice(3, 1, "garbage"), 4],
    ["a list", "not a JSON object", (lines) => void lines.splice(3, 1, "[1]"), 4],
    [
      "a number with more digits than are kept",
      "more digits than a number of JSON keeps: 1234567890123456789",
      replaceIn("owner", "}", ',"x":{"a":[1234567890123456789]}}'),
      2,
    ],
    ["an unknown kind", "unknown kind", replaceIn("job", '"job"', '"jab"')],
    ["a second header", "unknown kind", (lines) => lines.splice(1, 0, lines[0] ?? ""), 2],
    ["a record out of place", "is not allowed here", (lines) => lines.push(lines[1] ?? "")],
    ["a repeated line", "does not come after", (lines) => lines.splice(2, 0, lines[1] ?? ""), 3],
    [
      "a missing line",
      "counts: operation",
      (lines) => void lines.splice(first(lines, "operation"), 1),
    ],
    ["an unknown member", "x", replaceIn("owner", "}", ',"x":1}'), 2],
    ["a missing member", "user_id", replaceIn("owner", /,"user_id":"\w+"/, ""), 2],
    ["an unknown state", "lifecycle_state", replaceIn("node", "tentative", "certain")],
    ["a confidence above 1", "confidence", replaceIn("node", '"confidence":0.8', '"confidence":8')],
    [
      "a time that never was",
      "timestamp",
      replaceIn("event", /"timestamp":"2026-01/, '"timestamp":"2026-13'),
    ],
    ["an id in capitals", "canonical UUID", replaceIn("event", /"id":"\w+-/, '"id":"0190000A-')],
    ["a changed text", "content_hash", replaceIn("event", "alpha", "alpine")],
    ["an owner that is not there", "contradicts", replaceIn("event", '"owner":1', '"owner":99')],
    ["a node that is not there", "contradicts", replaceIn("edge", '"source":1', '"source":99')],
    ["a blob of nobody", "contradicts", replaceIn("blob", '"owner":1', '"owner":99')],
    [
      "a blob of another owner's event",
      "no earlier line has this event of the owner",
      replaceIn("blob", '"owner":1', '"owner":2'),
    ],
    ["a blob of no event", "events", replaceIn("blob", /"events":\[[^\]]*\]/, '"events":[]')],
    [
      "a blob that two lines have",
      "does not come after",
      replaceIn("blob", "frames/0a.jpg", "frames/0b.png"),
    ],
    [
      "a blob whose key is no key",
      "key of a blob",
      replaceIn("blob", "frames/0a.jpg", "frames/ 0a"),
    ],
    ["a blob without bytes", "data", replaceIn("blob", /"data":"[^"]*"/, '"data":""')],
    ["a receipt of nobody", "user_id", replaceIn("receipt", /"user_id":"[^"]*"/, '"user_id":""')],
    ["a receipt that is no base64", "body", replaceIn("receipt", /"body":"\w/, '"body":"*')],
    [
      "two receipts of one request",
      "contradicts",
      (lines) => {
        const one = lines[first(lines, "receipt")] ?? "";
        lines.splice(first(lines, "receipt") + 1, 1, one.replace('"key":1', '"key":2'));
      },
    ],
    [
      "a vector of another length",
      "embedding: is not 8",
      replaceIn("vector", /"embedding":"[^"]+"/, '"embedding":"AAAA"'),
    ],
    [
      "a receipt whose context has no node",
      "no earlier line",
      replaceIn("receipt", '"node":1', '"node":500'),
    ],
    [
      "a vector of no node",
      "no earlier line",
      replaceIn("vector", '"node_key":1', '"node_key":0.5e3'),
    ],
  ] as readonly (readonly [
    name: Damage["name"],
    says: Damage["says"],
    change: Damage["change"],
    line?: Damage["line"],
  ])[]
).map(([name, says, change, line]) => ({ name, says, change, line }));

test.each([...DAMAGES])("a sealed file with $name is refused", async ({ says, line, change }) => {
  const lines = (await aRichPack(filePack(folder()))).split("\n").slice(0, -1);
  const footer = lines.pop() ?? "";
  change(lines);
  const error = await failure(imported(filePack(folder()), sealed(lines, footer)));
  expect(error.code).toBe("not_an_export");
  expect(error.message).toContain(says);
  if (line !== undefined) expect(error.data).toEqual({ path: "the file", line });
  expect(error.message).not.toMatch(/coffee|garbage/);
});

test("lines after the last one, another format and a newer version are refused", async () => {
  const text = await aRichPack(filePack(folder()));
  const code = async (changed: string) =>
    (await failure(imported(filePack(folder()), changed))).code;
  expect(await code(`${text}{}\n`)).toBe("not_an_export");
  expect(await code('{"hello":1}\n')).toBe("not_an_export");
  expect(await code(text.replace('"format_version":1,"soft', '"format_version":5,"soft'))).toBe(
    "pack_too_new",
  );
});

test("a picture above the limit is refused by its line, and one of just that size is not", async () => {
  const pack = filePack(folder());
  const store = await open(pack);
  const event = anEvent();
  const bytes = new Uint8Array(5000);
  await store.admit(anAdmission([event], { blobs: [aBlob({ event: event.id, bytes })] }));
  await store.close();
  const text = exported(pack);
  const line = text.split("\n").findIndex((one) => one.startsWith('{"record":"blob"')) + 1;
  const error = await failure(imported(filePack(folder()), text, { blobMaxBytes: 4999 }));
  expect(error.code).toBe("too_large");
  expect(error.data).toEqual({ path: "the file", line, max_bytes: 4999 });
  expect(error.message).toStartWith(`the file, line ${line}: data: a picture has 5000 bytes`);
  expect(error.message).toContain("SVC_BLOB_MAX_BYTES=5000");
  const { counts } = await imported(filePack(folder()), text, { blobMaxBytes: 5000 });
  expect(counts.blob).toBe(1);
});

test("pictures that events or memories name are told where the file lacks them", async () => {
  const pack = filePack(folder());
  const store = await open(pack);
  const seen = (thumbnail: string | number | null, more = {}) => ({
    ...{ modality: "photo", source_file: "a.jpg", thumbnail },
    ...more,
  });
  const events = ["frames/0a.jpg", "frames/0b.jpg", "frames/0b.jpg"].map((key) =>
    anEvent({ metadata: seen(key, { modality: "video_frame" }) }),
  );
  const others = [seen(null), seen(7), seen("frames/0c.jpg", { modality: "text" }), {}, null].map(
    (metadata) => anEvent({ ...(metadata !== null && { metadata }) }),
  );
  const blobs = events.map(({ id: event, metadata }) =>
    aBlob({ event, key: String(metadata?.["thumbnail"]) }),
  );
  await store.admit(anAdmission([...events, ...others], { blobs }));
  await put(store, { content: "a lake", metadata: seen("frames/0a.jpg") });
  await store.close();
  const lines = exported(pack).split("\n").slice(0, -1);
  const footer = (lines.pop() ?? "").replace('"blob":2', '"blob":1');
  const without = lines
    .filter((line) => !line.startsWith('{"record":"blob"') || line.includes("0b.jpg"))
    .map((line) => line.replace('"blob":2', '"blob":1'));

  const whole = await imported(filePack(folder()), exported(pack));
  const cut = await imported(filePack(folder()), sealed(without, footer));

  expect(whole.missingPictures).toEqual([]);
  expect(cut.missingPictures).toEqual(["frames/0a.jpg"]);
  const unsealed = await failure(imported(filePack(folder()), [...without, footer, ""].join("\n")));
  expect(unsealed.message).toContain("sha256: the lines before it were changed");
});

test.each([
  { name: "git turned into CRLF", change: (text: string) => text.replaceAll("\n", "\r\n") },
  {
    name: "got a byte order mark",
    change: (text: string) => `\ufeff${text.replaceAll("\n", "\r\n")}`,
  },
  { name: "got empty lines at its end", change: (text: string) => `${text}\n\r\n\r` },
  { name: "lost its last line feed", change: (text: string) => text.slice(0, -1) },
  {
    name: "lost the last one of CRLF",
    change: (text: string) => text.replaceAll("\n", "\r\n").slice(0, -1),
  },
])("a file that $name imports as it was", async ({ change }) => {
  const text = await aRichPack(filePack(folder()));
  const copy = filePack(folder());
  await imported(copy, change(text), { chunkBytes: 7 });
  expect(records(exported(copy))).toEqual([...records(text)]);
});

test("keys of a file are given anew, so that no later owner or memory meets their end", async () => {
  const text = await aRichPack(filePack(folder()));
  const lines = text.split("\n").slice(0, -1);
  const footer = lines.pop() ?? "";
  const last = Number.MAX_SAFE_INTEGER;
  const [header = "", ...rest] = lines;
  const far = rest.map((line) =>
    line
      .replace(/"owner":(\d)/, (_, key) => `"owner":${last - 2 + Number(key)}`)
      .replace(
        /^{"record":"(event|node)","key":(\d)/,
        (_, kind, key) => `{"record":"${kind}","key":${last - 9 + Number(key)}`,
      )
      .replace(
        /"(event_key|node_key|node|source|target)":(\d)/g,
        (_, name, key) => `"${name}":${last - 9 + Number(key)}`,
      )
      .replace(
        /"events":\[([^\]]*)\]/,
        (_, keys) =>
          `"events":[${keys
            .split(",")
            .map((key: string) => last - 9 + Number(key))
            .join()}]`,
      ),
  );
  const pack = filePack(folder());
  await imported(pack, sealed([header, ...far], footer));
  expect(records(exported(pack))).toEqual([...records(text)]);
  const store = await open(pack);
  await put(store, { userId: "next", content: "of the next", second: 500 });
  await put(store, { userId: "after", content: "of the one after", second: 501 });
  expect(await store.events({ userId: "after", limit: 9, offset: 0 })).toHaveLength(1);
});
