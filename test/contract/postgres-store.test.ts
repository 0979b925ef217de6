import { runPostgresContract } from "./postgres-contract.ts";
import { MEETING } from "./store-contract.ts";

runPostgresContract("a database", {}, 4, MEETING);
