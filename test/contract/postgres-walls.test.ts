import { CHECKS_ALL, runPostgresContract } from "./postgres-contract.ts";
import { ALL, BETWEEN_OWNERS, OVER_OWNERS } from "./store-contract.ts";

const poolSize = CHECKS_ALL ? 4 : 1;
runPostgresContract(
  "a database with row-level security",
  { isWalled: true },
  poolSize,
  CHECKS_ALL ? ALL : OVER_OWNERS,
);
runPostgresContract(
  "a database in partitions with row-level security",
  { isWalled: true, partitions: 3 },
  poolSize,
  CHECKS_ALL ? ALL : BETWEEN_OWNERS,
);
