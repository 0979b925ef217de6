/**
 * A process that admits events with pictures, and may kill itself on the way.
 * Arguments: the pack as JSON; the step before which it ends, or 0 to finish, as `watchStatements` counts them. A process that
 * finishes prints them.
 */
import { aNode, anAdmission, anEvent } from "../contract/samples.ts";
import { openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";
import { aBlob } from "../contract/store-blobs.ts";
import { watchStatements } from "./statement-steps.ts";

const [pack = "", last = "0"] = process.argv.slice(2);
// SAFETY: the test that starts this process wrote the description.
const store = await openSqlitePack(JSON.parse(pack) as SqlitePack);
const events = [anEvent(), anEvent({ userId: "bob" })];
const steps = watchStatements(Number(last));
await store.admit(
  anAdmission(events, {
    nodes: events.map((event) => ({ node: aNode(event), lexical: true })),
    blobs: events.flatMap(({ id: event }) => [
      aBlob({ event, bytes: new Uint8Array(30_000).fill(7) }),
      aBlob({ event, key: "frames/0b.jpg" }),
    ]),
  }),
);
console.log(JSON.stringify(steps()));
await store.close();
