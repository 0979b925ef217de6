import { modelRoot } from "../adapters/embedding/model-files.ts";
import { modelMismatch } from "../app/models.ts";
import type { Config } from "../config/schema.ts";
import { findModel, isSameEmbedding } from "../domain/embedding-models.ts";
import { SvcError } from "../domain/errors.ts";
import { isForeign } from "../domain/language.ts";
import { shellWord, shownName } from "../lib/text.ts";
import { costsInWords, type PackReport, reportOnFading } from "../packs/inspect-pack.ts";
import type { Counted } from "../ports/store/store.ts";

// Checks common to packs and databases.

/** The versions of svc that wrote the data. */
export function checkFormat(given: PackReport): readonly Finding[] {
  const { manifest, tableCount, tablesVersion, partitions } = given;
  const written = `format version ${manifest.formatVersion}, last written by svc ${shownName(manifest.softwareVersion)}`;
  const divided = partitions === undefined ? "" : `, those of owners in ${partitions} partitions`;
  const tables = `${tableCount} tables of version ${tablesVersion}${divided}`;
  return [
    { name: "format", status: "ok", message: written },
    { name: "tables", status: "ok", message: tables },
  ];
}

/** What waits, fades and costs, and whether the models fit. */
export async function checkUse(config: Config, report: PackReport): Promise<readonly Finding[]> {
  return [
    checkJobs(report),
    await checkFading(config, report.path),
    checkExtraction(config, report),
    checkEmbedding(config, report),
    ...checkLanguage(report),
    ...checkCosts(report),
  ];
}

/** Settings of the file that have no effect. @param shadowing variables of the environment that override them */
export function checkShadowing(shadowing: readonly string[]): readonly Finding[] {
  if (shadowing.length === 0) return [];
  const message = `the environment decides ${shadowing.join(", ")}; the settings file says something else, which has no effect`;
  return [{ name: "settings", status: "warn", message }];
}

/** Whether all searchable data is in the indexes. */
export function checkIndexes(report: PackReport): Finding {
  const { activeCount, vectorCount, lexicalCount, withoutVector, withoutLexical } = report;
  const counts = `${report.eventCount} events, ${report.nodeCount} nodes (${activeCount} active), ${vectorCount} vectors, ${lexicalCount} texts indexed`;
  const isWhole = withoutVector === 0 && withoutLexical === 0;
  return {
    name: "indexes",
    status: isWhole ? "ok" : "warn",
    message: isWhole
      ? counts
      : `${counts}; ${withoutVector} active nodes lack a vector and ${withoutLexical} a text entry, so some searches miss them; run: svc rebuild ${shellWord(report.path)}`,
  };
}

/** Whether every picture belongs to an event of its owner. No finding if there are none. */
export function checkPictures({ blobs: { count, bytes, stray } }: PackReport): readonly Finding[] {
  if (count + stray === 0) return [];
  const name = "pictures";
  const kept = `${count} with ${bytes} bytes`;
  if (stray === 0)
    return [{ name, status: "ok", message: `${kept}, each of an event of its owner` }];
  const message = `${kept}; ${stray} without an event, or named and not there. No svc leaves such: something else has written here. Restore a copy`;
  return [{ name, status: "warn", message }];
}

/** What fades with time, and what has faded without a setting that asks for it. @param pack as an argument of a command */
async function checkFading(config: Config, pack: string): Promise<Finding> {
  const name = "fading";
  const { soon, restorable, retained } = await reportOnFading(config);
  const { fading, fade_after_days: days, default_ttl_days: kept } = config.organizer;
  const isChosen = fading === "original" || Object.keys({ ...days, ...kept }).length > 0;
  const message = [
    soon === 0
      ? "nothing fades within 30 days"
      : `${soon} fade within 30 days unless they are used or pinned`,
    ...(restorable === 0 ? [] : [`${restorable} have faded before`]),
    ...(retained === 0 ? [] : [`${retained} have the retention that was once the default`]),
  ].join("; ");
  const isOffered = restorable + retained > 0;
  const offer = isOffered
    ? `. To have them back and keep them: svc restore ${shellWord(pack)} --faded`
    : "";
  return { name, status: isOffered && !isChosen ? "warn" : "ok", message: `${message}${offer}` };
}

function checkJobs({ pendingJobs, failedJobs, failingWork }: PackReport): Finding {
  const pending = `${pendingJobs} pending, ${failedJobs} of them failed before; they are worked on while a program has it open`;
  const messages = [
    ...(pendingJobs === 0 ? [] : [pending]),
    ...failingWork.map(
      ({ kind, attempts, lastError }) =>
        `background work ${kind} failed ${attempts} times in a row, last with ${lastError}; it is tried again`,
    ),
  ];
  if (messages.length === 0) return { name: "jobs", status: "ok", message: "no work is pending" };
  return { name: "jobs", status: "warn", message: messages.join("; ") };
}

/** Whether this program can use the vectors. */
function checkEmbedding(config: Config, { manifest, path, begunModel }: PackReport): Finding {
  const { model, dimension, version } = manifest.embedding;
  const name = "embedding";
  const mismatch = modelMismatch(config, path, manifest.embedding);
  if (mismatch !== undefined) return { name, status: "warn", message: mismatch };
  const unread = unpackFailure(model);
  if (unread !== undefined) {
    return { name, status: "warn", message: `memories are found by words alone: ${unread}` };
  }
  const message = `${shownName(model)} (${dimension} numbers, ${shownName(version)})`;
  if (begunModel === undefined || isSameEmbedding(begunModel, manifest.embedding)) {
    return { name, status: "ok", message };
  }
  return {
    name,
    status: "warn",
    message: `${message}; a rebuild with ${shownName(begunModel.model)} was begun. Unless it is running, finish it with: svc rebuild ${shellWord(path)}`,
  };
}

/** What the memory costs, as far as it was measured. */
function checkCosts(report: PackReport): readonly Finding[] {
  const message = costsInWords(report);
  return message === undefined ? [] : [{ name: "costs", status: "ok", message }];
}

/** Share of the newest memories, and number, from which another language is more than a quotation. */
const FOREIGN_SHARE = 0.05;
const FOREIGN_FROM = 3;

/** Whether an English model reads what is stored. No finding if it does. */
function checkLanguage({ manifest, recent, path }: PackReport): readonly Finding[] {
  if (findModel(manifest.embedding.model)?.isEnglish !== true) return [];
  const { length } = recent.texts;
  const foreign = recent.texts.filter(isForeign).length;
  if (foreign < Math.max(FOREIGN_FROM, length * FOREIGN_SHARE)) return [];
  const message = `${foreign} of the last ${length} memories are not in English, and the model reads English only: they are found by words, hardly by meaning. For about 100 languages: svc rebuild ${shellWord(path)} --model multilingual`;
  return [{ name: "language", status: "warn", message }];
}

/** Why the files of an included model cannot be used. */
function unpackFailure(name: string): string | undefined {
  const model = findModel(name);
  try {
    if (model !== undefined) modelRoot(model);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** An error in the words of a finding. */
export function reasonOf(error: unknown): string {
  if (error instanceof SvcError) return error.message;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** One finding about a pack or its surroundings. */
export type Finding = {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  /** What was found and, unless it is fine, what to do. */
  readonly message: string;
};

/** Whether extraction works or is stuck, and what it rejected from answers of models. */
export function checkExtraction(
  config: Config,
  { extraction, path }: Pick<PackReport, "extraction" | "path">,
): Finding {
  const { pending, failed, firstFailed, dropped } = extraction;
  const name = "extraction";
  const lacking = keyLacking(config);
  const notes = [
    ...(pending === 0
      ? []
      : [pending === 1 ? "1 text waits for it" : `${pending} texts wait for it`]),
    ...(dropped.length === 0
      ? []
      : [
          `left out of what models answered, because the text does not say it so: ${tell(dropped)}`,
        ]),
  ];
  if (firstFailed === undefined) {
    const status = lacking.length === 0 ? "ok" : "warn";
    return { name, status, message: [...lacking, ...notes].join("; ") || "no text waits for it" };
  }
  const { eventId, userId } = firstFailed;
  const given = sum(failed);
  const what = given === 1 ? "1 text was" : `${given} texts were`;
  const failure = `${what} given up after repeated failures: ${tell(failed)}; try ${given === 1 ? "it" : "the first"} again with: svc retry-extraction ${shellWord(path)} ${eventId} --user-id ${shellWord(userId)}`;
  return { name, status: "warn", message: [...lacking, failure, ...notes].join("; ") };
}

/** Extraction is on but cannot ask its provider. */
function keyLacking({ isExtractionOn, extraction }: Config): readonly string[] {
  const { provider, api_key: key } = extraction;
  if (isExtractionOn !== true || provider === "ollama" || key !== undefined) return [];
  return [
    `${provider} needs a key, and none is set: set SVC_EXTRACTION__API_KEY or ${provider.toUpperCase()}_API_KEY; until then texts wait`,
  ];
}

function tell(counts: readonly Counted[]): string {
  return counts.map(({ reason, times }) => `${reason} ${times}`).join(", ");
}

function sum(counts: readonly Counted[]): number {
  return counts.reduce((total, { times }) => total + times, 0);
}
