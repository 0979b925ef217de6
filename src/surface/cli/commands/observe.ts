import { basename } from "node:path";
import { Option } from "commander";
import { reachedHost } from "../../../app/models.ts";
import type { SourceFile } from "../../../app/source-files.ts";
import type { Config } from "../../../config/schema.ts";
import { SCOPES, type Scope } from "../../../domain/enums.ts";
import { ObservationError, SvcError } from "../../../domain/errors.ts";
import {
  type FrameObservation,
  type ObservationReport,
  observationReportForm,
} from "../../../domain/records/observation.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import type { ObserveInput } from "../../../engine/observe/api.ts";
import { shownName } from "../../../lib/text.ts";
import { counted } from "../../contract/core/tool-text.ts";
import type { CliContext } from "../context.ts";
import { ownerFor, withEngine } from "../memories.ts";
import { momentOf } from "../moments.ts";
import {
  choiceOption,
  configWithoutKey,
  keyRequest,
  ownerOption,
  PACK,
  type PackOptions,
  packCommand,
} from "../options.ts";
import { escaped, type Format, fields, shortened } from "../output.ts";
import { Interrupted, stopSignal } from "../signals.ts";

/** The sources of an observation, and its output. */
type FilesRun = {
  readonly sources: readonly SourceFile[];
  readonly about: Omit<ObserveInput, "source" | "onFrame"> & { readonly signal: AbortSignal };
  readonly format: Format;
};

/** What became of a file. */
type Result =
  | { readonly kind: "report"; readonly report: ObservationReport }
  | { readonly kind: "failure"; readonly error: SvcError }
  | { readonly kind: "skipped"; readonly why: string };

/** Failures of one file, after which the next is tried. */
const OF_A_FILE: ReadonlySet<string> = new Set([
  "not_found",
  "unsupported_source",
  "frame_decode_failed",
  "observation_failed",
]);

/** Failures that every picture would meet. */
const OF_THE_MODEL: ReadonlySet<unknown> = new Set([
  "APIConnectionError",
  "AuthenticationError",
  "PermissionDeniedError",
  "NotFoundError",
]);

/** Observes files one after another and reports each when done. If one fails, that is reported and the next is tried. */
async function observeFiles(
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

/** Characters of a description. */
const SHOWN_CHARS = 80;

/** The result of an observation, for a person. @param told why it ended early, which is shown too; undefined: it did not */
function reportLines(
  path: string,
  report: ObservationReport,
  told: string | undefined,
): readonly string[] {
  const { kind, visionModel, describePromptVersion: version } = report;
  const how = report.extract ? "extracted" : "stored as notes";
  const counts = fields([
    ["Capture clock", `${report.capturedAt} (${report.captureClock})`],
    ["Frames sampled", report.frames],
    ["Keyframes", report.keyframes],
    ["Described", report.described],
    ["Repeats dropped", report.repeatsDropped],
    ["Already observed", report.alreadyObserved],
    ["Admitted", report.admitted === 0 ? "0" : `${report.admitted} (${how})`],
    ["Failed", report.failed],
  ]);
  return [
    `${escaped(path)}: ${kind}, ${escaped(visionModel)}, prompt ${version}`,
    ...counts.map((line) => `  ${line}`),
    ...report.observations.flatMap((frame) => frameLine(frame, told)),
  ];
}

/** A file that was not observed, or only in part. */
function failureLine(path: string, error: SvcError): string {
  const { message } = error;
  // The message also has the name, which says less than the path.
  const name = [path, basename(path)].map(shownName).find((one) => message.startsWith(one)) ?? "";
  return `Error: ${escaped(path)}: ${escaped(message.slice(name.length).replace(/^:? /, ""))}`;
}

/** The failure of the frame that ended the observation is not repeated. */
function isTold(error: string, told: string | undefined): boolean {
  return told?.endsWith(error.replace(/^\w+: /, "")) === true;
}

function frameLine(frame: FrameObservation, told: string | undefined): readonly string[] {
  const at = frame.timeS === undefined ? "" : `${frame.timeS} s  `;
  if (frame.status === "failed") {
    const error = frame.error ?? "";
    return [`  failed  ${at}${isTold(error, told) ? "" : escaped(error)}`.trimEnd()];
  }
  if (frame.status !== "admitted") return [];
  const state =
    frame.extraction === undefined || frame.extraction === "complete"
      ? ""
      : `  (extraction ${frame.extraction})`;
  return [`  ${frame.eventId}  ${at}${shortened(frame.description ?? "", SHOWN_CHARS)}${state}`];
}

type ObserveOptions = PackOptions & {
  readonly userId?: string;
  readonly capturedAt?: string;
  readonly sessionId?: string;
  readonly scope?: Scope;
  readonly provider?: Config["vision"]["provider"];
  readonly model?: string;
  readonly baseUrl?: string;
  readonly extract?: boolean;
  readonly thumbnails: boolean;
};

export const observeCommand = packCommand(
  {
    name: "observe",
    description: "store what photos and videos show, as a vision model describes it",
    arguments: [PACK, ["<file...>", "photos, videos, or folders with them"]],
    options: [
      ownerOption(),
      new Option(
        "--captured-at <instant>",
        "when all of them were taken; without an offset: local time (default: what each file says)",
      ),
      new Option("--session-id <id>", "conversation they belong to (default: one for each file)"),
      choiceOption("--scope <scope>", "where they belong (default: personal)", SCOPES),
      new Option(
        "--provider <name>",
        "who runs the vision model (default: vision.provider)",
      ).choices(["ollama", "openai", "anthropic"]),
      new Option("--model <name>", "the vision model (default: vision.model)"),
      new Option("--base-url <url>", "address of the provider (default: vision.base_url)"),
      new Option("--extract", "extract claims from the descriptions (default: vision.extract)"),
      new Option("--no-extract", "keep each description as one note"),
      new Option("--no-thumbnails", "keep no small pictures (default: vision.keep_thumbnails)"),
    ],
    examples: `
Examples:
  svc observe ./memory.pack receipt.jpg
  svc observe ./memory.pack ~/Photos/2026 walk.mp4 --no-thumbnails
  svc observe ./memory.pack board.jpg --captured-at "2026-03-01 10:00" --provider openai --model gpt-4o

A vision model describes each photo, and each frame of a video that shows something new: by default one of Ollama on this machine
(ollama pull qwen3.5:9b). A hosted model is sent the pictures. Videos need ffmpeg. Running it again observes only what is missing.
Exits with 1 if a file or a frame failed.`,
  },
  async (context, path: string, files: readonly string[], options: ObserveOptions) => {
    const capturedAt = await momentOf(options.capturedAt, "--captured-at");
    const config = await configFor(context, path, options);
    const { listSources } = await import("../../../app/source-files.ts");
    const sources = await listSources(files);
    const isAny = sources.some(({ skipped }) => skipped === undefined);
    const stop = stopSignal();
    await withEngine(context, config, async (engine) => {
      const userId = await ownerFor(context, engine, {
        given: options.userId,
        path,
        isStoring: true,
      });
      context.output.note(
        isAny
          ? `Pictures are shown to ${modelInWords(config.vision)}.`
          : "No photo or video was found.",
      );
      const { sessionId, scope, format } = options;
      const about = { userId, capturedAt, sessionId, scope, signal: stop };
      await observeFiles(context, engine, { sources, about, format });
    });
  },
);

/** The configuration with the pack, its key, and the model options. */
async function configFor(
  context: CliContext,
  path: string,
  options: ObserveOptions,
): Promise<Config> {
  const { provider, model, baseUrl, extract, thumbnails, encryptionKey } = options;
  const config = configWithoutKey(context, path, undefined, {
    vision: {
      enabled: true,
      ...{ provider, model, extract },
      base_url: baseUrl,
      keep_thumbnails: thumbnails ? undefined : false,
    },
  });
  const { findKey } = await import("../../../app/pack-key.ts");
  return (await findKey(config, keyRequest(encryptionKey))).config;
}

function modelInWords({ provider, model, base_url: baseUrl }: Config["vision"]): string {
  // A settings file of the working directory may name it.
  return `${escaped(model)} (${provider}, ${reachedHost(provider, baseUrl)})`;
}
