import type { Database } from "bun:sqlite";
import { toSvcError } from "../connection/failures.ts";
import { mainPath, type PackLayout } from "../connection/layout.ts";
import { type Connection, openForReading } from "../connection/open-reading.ts";

/**
 * The text that `produce` makes of a pack, in chunks from one snapshot, while other processes continue to write. The connection is closed
 * when the reader stops, even early.
 * @throws SvcError not_a_pack, pack_too_new, storage_failed
 */
export function* readSnapshot(
  layout: PackLayout,
  connection: Connection,
  produce: (database: Database) => Iterable<string>,
  isDamaged = false,
): Generator<string> {
  try {
    const reading = openForReading(layout, connection, isDamaged);
    try {
      reading.database.run("BEGIN");
      yield* joined(produce(reading.database));
    } finally {
      if (reading.database.inTransaction) reading.database.run("ROLLBACK");
      reading.close();
    }
  } catch (error) {
    throw toSvcError(error, mainPath(layout));
  }
}

/** Characters per piece; a line is often short. */
const PIECE_CHARS = 65_536;

function* joined(pieces: Iterable<string>): Generator<string> {
  let waiting: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    waiting.push(piece);
    length += piece.length;
    if (length < PIECE_CHARS) continue;
    yield waiting.join("");
    waiting = [];
    length = 0;
  }
  if (length > 0) yield waiting.join("");
}
