import type { DatabaseHealth } from "../adapters/postgres/inspect/database-health.ts";
import { databaseOf } from "../app/pack-path.ts";
import type { Config } from "../config/schema.ts";
import { SvcError } from "../domain/errors.ts";
import { shellWord } from "../lib/text.ts";
import { healthOfDatabase, type PackReport, reportOnPack } from "../packs/inspect-pack.ts";
import {
  checkFormat,
  checkIndexes,
  checkPictures,
  checkUse,
  type Finding,
  reasonOf,
} from "./checks.ts";

/** The oldest server version with all required features. */
const OLDEST_SERVER = 150_000;
/** Leases end by the server's clock, and records have this machine's time. */
const CLOCK_LIMIT_MS = 2000;

/** Examines the configured database and its server, without changing anything. */
export async function diagnoseDatabase(config: Config): Promise<readonly Finding[]> {
  const place = databaseOf(config) ?? "";
  let health: DatabaseHealth;
  try {
    health = await healthOfDatabase(config);
  } catch (error) {
    return [{ name: "database", status: "fail", message: reasonOf(error) }];
  }
  const server: readonly Finding[] = [
    checkServer(place, health),
    checkVectors(health),
    checkClock(health),
  ];
  let report: PackReport;
  try {
    report = await reportOnPack(config, false);
  } catch (error) {
    const isNew = error instanceof SvcError && error.code === "not_found";
    return [
      ...server,
      { name: "tables", status: isNew ? "warn" : "fail", message: reasonOf(error) },
    ];
  }
  return [
    ...server,
    ...checkFormat(report),
    ...checkPartitions(config, report),
    checkConnection(report),
    checkRights(health),
    checkRowSecurity(health),
    checkServerIndexes(health),
    checkCounters(health),
    checkIndexes(report),
    ...checkPictures(report),
    ...(await checkUse(config, report)),
  ];
}

function checkServer(
  place: string,
  { version, versionNumber, isStandby }: DatabaseHealth,
): Finding {
  const name = "database";
  const message = `${place}, PostgreSQL ${version}`;
  if (versionNumber < OLDEST_SERVER) {
    return { name, status: "fail", message: `${message}; PostgreSQL 15 or newer is needed` };
  }
  if (!isStandby) return { name, status: "ok", message };
  return {
    name,
    status: "warn",
    message: `${message}, a standby server, which stores nothing; give the address of the primary`,
  };
}

function checkVectors({ vectorVersion }: DatabaseHealth): Finding {
  const name = "pgvector";
  if (vectorVersion === undefined) {
    const message = "is not there. Run as an administrator: CREATE EXTENSION vector";
    return { name, status: "fail", message };
  }
  const [major = 0, minor = 0] = vectorVersion.split(".").map(Number);
  if (major > 0 || minor >= 8) return { name, status: "ok", message: vectorVersion };
  const message = `${vectorVersion}, and 0.8 or newer is needed. Install it, then run: ALTER EXTENSION vector UPDATE`;
  return { name, status: "fail", message };
}

function checkClock({ clockAheadMs }: DatabaseHealth): Finding {
  const name = "clock";
  const seconds = Math.abs(clockAheadMs / 1000).toFixed(1);
  const way = clockAheadMs < 0 ? "behind" : "ahead of";
  if (Math.abs(clockAheadMs) <= CLOCK_LIMIT_MS) {
    return { name, status: "ok", message: `the server's is ${seconds} s ${way} this machine's` };
  }
  const message = `the server's is ${seconds} s ${way} this machine's; set both by a time server`;
  return { name, status: "warn", message };
}

/** The setting only applies to new tables. No finding if it is unset, or agrees. */
function checkPartitions(config: Config, { partitions, path }: PackReport): readonly Finding[] {
  const wanted = config.database_partitions;
  if (wanted === undefined || wanted === partitions) return [];
  const [have, unset] =
    partitions === undefined
      ? ["are whole", "unset it"]
      : [`are in ${partitions}`, `set it to ${partitions}, or unset it`];
  const message = `SVC_DATABASE_PARTITIONS is ${wanted}, and the tables ${have}, which it does not change: ${unset}; or copy all into an empty database: SVC_DATABASE_PARTITIONS=${wanted} svc migrate ${shellWord(path)} ADDRESS`;
  return [{ name: "partitions", status: "warn", message }];
}

/** What is known about encryption, except of the disk. */
function checkConnection({ tls }: PackReport): Finding {
  const how = tls === undefined ? "not encrypted" : `encrypted by ${tls}`;
  const message = `to the server: ${how}; whether its disk is encrypted, the server decides`;
  return { name: "connection", status: "ok", message };
}

function checkRights({ lackingRights }: DatabaseHealth): Finding {
  const name = "rights";
  if (lackingRights.length === 0) {
    return { name, status: "ok", message: "this user may read and write all tables" };
  }
  const message = `this user may not read and write ${lackingRights.join(", ")}; run as the owner of the tables: GRANT ALL ON ALL TABLES IN SCHEMA … TO this user`;
  return { name, status: "fail", message };
}

function checkRowSecurity({ securedTables }: DatabaseHealth): Finding {
  const name = "row-level security";
  const message =
    securedTables.length === 0
      ? "off for this user: that nobody sees another owner's memories is up to svc alone"
      : `on for this user, in ${securedTables.length} tables`;
  return { name, status: "ok", message };
}

function checkServerIndexes({ invalidIndexes }: DatabaseHealth): Finding {
  const name = "server indexes";
  if (invalidIndexes.length === 0) return { name, status: "ok", message: "all are valid" };
  const message = `the server does not use ${invalidIndexes.join(", ")}; run in the database: REINDEX INDEX, with each name`;
  return { name, status: "warn", message };
}

function checkCounters({ miscounted }: DatabaseHealth): Finding {
  const name = "counters";
  const [first] = miscounted;
  if (first === undefined) {
    return { name, status: "ok", message: "those of all owners agree with their rows" };
  }
  const message = `those of ${miscounted.map((owner) => JSON.stringify(owner)).join(", ")} do not agree with their rows, as after a change by hand; restore the database from a copy`;
  return { name, status: "fail", message };
}
