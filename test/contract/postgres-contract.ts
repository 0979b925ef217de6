import { afterAll, describe, test } from "bun:test";
import { leftOut } from "../left-out.ts";
import { NO_POSTGRES } from "../postgres/databases.ts";
import { type Made, postgresPlace, removeEmptied } from "./postgres-place.ts";
import { runStoreContract } from "./store-contract.ts";

/** `TEST_DATABASE=all` checks all promises behind row-level security and in partitions, too. */
export const CHECKS_ALL = process.env["TEST_DATABASE"] === "all";

/** The promises of the store port, checked on databases that each test gets emptied. @param poolSize connections of a store at most */
export function runPostgresContract(
  name: string,
  kind: Made,
  poolSize: number,
  suites: Parameters<typeof runStoreContract>[2],
): void {
  if (NO_POSTGRES === undefined) {
    afterAll(removeEmptied);
    runStoreContract(name, () => postgresPlace({ ...kind, isReused: true }, poolSize), suites);
    return;
  }
  describe(`the store: ${name}`, () => {
    test.skip(`keeps the promises of the store port${leftOut(NO_POSTGRES)}`, () => {});
  });
}
