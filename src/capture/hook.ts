/** One run of `svc hook`: what it does with a payload. It loads neither settings nor commands. */
import { type Heard, hear, replyTo, TRIAL_SESSION, takesText } from "./clients.ts";
import type { Project } from "./project.ts";
import { projectAt } from "./projects.ts";
import type { Recalled, RecallRequest } from "./recall.ts";
import type { HookAnswer, HookRequest } from "./receive.ts";
import {
  addShown,
  claimSweep,
  environment,
  forgetShown,
  logRun,
  readShown,
  spool,
  sweepShown,
  switchedOff,
  userSecret,
} from "./state.ts";
import { isCommand, keepable, questionOf } from "./texts.ts";
import { type Turn, turnId } from "./turn.ts";

/** Where the memory of a hook is, and how the process that has it open is asked. */
export type HookPlace = {
  /** Undefined: no pack is named. */
  readonly mainFile: string | undefined;
  /** Whether nothing is there, for example since it was moved. */
  readonly isMissing?: boolean;
  readonly user: string | undefined;
  /** Calls back with each answer. Resolves when no more come: to false at once if no process has the pack open. */
  readonly ask: (request: HookRequest, answered: (answer: HookAnswer) => void) => Promise<boolean>;
  /** Searches in this process, by words alone. Absent: it cannot. */
  readonly search?: ((request: RecallRequest) => Promise<Recalled>) | undefined;
  /** Starts a process that stores what transcripts say and no hook delivered. */
  readonly sweep?: (() => void) | undefined;
};

/** Milliseconds for which a session is remembered that shows nothing new. */
const SHOWN_MS = 30 * 86_400_000;
/** Tokens that one session is shown in all. */
const SESSION_TOKENS = 4000;
/** Milliseconds after which an answer is given, with or without memories. */
const DEADLINE_MS = 200;
/** A prompt that begins with it is neither stored nor looked up. */
const NO_MEMORY = /^\s*!nomem\b/i;

/**
 * Reads a payload, stores or recalls, and says what to print. Never throws: an assistant goes on whatever happens here.
 * @returns the text for standard output, possibly empty
 */
export async function runHook(
  payload: string,
  named: string,
  place: () => Promise<HookPlace>,
  deadlineMs: number = DEADLINE_MS,
): Promise<string> {
  const end = performance.now() + deadlineMs;
  let heard: Heard | undefined;
  let did = "nothing";
  let reply: object | undefined;
  try {
    heard = hear(JSON.parse(payload), environment);
    if (heard !== undefined) {
      const why = NO_MEMORY.test(heard.text) ? "!nomem" : switchedOff(heard);
      const done =
        why === undefined ? await handle(heard, await place(), end) : { did: `off:${why}` };
      did = done.did;
      reply = replyTo(heard, done.block);
    }
  } catch (error) {
    did = `failed:${codeOf(error)}`;
    reply = heard && replyTo(heard, undefined);
  }
  const { client = named, event = "" } = heard ?? {};
  const ms = Math.round(performance.now() * 10) / 10;
  if (heard?.session !== TRIAL_SESSION)
    logRun({ at: new Date().toISOString(), client, event, ms, did });
  return reply === undefined ? "" : `${JSON.stringify(reply)}\n`;
}

type Done = { readonly did: string; readonly block?: string | undefined };

async function handle(heard: Heard, place: HookPlace, end: number): Promise<Done> {
  const { mainFile } = place;
  if (mainFile === undefined) return { did: "failed:no_pack" };
  if (heard.moment === "start") begin(heard, place);
  const project = projectAt(heard.folder);
  const turn = turnOf(heard, project, place.user);
  const recall = recallOf(heard, project, place.user);
  if (turn === undefined && recall === undefined) return { did: "nothing" };
  let stored: string | undefined;
  let recalled: Recalled | undefined;
  const asking = place.ask({ turn, recall }, (answer) => {
    if ("stored" in answer) stored = answer.stored;
    else recalled = answer.recalled;
  });
  const isServed = await before(end, asking, true);
  if (turn !== undefined && stored === undefined) {
    spool(mainFile, turn);
    stored = place.isMissing ? "failed:no_pack+spooled" : "spooled";
  }
  if (!isServed && recall?.question !== undefined) recalled = await searched(place, recall, end);
  if (recalled?.block === undefined) return { did: stored ?? "nothing" };
  if (heard.session !== TRIAL_SESSION) addShown(heard.session, recalled.ids, recalled.tokens);
  return { did: stored === undefined ? "recalled" : `${stored}+recalled`, block: recalled.block };
}

function begin({ source, session }: Heard, { sweep }: HookPlace): void {
  if (source === "compact" || source === "clear") forgetShown(session);
  sweepShown(SHOWN_MS);
  if (sweep !== undefined && session !== TRIAL_SESSION && claimSweep()) sweep();
}

async function searched(
  { search }: HookPlace,
  recall: RecallRequest,
  end: number,
): Promise<Recalled | undefined> {
  const found = search && (await before(end, search(recall), undefined));
  // A search lets no timer in between.
  return performance.now() < end ? found : undefined;
}

function turnOf(
  { client, moment, session, text: said }: Heard,
  project: Project | undefined,
  user: string | undefined,
): Turn | undefined {
  if (moment === "start" || isCommand(said)) return undefined;
  const kept = keepable(said);
  if (kept === undefined) return undefined;
  const { text, secrets } = kept;
  const role = moment === "prompt" ? "user" : "assistant";
  const at = new Date().toISOString();
  const turn = { client, session, role, text, at, user, project, secrets } as const;
  return { id: turnId(userSecret(), turn), ...turn };
}

function recallOf(
  heard: Heard,
  project: Project | undefined,
  user: string | undefined,
): HookRequest["recall"] {
  if (heard.moment === "answer" || !takesText(heard)) return undefined;
  const isStart = heard.moment === "start";
  if (!isStart && isCommand(heard.text)) return undefined;
  const question = isStart ? undefined : questionOf(heard.text);
  if (!isStart && question === undefined) return undefined;
  const { ids: seen, tokens } = readShown(heard.session);
  const tokensLeft = SESSION_TOKENS - tokens;
  if (tokensLeft <= 0) return undefined;
  const { client, session } = heard;
  return { question, user, project, session, seen, tokensLeft, client };
}

/** @returns `late` after the deadline; undefined if the work fails */
async function before<T>(end: number, work: Promise<T>, late: T): Promise<T | undefined> {
  const { promise: over, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(() => resolve(late), Math.max(1, end - performance.now()));
  const done = await Promise.race([work.catch(() => undefined), over]);
  clearTimeout(timer);
  return done;
}

function codeOf(error: unknown): string {
  if (error instanceof SyntaxError) return "payload";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return code === "" ? (error instanceof Error ? error.name : "unknown") : code;
}
