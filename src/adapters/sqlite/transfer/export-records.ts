import { z } from "zod";
import { BLOB_KEY, edgeForm, eventForm, MEDIA_TYPE, nodeForm } from "../../../domain/node.ts";
import { auditRecordForm } from "../../../domain/records/audit.ts";
import type { ObjectForm, View } from "../../../lib/form.ts";
import { parseInstant } from "../../../lib/instant.ts";
import { parseUuid } from "../../../lib/uuid.ts";

/** Names the format in the first line of an export. */
export const EXPORT_FORMAT = "svc-export";
/** Incremented when readers of the previous version could no longer restore a file without loss. */
export const EXPORT_VERSION = 1;
/** Builds from before the first release wrote versions 2 to 4, whose receipts this program does not read. */
export const NEWEST_DEVELOPMENT = 4;

/** Whether a development build wrote the file. */
export function isFormer({
  format_version: version,
}: Pick<ExportHeader, "format_version">): boolean {
  return version > EXPORT_VERSION;
}

const key = z.int().min(1);
const text = z.string();
const hash = z.string().regex(/^[0-9a-f]{64}$/, "64 hexadecimal digits expected");
const uuid = z.string().refine((value) => parseUuid(value) === value, "canonical UUID expected");
const instant = z.string().refine((value) => {
  const parsed = parseInstant(value);
  return typeof parsed === "object" && parsed.instant === value;
}, "canonical instant expected");
// Parsed JSON is JSON; a deeper check would only cost time.
const object = z.custom<object>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "object expected",
);
const unit = z.number().min(0).max(1);

/** The records that represent table rows unchanged, in file order. */
export type Section = {
  readonly record: string;
  readonly table: string;
  /** The sort key of the rows, strictly ascending. */
  readonly order: readonly string[];
  /** Every exported column, with the type of its value. */
  readonly columns: Readonly<Record<string, z.ZodType>>;
  /** Columns with JSON as text, and columns with booleans as 0 or 1. */
  readonly json: readonly string[];
  readonly flags: readonly string[];
};

/** The required types of a form's values in a file. */
function columnOf({ shape }: View<never>): z.ZodType {
  switch (shape.kind) {
    case "nullable":
      return columnOf(shape.of).nullable();
    case "list":
      return z.array(columnOf(shape.of));
    case "member":
      return z.enum(shape.members);
    default: {
      const scalar = SCALARS[shape.kind];
      if (scalar === undefined) throw new RangeError(`${shape.kind}: no column has this form`);
      return scalar;
    }
  }
}

const SCALARS: Readonly<Record<string, z.ZodType>> = {
  text,
  instant,
  uuid,
  unit,
  flag: z.boolean(),
  integer: z.int(),
  nonNegative: z.number().min(0),
  sha256: hash,
  anyObject: object,
};

type Columns = Pick<Section, "columns"> & Partial<Section>;

/** The columns of a record: its key, its id, the keys of its owner and ends, and its other members. */
function columnsOf(
  { members }: Pick<ObjectForm<never>, "members">,
  keys: Section["columns"] = { owner: key },
): Columns {
  const own = members.filter(
    ({ name }) => name !== "id" && name !== "user_id" && !(name.replace("_id", "") in keys),
  );
  const namesOf = (...kinds: readonly string[]): string[] =>
    own
      .filter(({ form: { shape } }) =>
        kinds.includes(shape.kind === "nullable" ? shape.of.shape.kind : shape.kind),
      )
      .map(({ name }) => name);
  const columns = Object.fromEntries(own.map(({ name, form }) => [name, columnOf(form)]));
  return {
    columns: { key, id: uuid, ...keys, ...columns },
    json: namesOf("anyObject", "list"),
    flags: namesOf("flag"),
  };
}

const section = (record: string, columns: Columns): Section => ({
  record,
  table: `${record}s`,
  order: ["key"],
  json: [],
  flags: [],
  ...columns,
});

export const SECTIONS: readonly Section[] = [
  section("owner", { order: ["owner"], columns: { owner: key, user_id: text } }),
  section("event", columnsOf(eventForm)),
  section("operation", columnsOf(auditRecordForm, {})),
  section("node", columnsOf(nodeForm)),
  section("edge", columnsOf(edgeForm, { owner: key, source: key, target: key })),
  section("job", {
    order: ["event_key", "kind"],
    // The holder and lease of a job are only valid on one machine.
    columns: {
      event_key: key,
      kind: text,
      owner: key,
      status: z.enum(["pending", "complete", "failed"]),
      attempts: z.int().min(0),
      last_error: text.nullable(),
      updated_at: instant,
    },
  }),
  section("erasure", {
    columns: { key, forget_id: uuid, event_id: uuid, erased_at: instant, actor: text },
  }),
];

const identity = z.strictObject({ model: text, version: text, dimension: z.int().min(1) });
const count = z.int().min(0);
/** The number of records of each kind in a file. */
const counts = z.strictObject({
  owner: count,
  event: count,
  operation: count,
  node: count,
  edge: count,
  job: count,
  receipt: count,
  /** Absent in files of development builds without any. */
  erasure: count.optional(),
  blob: count.optional(),
  vector: count,
});

/** The first line. */
export const HEADER = z.strictObject({
  record: z.literal("header"),
  format: z.literal(EXPORT_FORMAT),
  format_version: z.int().min(1).max(NEWEST_DEVELOPMENT),
  software_version: text,
  exported_at: instant,
  manifest: z.strictObject({
    format_version: z.int().min(1),
    software_version: text,
    embedding: identity,
    scoring_version: text,
    created_at: instant,
    updated_at: instant,
  }),
  counts,
  /** The model of the vectors in the file; null when it holds none. */
  vectors: identity.nullable(),
});

/** The record of a retrieval: its body, which only the engine reads, in base64, and the context's contents. */
export const RECEIPT = z.strictObject({
  record: z.literal("receipt"),
  key,
  request_id: uuid,
  user_id: z.string().min(1),
  created_at: instant,
  body: z.base64(),
  context: z.array(z.strictObject({ node: key, rank: key, representation: text })),
});

/** A receipt of a development build. */
export const FORMER_RECEIPT = RECEIPT.omit({ context: true });

/** A blob, its bytes in base64, with the keys of its owner's events that use it. */
export const BLOB = z.strictObject({
  record: z.literal("blob"),
  owner: key,
  key: z.string().regex(BLOB_KEY, "key of a blob expected"),
  media_type: z.string().regex(MEDIA_TYPE, "media type expected"),
  created_at: instant,
  events: z.array(key).min(1),
  data: z.base64().min(1),
});

/** A vector of a node: little-endian 32-bit floats in base64. */
export const VECTOR = z.strictObject({
  record: z.literal("vector"),
  node_key: key,
  content_hash: hash,
  created_at: instant,
  embedding: z.base64(),
});

/** The last line. `sha256` is that of every byte before it. */
export const FOOTER = z.strictObject({ record: z.literal("footer"), counts, sha256: hash });

export type ExportHeader = z.infer<typeof HEADER>;
export type ExportCounts = z.infer<typeof counts>;
