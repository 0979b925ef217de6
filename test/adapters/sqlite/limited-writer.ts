import { ALL_OWNERS } from "../../../src/domain/owner.ts";
/**
 * A process that stores events until the system refuses, and then tells in one line of JSON how it went.
 * Arguments: the description of the pack as JSON. The caller limits the size of the files it may write.
 */

import { uuidV7 } from "../../../src/lib/hashing.ts";
import { anAdmission, anEvent } from "../../contract/samples.ts";
import { openSqlitePack, type SqlitePack } from "../../contract/sqlite-pack.ts";

// SAFETY: the test that starts this process wrote the description.
const store = await openSqlitePack(JSON.parse(process.argv[2] ?? "") as SqlitePack);
let stored = 0;
let code = "none";
while (stored < 1000 && code === "none") {
  try {
    await store.admit(anAdmission([anEvent({ id: uuidV7(), content: "x".repeat(20_000) })]));
    stored += 1;
  } catch (error) {
    // SAFETY: only compared and printed.
    code = String((error as { code: unknown }).code);
  }
}
const readable = await store.countEvents(ALL_OWNERS);
console.log(JSON.stringify({ stored, code, readable }));
process.exit(0);
