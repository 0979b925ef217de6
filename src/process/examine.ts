/** Examines the memory of a server. */
import { mainPath } from "../adapters/sqlite/connection/layout.ts";
import { keyTextOf } from "../app/pack-key.ts";
import { databaseOf, layoutOf } from "../app/pack-path.ts";
import { SELF, surroundings } from "../assistants/catalogue.ts";
import type { Config } from "../config/schema.ts";
import { SvcError } from "../domain/errors.ts";
import {
  type Examination,
  type Examine,
  examinationOf,
} from "../surface/contract/core/examination.ts";
import { examinationView } from "../surface/contract/service.ts";

/** Milliseconds after which an examination is given up. */
const LIMIT_MS = 300_000;

/**
 * Finds what `svc doctor` finds. A pack is examined by another process, because one that has it open must not read its file by other means,
 * and because it takes seconds. Concurrent callers share one examination.
 * @param isKept whether any command finds the pack's key
 */
export function examineIn(config: Config, isKept: boolean): Examine {
  let running: Promise<Examination> | undefined;
  return async () => {
    const isDatabase = databaseOf(config) !== undefined;
    running ??= (isDatabase ? examineDatabase(config) : run(config, isKept)).finally(() => {
      running = undefined;
    });
    return await running;
  };
}

async function examineDatabase(config: Config): Promise<Examination> {
  const { diagnose } = await import("../doctor/diagnose.ts");
  return examinationOf(await diagnose(config, true, {}));
}

async function run(config: Config, isKept: boolean): Promise<Examination> {
  const path = mainPath(layoutOf(config));
  const key = isKept ? undefined : keyTextOf(config);
  const { environment, folder } = surroundings();
  const child = Bun.spawn([...SELF, "doctor", path, "--format", "json"], {
    cwd: folder,
    env: {
      ...environment,
      ...(key !== undefined && { SVC_ENCRYPTION_ENABLED: "true", SVC_ENCRYPTION_KEY: key }),
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    timeout: LIMIT_MS,
  });
  const text = await child.stdout.text();
  try {
    return examinationView.read(JSON.parse(text), "svc doctor");
  } catch (cause) {
    const ended = `exit code ${await child.exited}`;
    throw new SvcError("internal", `svc doctor gave no result (${ended})`, {}, { cause });
  }
}
