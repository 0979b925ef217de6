import { SvcError } from "../../../domain/errors.ts";
import { POSTGRES } from "../../sql/dialect.ts";
import { type Access, type Request, type Steps, textFor } from "../../sql/statement.ts";
import { ownerKey } from "../owner-key.ts";
import { insertMany, insertNumbered } from "./insert-many.ts";
import { beyondWall } from "./row-security.ts";
import type { Database, Sql } from "./sql.ts";

/** Runs the steps of a role, one after another. */
export async function run<T>(sql: Sql, steps: Steps<T>): Promise<T> {
  let step = steps.next();
  // SAFETY: `perform` answers a request like the function that made it.
  while (step.done !== true) step = steps.next((await perform(sql, step.value)) as never);
  return step.value;
}

async function perform(sql: Sql, request: Request): Promise<unknown> {
  switch (request.how) {
    case "owner":
      return ownerKey(request.userId);
    case "dialect":
      return POSTGRES;
    case "native":
      // SAFETY: `native` of this file made it.
      return await request.work(sql as never);
    case "sound":
      return undefined;
    case "damaged":
      throw new SvcError("internal", "a row that a statement has found is not there");
    case "together":
      return await Promise.all(request.steps.map((steps) => run(sql, steps)));
    case "insert":
      return await insertMany(sql, request.table.name, request.table.columns, request.rows);
    case "number":
      return await insertNumbered(sql, request.table, request.of);
    default: {
      const statements = request.isBeyondWall === true ? beyondWall(sql) : sql;
      const text = textFor(POSTGRES, request.text);
      if (request.how !== "page") return await statements[request.how](text, ...request.values);
      for (const row of await statements.all<never>(text, ...request.values)) {
        if (!request.take(row)) return undefined;
      }
      return undefined;
    }
  }
}

/** Native database work as a step of a role. */
export function* native<T>(work: (sql: Sql) => Promise<T>): Steps<T> {
  return yield { how: "native", work };
}

/** The roles on a database. */
export function accessOf(database: Database): Access {
  const { read, snapshot, write, writeNew, writeAny } = database;
  return {
    dialect: POSTGRES,
    read: (owner, work) => read(owner, (sql) => run(sql, work())),
    snapshot: (owner, work) => snapshot(owner, (sql) => run(sql, work())),
    write: (userIds, work) => write(userIds, (sql) => run(sql, work())),
    writeNew: (userIds, work) => writeNew(userIds, (sql) => run(sql, work())),
    writeAny: (work) => writeAny((sql) => run(sql, work())),
  };
}
