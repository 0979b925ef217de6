import { openDatabase } from "../src/adapters/sqlite/connection/open-database.ts";
import { rewriteDocuments } from "../src/adapters/sqlite/write/lexical-index.ts";
import { leanAll } from "../src/adapters/sqlite/vectors/write-vectors.ts";
import { openChecksummed } from "../src/domain/checksummed.ts";
import { nodeFromRecord, toNodeRecord } from "../src/domain/node-record.ts";
import { canonicalJson } from "../src/lib/json.ts";
import { NODE_COLUMNS, toNode } from "../src/adapters/sqlite/write/rows.ts";
import { directoryPack, filePack, storeOptions } from "./contract/sqlite-pack.ts";
import { indexed } from "./adapters/sqlite/indexed.ts";
const [folder = "", kind = "file"] = process.argv.slice(2);
const pack = kind === "file" ? filePack(folder) : directoryPack(folder);
const db = openDatabase({ ...storeOptions(pack), mode: "read-write" });
const before = indexed(db);
console.log("orphans", before.orphans.length, "docs", before.sizes.length, "vectors", before.vectors.length, "integrity", JSON.stringify(db.query("PRAGMA integrity_check").all()));
const states = db.query("SELECT lifecycle_state s, count(*) n FROM nodes GROUP BY 1").all(); console.log(JSON.stringify(states), JSON.stringify(db.query("SELECT status, count(*) n FROM jobs GROUP BY 1").all()));
db.transaction(() => { rewriteDocuments(db, 0, 1e6); db.run("UPDATE vector_payloads SET previous=-1,next=-1"); leanAll(db); })();
const after = indexed(db);
for (const k of ["words", "sizes", "vectors", "payloads"] as const) console.log(k, canonicalJson(before[k] as never) === canonicalJson(after[k] as never) ? "same as rebuilt" : "DIFFERS");
// log consistency
let inverted = 0, wrongEnd = 0, changed = 0;
const nodes = (db.query(`SELECT ${NODE_COLUMNS} FROM nodes n JOIN owners o ON o.owner=n.owner`).all() as never[]).map(toNode);
const history = new Map<string, { before: string; after: string; at: string; type: string }[]>();
for (const op of db.query("SELECT * FROM operations WHERE op_type NOT IN ('DIRECT_STORE_REQUESTED') ORDER BY created_at, id").all() as { op_type: string; payload: string; created_at: string }[]) {
  const p = JSON.parse(op.payload); if (p.record === undefined) continue;
  const r = openChecksummed(p) as never as Record<string, never>;
  const add = (b: unknown, a: unknown) => { const id = (a as { id: string }).id; const l = history.get(id) ?? []; l.push({ before: canonicalJson(b as never), after: canonicalJson(a as never), at: op.created_at, type: op.op_type }); history.set(id, l); };
  const B = r["before"] as never as Record<string, unknown>, A = r["after"] as never as Record<string, unknown>;
  if (B?.["id"]) add(B, A); else if (B) { const ks = Object.keys(B); for (const k of ks) add(B[k], A[k]); }
}
for (const n of nodes) {
  const h = history.get(n.id); if (!h) continue; changed++;
  for (let i = 1; i < h.length; i++) if (h[i - 1]!.after !== h[i]!.before) { inverted++; if (inverted < 3) console.log("inverted", n.id, h.map((x) => `${x.type}@${x.at}`).join(" ")); break; }
  if (h.at(-1)!.after !== canonicalJson(toNodeRecord(n))) wrongEnd++;
}
console.log({ changed, inverted, wrongEnd });
db.close();
