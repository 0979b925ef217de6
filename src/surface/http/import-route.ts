import type { Context } from "hono";
import { type ImportInput, importReportForm } from "../../engine/import/api.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { requireOwner } from "../contract/core/caller.ts";
import { answerJson, refuse, refuseMethod } from "../listener/answers.ts";
import type { Authenticate } from "../listener/auth.ts";
import type { AppEnv, HttpApp } from "./app-env.ts";

const IMPORT_PATH = "/v1/import";

/**
 * `POST /v1/import`: the body is the file, read as it arrives and never held whole; what is to be done with it stands in the query. It never
 * names a file of the server.
 */
export function addImport(
  app: HttpApp,
  engine: () => MemoryEngine | undefined,
  authenticate: Authenticate,
): void {
  app.post(IMPORT_PATH, async (context) => {
    context.set("route", IMPORT_PATH);
    const caller = authenticate(context.req.header("authorization"));
    const opened = engine();
    if (opened === undefined) return refuse(503, "not_ready", "Engine not initialized");
    const { user_id: given, ...query } = context.req.query();
    const userId = requireOwner(caller, given);
    const report = await opened.importSource({ ...askedFor(query), ...bodyOf(context), userId });
    return answerJson(importReportForm.json(report));
  });
  app.all(IMPORT_PATH, (context) => {
    context.set("route", IMPORT_PATH);
    return refuseMethod("POST");
  });
}

function bodyOf({ req, env }: Context<AppEnv>): Pick<ImportInput, "source" | "signal"> {
  const { raw } = req;
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    yield* raw.body ?? [];
    // From here on the caller waits for us.
    env?.turn?.(raw, "server");
  };
  return { source: pieces(), signal: raw.signal };
}

/** The engine checks the values. */
function askedFor(query: Readonly<Record<string, string>>): Omit<ImportInput, "source" | "userId"> {
  const { from, source_name: sourceName, since, scope, branches } = query;
  const flag = (name: string): unknown =>
    query[name] === undefined
      ? undefined
      : ({ true: true, false: false }[query[name]] ?? query[name]);
  const number = (name: string): unknown => query[name] && Number(query[name]);
  const members = {
    ...{ from, sourceName, since, scope, branches },
    ...{ tools: flag("tools"), again: flag("again"), dryRun: flag("dry_run") },
    ...{ sample: number("sample"), offsetMinutes: number("offset_minutes") },
  };
  // SAFETY: the engine rejects what is not of the type that it declares.
  return members as Omit<ImportInput, "source" | "userId">;
}
