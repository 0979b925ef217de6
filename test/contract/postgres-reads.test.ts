import { runPostgresContract } from "./postgres-contract.ts";
import { ALL, MEETING } from "./store-contract.ts";

// Opening a second connection costs as much as most of these tests.
runPostgresContract("a database", {}, 1, ALL.difference(new Set(MEETING)));
