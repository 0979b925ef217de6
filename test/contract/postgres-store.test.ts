import { describe, test } from "bun:test";
import { leftOut } from "../left-out.ts";
import { NO_POSTGRES } from "../postgres/databases.ts";
import { postgresPlace } from "./postgres-place.ts";
import { runStoreContract } from "./store-contract.ts";

if (NO_POSTGRES === undefined) runStoreContract("a database", postgresPlace);
else {
  describe("the store: a database", () => {
    test.skip(`keeps the promises of the store port${leftOut(NO_POSTGRES)}`, () => {});
  });
}
