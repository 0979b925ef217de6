import type { SourceFile } from "../../app/source-files.ts";
import { ObservationError, SvcError } from "../../domain/errors.ts";
import { type ObservationReport, observationReportForm } from "../../domain/records/observation.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { ObserveInput } from "../../engine/observe/api.ts";
import { counted } from "../contract/core/tool-text.ts";
import type { CliContext } from "./context.ts";
import { failureLine, reportLines } from "./observation-report.ts";
import { escaped, type Format } from "./output.ts";
import { Interrupted } from "./signals.ts";

/** What is observed, and how it is told. */
export type FilesRun = {
  readonly sources: readonly SourceFile[];
  readonly about: Omit<ObserveInput, "source" | "onFrame"> & { readonly signal: AbortSignal };
  readonly format: Format;
};

/** What became of a file. */
type Result =
  | { readonly kind: "report"; readonly report: ObservationReport }
  | { readonly kind: "failure"; readonly error: SvcError }
  | { readonly kind: "skipped"; readonly why: string };

/** Failures of one file, after which the next one is tried. */
const OF_A_FILE: ReadonlySet<string> = new Set([
  "not_found",
  "unsupported_source",
  "frame_decode_failed",
  "observation_failed",
]);

/** Why a model would describe no other picture either. */
const OF_THE_MODEL: ReadonlySet<unknown> = new Set([
  "APIConnectionError",
  "AuthenticationError",
  "PermissionDeniedError",
  "NotFoundError",
]);

/** Observes files one after the other and tells each as it is done. One that fails is told, and the next one is tried. */
export async function observeFiles(
  context: CliContext,
  engine: Pick<MemoryEngine, "observeSource">,
  { sources, about, format }: FilesRun,
): Promise<void> {
  const { output } = context;
  const told: unknown[] = [];
  let stored = 0;
  for (const [place, { path, skipped }] of sources.entries()) {
    const label = `${place + 1}/${sources.length} ${escaped(path)}`;
    const result = await resultOf(about.signal, skipped, async () => {
      const bar = await output.progressBar(label);
      try {
        const onFrame: ObserveInput["onFrame"] = ({ status }, done, keyframes) => {
          if (status === "admitted") stored += 1;
          bar.show(done, keyframes);
        };
        return await engine.observeSource({ ...about, source: path, onFrame });
      } finally {
        bar.stop();
      }
    });
    if (result === undefined) throw interrupted(stored);
    if (hasFailed(result)) context.fail();
    if (format === "json") told.push(jsonOf(path, result));
    else tell(context, path, result);
    const rest = sources.length - place - 1;
    if (result.kind === "failure" && rest > 0 && endsAll(result.error)) {
      output.note(`Not tried: ${rest} more, which would fail in the same way.`);
      break;
    }
  }
  if (format === "json") output.json(told);
}

/** Undefined: it was interrupted. */
async function resultOf(
  signal: AbortSignal,
  skipped: string | undefined,
  observe: () => Promise<ObservationReport>,
): Promise<Result | undefined> {
  if (skipped !== undefined) return { kind: "skipped", why: skipped };
  try {
    return { kind: "report", report: await observe() };
  } catch (error) {
    if (signal.aborted) return undefined;
    if (!(error instanceof SvcError) || !OF_A_FILE.has(error.code)) throw error;
    return { kind: "failure", error };
  }
}

function reportOf(result: Result): ObservationReport | undefined {
  if (result.kind === "report") return result.report;
  const isPartial = result.kind === "failure" && result.error instanceof ObservationError;
  return isPartial ? result.error.report : undefined;
}

function hasFailed(result: Result): boolean {
  return result.kind === "failure" || (result.kind === "report" && result.report.failed > 0);
}

function endsAll({ code, cause }: SvcError): boolean {
  if (code !== "observation_failed" || !(cause instanceof SvcError)) return false;
  const { cause: why } = cause;
  return cause.code !== "vision_failed" || (why instanceof Error && OF_THE_MODEL.has(why.name));
}

function jsonOf(path: string, result: Result): unknown {
  if (result.kind === "report") return observationReportForm.json(result.report);
  if (result.kind === "skipped") return { source: path, skipped: result.why };
  const { error } = result;
  const ids = reportOf(result)?.eventIds ?? [];
  return {
    source: path,
    error: `${error.name}: ${error.message}`,
    ...(ids.length > 0 && { event_ids: ids }),
  };
}

function tell({ output }: CliContext, path: string, result: Result): void {
  if (result.kind === "skipped") output.line(`Skipped: ${escaped(path)} (${result.why})`);
  const report = reportOf(result);
  const told = result.kind === "failure" ? result.error.message : undefined;
  for (const line of report === undefined ? [] : reportLines(path, report, told)) output.line(line);
  if (result.kind === "failure") output.note(failureLine(path, result.error));
}

function interrupted(stored: number): Interrupted {
  return new Interrupted(
    `Interrupted; ${counted(stored, "description was", "descriptions were")} stored. The same command observes what is missing.`,
  );
}
