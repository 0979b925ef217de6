import { afterAll, describe, test } from "bun:test";
import { leftOut } from "../left-out.ts";
import { NO_POSTGRES } from "../postgres/databases.ts";
import { postgresPlace, removeEmptied } from "./postgres-place.ts";
import { BETWEEN_OWNERS, OVER_OWNERS, runStoreContract } from "./store-contract.ts";

/** `TEST_DATABASE=all` checks all promises behind row-level security and in partitions, too. */
const CHECKS_ALL = process.env["TEST_DATABASE"] === "all";

if (NO_POSTGRES === undefined) {
  afterAll(removeEmptied);
  runStoreContract("a database", () => postgresPlace({ isReused: true }));
  const walled = { isWalled: true, isReused: true };
  runStoreContract(
    "a database with row-level security",
    () => postgresPlace(walled),
    CHECKS_ALL ? undefined : OVER_OWNERS,
  );
  runStoreContract(
    "a database in partitions with row-level security",
    () => postgresPlace({ ...walled, partitions: 3 }),
    CHECKS_ALL ? undefined : BETWEEN_OWNERS,
  );
} else {
  describe("the store: a database", () => {
    test.skip(`keeps the promises of the store port${leftOut(NO_POSTGRES)}`, () => {});
  });
}
