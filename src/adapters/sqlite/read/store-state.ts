import type { Database } from "bun:sqlite";
import type { Owner } from "../../../domain/owner.ts";
import type { StoreState } from "../../../ports/store/graph.ts";
import { readStates } from "../../sql/events.ts";
import { ask } from "../connection/ask.ts";
import { run } from "../connection/run.ts";

/** Numbers of the connections that were asked, so that two of them never give the same sequence. */
const connections = new WeakMap<Database, number>();
let connected = 0;

/**
 * A text that changes with every commit of another connection, in this process or elsewhere. The writer is another connection
 * than the one that reads.
 * @param opening differs for each process
 */
function changeSequence(database: Database, opening: string): string {
  let number = connections.get(database);
  if (number === undefined) {
    connected += 1;
    number = connected;
    connections.set(database, number);
  }
  return `${opening}-${number}-${ask<number>(database, "PRAGMA data_version") ?? 0}`;
}

/** The files of a pack, and what an owner has in it. */
export function readStoreState(
  database: Database,
  of: Owner,
  given: { readonly isEncrypted: boolean; readonly opening: string },
): StoreState {
  return {
    changeSequence: changeSequence(database, given.opening),
    bytes: bytesOf(database),
    isEncrypted: given.isEncrypted,
    ...run(database, readStates(of)),
  };
}

/** Of all files of the pack. */
function bytesOf(database: Database): number {
  const files = database.query<{ name: string }, []>("PRAGMA database_list").all();
  return files
    .map(({ name }) => {
      const pages = ask<number>(database, `PRAGMA ${name}.page_count`) ?? 0;
      return pages * (ask<number>(database, `PRAGMA ${name}.page_size`) ?? 0);
    })
    .reduce((sum, bytes) => sum + bytes, 0);
}
