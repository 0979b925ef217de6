import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../client/sdk.gen.ts";
import type { ImportReport } from "../client/types.gen.ts";
import { answered, asFailure, type CallFailure, isLost } from "../data/http.ts";
import { forgetAnswers, owner, stats, storeChanged } from "../data/server.ts";
import { Button, Dialog, Facts } from "../parts/controls.tsx";
import { counted, memoryCount, number, span } from "../parts/format.ts";
import { Skeleton, Warning } from "../parts/states.tsx";
import { Text } from "../parts/text.tsx";
import { say } from "../parts/toasts.tsx";
import { Listed } from "./forgetting.tsx";

const SAMPLES = 5;
/** For a dialog that was closed meanwhile. */
const UNDO_MS = 20_000;
const VOICES: Readonly<Record<string, string>> = {
  said: "messages of yours",
  other: "messages of others",
  answer: "answers of assistants",
  tool: "outputs of tools",
  derived: "made by another system",
  document: "parts of documents",
};
const STATES = ["new", "changed", "unchanged", "forgotten"] as const;

type Props = { readonly dropped: File | undefined; readonly onClose: () => void };

/** Shows what a file would bring in, brings it in, and takes it back. */
export function Import({ dropped, onClose }: Props): VNode {
  const [file, setFile] = useState(dropped);
  const [report, setReport] = useState<ImportReport | undefined>(undefined);
  const [failure, setFailure] = useState<CallFailure | undefined>(undefined);
  /** How many messages were there when it began; undefined: nothing is being written. */
  const [before, setBefore] = useState<number | undefined>(undefined);
  const looking = useRef(new AbortController());
  const isOpen = useRef(true);
  const call = (body: File, dry_run: boolean, signal?: AbortSignal): Promise<ImportReport> => {
    const about = { source_name: body.name, dry_run, sample: dry_run ? SAMPLES : 0 };
    const query = { user_id: owner.peek() ?? "", ...about };
    return answered(api.importSource({ body, query, ...(signal && { signal }) }));
  };
  const look = (chosen: File | undefined): void => {
    looking.current.abort();
    looking.current = new AbortController();
    const { signal } = looking.current;
    setFile(chosen);
    setReport(undefined);
    setFailure(undefined);
    if (chosen === undefined) return;
    call(chosen, true, signal).then(
      (found) => signal.aborted || setReport(found),
      (error: unknown) => signal.aborted || setFailure(asFailure(error)),
    );
  };
  useEffect(() => {
    // Without one, a file may have been chosen before this runs.
    if (before === undefined && dropped !== undefined) look(dropped);
  }, [dropped]);
  useEffect(
    () => () => {
      isOpen.current = false;
      looking.current.abort();
    },
    [],
  );
  const run = async (body: File): Promise<void> => {
    setBefore(stats.peek()?.event_count ?? 0);
    try {
      const done = await call(body, false);
      setReport(done);
      if (!isOpen.current) say(toldOf(done), { ...undoOf(done), ms: UNDO_MS });
    } catch (error) {
      setFailure(asFailure(error));
      if (!isOpen.current) say(`Not imported. ${asFailure(error).message}`, { isFailure: true });
    }
    setBefore(undefined);
    storeChanged();
  };
  const isNew = report !== undefined && countOf(report, "new") + countOf(report, "changed") > 0;
  const isDone = report?.dry_run === false;
  const undo = report && undoOf(report).undo;
  return (
    <Dialog title="Bring in a file" onClose={onClose} class="wide">
      <form
        class="correct"
        onSubmit={(event) => {
          event.preventDefault();
          if (file !== undefined) void run(file);
        }}
      >
        <label>
          <span class="small">
            An export of ChatGPT, Claude.ai or Gemini, another program's memory, notes, a PDF or
            Office file, or a zip file of them. Choose it here, or drop it on this page.
          </span>
          <input
            type="file"
            disabled={before !== undefined}
            onChange={({ currentTarget }) => look(currentTarget.files?.[0])}
          />
        </label>
        {failure !== undefined && (
          <Warning title="Not imported." code={`${failure.status} · ${failure.code}`}>
            <Text
              of={
                isLost(failure)
                  ? "It could not be sent; put a folder into a zip file."
                  : failure.message
              }
            />
          </Warning>
        )}
        {file !== undefined && report === undefined && failure === undefined && (
          <Skeleton label="Reading the file…" />
        )}
        <div role="status">
          {before !== undefined && <p>Importing. You can close this; it goes on.</p>}
          {before === undefined && report !== undefined && <p>{toldOf(report)}</p>}
        </div>
        {before !== undefined && report !== undefined && <Going of={report} before={before} />}
        {report !== undefined && <Report of={report} />}
        <div class="acts">
          {!isDone && (
            <Button kind="main" submits disabled={!isNew || before !== undefined}>
              Import it
            </Button>
          )}
          {isDone && undo !== undefined && (
            <Button
              kind="danger"
              onClick={() => {
                onClose();
                undo();
              }}
            >
              Undo: erase what it brought
            </Button>
          )}
          <Button onClick={onClose}>{isDone || before !== undefined ? "Close" : "Cancel"}</Button>
        </div>
      </form>
    </Dialog>
  );
}

function countOf({ records }: ImportReport, state: (typeof STATES)[number]): number {
  return Object.values(records).reduce((sum, tally) => sum + tally[state], 0);
}

function toldOf(report: ImportReport): string {
  const written = countOf(report, "new") + countOf(report, "changed");
  if (written === 0) return "There is nothing new in it.";
  return report.dry_run
    ? `It would bring in ${memoryCount(written)}. Nothing is written yet.`
    : `Imported ${memoryCount(written)}. All can be found by their words.`;
}

function undoOf({ import_id }: ImportReport): { readonly undo?: () => void } {
  if (import_id === null) return {};
  const undo = async (): Promise<void> => {
    const what = { path: { import_id }, query: { user_id: owner.peek() ?? "" } };
    const told = await answered(api.undoImport(what)).then(
      ({ memories }) => [`Taken back: ${memoryCount(memories)} erased.`] as const,
      (error: unknown) => [`Not taken back. ${asFailure(error).message}`, true] as const,
    );
    say(told[0], { isFailure: told[1] });
    forgetAnswers();
    storeChanged();
  };
  return { undo: () => void undo() };
}

function Going({ of, before }: { of: ImportReport; before: number }): VNode {
  const all = countOf(of, "new") + countOf(of, "changed");
  const done = Math.min(all, Math.max(0, (stats.value?.event_count ?? before) - before));
  return (
    <p>
      <progress value={done} max={all} aria-label="Written" /> {number(done)} of {number(all)}
    </p>
  );
}

function Report({ of }: { of: ImportReport }): VNode {
  const { sources, records, left_out, secrets, unreadable, unreadable_count, samples } = of;
  const sums = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([what, count]) => `${number(count)} ${what}`)
      .join(" · ");
  const rows = Object.entries(records).map(([voice, tally]) => {
    const told = STATES.filter((state) => tally[state] > 0);
    return [
      VOICES[voice] ?? voice,
      told.map((state) => `${number(tally[state])} ${state}`).join(" · "),
    ] as const;
  });
  return (
    <>
      {sources.map(({ title, files, conversations, first_time, last_time }) => (
        <p key={title}>
          <b>{title}</b>, {counted(files, "file")}
          {conversations > 0 && `, ${counted(conversations, "conversation")}`}
          {first_time !== null && `, ${span(first_time, last_time)}`}
        </p>
      ))}
      <Facts
        of={[
          ...rows,
          sums(left_out) !== "" && ["left out", sums(left_out)],
          sums(secrets) !== "" && ["secrets replaced", sums(secrets)],
          of.without_time > 0 && ["without a time", number(of.without_time)],
        ]}
      />
      {unreadable_count > 0 && (
        <Listed
          title={`Cannot be read: ${number(unreadable_count)}`}
          of={unreadable.map(({ file, as, why }, index) => ({
            ...{ id: String(index), excerpt: file, note: `${as}: ${why}` },
          }))}
        />
      )}
      {samples.length > 0 && (
        <Listed
          title="The first of it"
          of={samples.map(({ content, voice }, index) => ({
            ...{ id: String(index), excerpt: String(content) },
            note: VOICES[String(voice)] ?? String(voice),
          }))}
        />
      )}
    </>
  );
}
