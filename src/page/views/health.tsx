import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { LIFECYCLE_STATES } from "../../domain/enums.ts";
import * as api from "../client/sdk.gen.ts";
import type { Examination, OrganizeResult, Stats, WouldChange } from "../client/types.gen.ts";
import { change } from "../data/changes.ts";
import { answered, asFailure, CallFailure, key } from "../data/http.ts";
import { assign, hrefOf } from "../data/place.ts";
import { caller, canChange, owner, owners, useQuery } from "../data/server.ts";
import {
  Button,
  Command,
  Facts,
  JsonButton,
  Measure,
  Section,
  TextLink,
  Title,
} from "../parts/controls.tsx";
import {
  bytes,
  clockTime,
  counted,
  encryption,
  memoryCount,
  now,
  number,
} from "../parts/format.ts";
import { useKeys } from "../parts/keys.ts";
import { Failure, Loaded, Skeleton, State, Warning } from "../parts/states.tsx";
import { Text } from "../parts/text.tsx";
import { commandsIn } from "./commands.ts";

export function Health(): VNode {
  const query = useQuery("health", read);
  const path = `/v1/stats?user_id=${encodeURIComponent(owner.value ?? "")}`;
  return (
    <>
      <Title data={query.data?.own} path={path}>
        {verdict()}
      </Title>
      <Loaded of={query}>
        {(figures) => (
          <div class="two">
            <div>
              <Examined size={figures.whole?.details?.bytes ?? undefined} />
              <Work of={figures.own} />
              <Organizer />
            </div>
            <aside class="aside" aria-label="Where it is kept">
              <StateCounts of={figures.own} />
              <PackFacts of={figures} />
            </aside>
          </div>
        )}
      </Loaded>
    </>
  );
}

async function read(user_id: string): Promise<Figures> {
  const [own, whole] = await Promise.all([
    answered(api.stats({ query: { user_id } })),
    caller.peek()?.is_operator === true ? answered(api.stats()) : undefined,
  ]);
  return { own, whole };
}

function verdict(): string {
  const { data } = examined.value;
  if (data === undefined) return "Health";
  if (data.failures > 0) return `${counted(data.failures, "thing is", "things are")} wrong`;
  return data.warnings > 0
    ? `${counted(data.warnings, "thing needs", "things need")} attention`
    : "Nothing is wrong";
}

const DOCTOR_STATUS = { ok: "passed", warn: "needs attention", fail: "wrong" };

/** A pack up to this size is examined automatically. */
const SMALL_BYTES = 100e6;

type Check = Examination["checks"][number];

function Examined({ size }: { size: number | undefined }): VNode {
  const isOperator = caller.value?.is_operator === true;
  const { data, at, failure, isRunning } = examined.value;
  const isSmall = size !== undefined && size <= SMALL_BYTES;
  useEffect(() => {
    if (isOperator && isSmall && data === undefined) void examine();
  }, [isOperator, isSmall]);
  const run = (): void => {
    if (isOperator) void examine();
  };
  useKeys([{ keys: "d", text: isOperator ? "examine it" : undefined, run }]);
  return (
    <Section
      title="What svc doctor finds"
      note={at === undefined ? undefined : `examined at ${clockTime(at)}`}
      end={data === undefined ? undefined : <JsonButton data={data} path="/v1/doctor" />}
    >
      {!isOperator && (
        <>
          <p class="dim">
            Your key is that of one owner. What belongs to all owners, the files and the programs,
            is examined with the key of an operator, or on its machine with:
          </p>
          <Command>svc doctor</Command>
        </>
      )}
      {failure !== undefined && (
        <Warning title="Nothing was examined." code={`${failure.status} · ${failure.code}`}>
          <Text of={failure.message} />
        </Warning>
      )}
      {data !== undefined && <Findings of={data} />}
      {isRunning && <Skeleton label="Reading everything that is there…" />}
      {isOperator && !isRunning && (
        <p class="run">
          <Button onClick={() => void examine()} keyName="d">
            {data === undefined ? "Examine" : "Examine again"}
          </Button>
          {data === undefined && size !== undefined && !isSmall && (
            <span class="dim small">
              Everything is read, which takes a while with {bytes(size)}. It is done when you ask
              for it.
            </span>
          )}
        </p>
      )}
    </Section>
  );
}

function Findings({ of: { checks } }: { of: Examination }): VNode {
  const costs = checks.find(({ name }) => name === "costs");
  const [passed, bad] = [true, false].map((isGood) =>
    checks
      .filter((check) => check !== costs && (check.status === "ok") === isGood)
      .toSorted((a, b) => Number(a.status === "warn") - Number(b.status === "warn"))
      .map((check) => <Finding key={check.name} of={check} />),
  );
  return (
    <>
      {bad !== undefined && bad.length > 0 && <ul class="findings">{bad}</ul>}
      {costs !== undefined && <p>It costs {costs.message}.</p>}
      <details class="passed">
        <summary>
          <span class="tri" aria-hidden="true">
            ›
          </span>
          <b>{counted(passed?.length ?? 0, "check")} passed</b>
        </summary>
        <ul class="findings">{passed}</ul>
      </details>
    </>
  );
}

const Finding = ({ of: { name, status, message } }: { of: Check }): VNode => (
  <li class={status === "ok" ? undefined : "todo"}>
    <StatusShape of={status} />
    <div>
      <b>{name}</b> <span class="vh">{DOCTOR_STATUS[status]}</span>
      <Text as="p" class="dim" of={message} />
      {status !== "ok" &&
        commandsIn(message).map((command) => <Command key={command}>{command}</Command>)}
    </div>
  </li>
);

/** Shows a status without colour: a tick, a diamond, a cross. */
const StatusShape = ({ of }: { of: Check["status"] }): VNode => (
  <svg width="14" height="14" viewBox="0 0 10 10" aria-hidden="true">
    {of === "ok" && <path class="s-good hollow" d="M1.5 5.5 4 8l4.5-6" stroke-width="1.6" />}
    {of === "warn" && <path class="s-edge hollow" d="M5 1 9 5 5 9 1 5z" stroke-width="1.5" />}
    {of === "fail" && <path class="s-clash" d="M1.5 1.5l7 7M8.5 1.5l-7 7" stroke-width="1.8" />}
  </svg>
);

type Examining = {
  readonly data?: Examination | undefined;
  readonly at?: number | undefined;
  readonly failure?: CallFailure | undefined;
  readonly isRunning: boolean;
};

const NONE: Examining = { isRunning: false };
const examined = signal<Examining>(NONE);
// Another key may belong to someone who may not see it.
key.subscribe(() => assign(examined, NONE));

async function examine(): Promise<void> {
  if (examined.peek().isRunning) return;
  const used = key.peek();
  examined.value = { ...examined.peek(), failure: undefined, isRunning: true };
  try {
    const data = await answered(api.examine());
    if (key.peek() === used) examined.value = { data, at: now(), isRunning: false };
  } catch (error) {
    if (key.peek() === used) examined.value = { failure: asFailure(error), isRunning: false };
  }
}

const BUDGET_MS = 5000;

function Work({ of: { details } }: { of: Stats }): VNode | null {
  const [isRunning, setRunning] = useState(false);
  const jobs = details?.jobs ?? { pending: 0, failed: 0 };
  const extractions = details?.extractions ?? { pending: 0, failed: 0 };
  const waiting = jobs.pending + extractions.pending;
  const canRun = canChange.value && waiting > 0;
  const run = async (): Promise<void> => {
    if (!canRun || isRunning) return;
    setRunning(true);
    const body = { user_id: owner.peek() ?? null, budget_ms: BUDGET_MS };
    const passes = [
      ...(jobs.pending > 0 ? [api.processMaterializations] : []),
      ...(extractions.pending > 0 ? [api.processExtractions] : []),
    ];
    let [done, left] = [0, 0];
    await change(
      async () => {
        for (const pass of passes) {
          const { processed, pending } = await answered(pass({ body }));
          done += processed;
          left += pending;
        }
      },
      () => `${number(done)} done, ${number(left)} left.`,
    );
    setRunning(false);
  };
  useKeys([{ keys: "w", text: canRun ? "do what waits" : undefined, run: () => void run() }]);
  if (details === null) return null;
  return (
    <Section title="Waiting work">
      {waiting + extractions.failed === 0 && (
        <p class="dim">No text waits to be indexed, and none to be extracted.</p>
      )}
      {jobs.pending > 0 && (
        <p>
          {counted(jobs.pending, "text is", "texts are")} not indexed yet
          {jobs.failed > 0 && (
            <span class="lost">; {number(jobs.failed)} of them failed before</span>
          )}
          .
        </p>
      )}
      {extractions.pending > 0 && (
        <p>Memories are still to be extracted from {counted(extractions.pending, "message")}.</p>
      )}
      {extractions.failed > 0 && (
        <p>{counted(extractions.failed, "message was", "messages were")} given up.</p>
      )}
      {waiting > 0 && (
        <p class="dim small">
          It is done by itself while a program has it open; questions find what is not indexed by
          its words alone.
        </p>
      )}
      {canRun && (
        <p class="run">
          <Button onClick={() => void run()} keyName="w" disabled={isRunning}>
            Do it now
          </Button>
        </p>
      )}
    </Section>
  );
}

const ORGANIZER_JOBS: Readonly<Record<string, string>> = {
  promote: "proved itself",
  decay_sweep: "faded",
  archive: "hardly any weight left",
  deduplicate: "there twice",
  alias_resolve: "two names of one",
  summarize: "summary",
  feedback_apply: "feedback",
  tombstone_sweep: "its time is over",
  consolidate: "similar ones",
};

function Organizer(): VNode {
  const [shown, setShown] = useState<"running" | OrganizeResult | CallFailure | undefined>();
  const isRunning = shown === "running";
  const preview = async (): Promise<void> => {
    if (isRunning || !canChange.peek()) return;
    setShown("running");
    setShown(await run(true).catch(asFailure));
  };
  const apply = async (): Promise<void> => {
    setShown("running");
    await change(
      () => run(false),
      (result) => `Organized: ${counted(sum(result, "nodes_modified"), "change")}.`,
    );
    setShown(undefined);
  };
  const text = canChange.value ? "show what the organizer would change" : undefined;
  useKeys([{ keys: "o", text, run: () => void preview() }]);
  return (
    <Section title="Organizer">
      <p class="dim">
        It keeps memories in order: what proved itself becomes stable, what faded or ended is
        archived, what is there twice becomes one. Nothing is deleted.
      </p>
      {canChange.value && (
        <p class="run">
          <Button onClick={() => void preview()} keyName="o" disabled={isRunning}>
            Show what it would change
          </Button>
        </p>
      )}
      {isRunning && <Skeleton label="Looking through the memories…" />}
      {shown instanceof CallFailure ? (
        <Failure of={shown} />
      ) : (
        typeof shown === "object" && <Preview of={shown} onApply={() => void apply()} />
      )}
    </Section>
  );
}

async function run(isDry: boolean): Promise<OrganizeResult> {
  const user_id = owner.peek() ?? null;
  return await answered(api.organize({ body: { user_id, dry_run: isDry, budget_ms: BUDGET_MS } }));
}

function sum({ per_job }: OrganizeResult, what: "nodes_modified" | "errors"): number {
  return Object.values(per_job).reduce((total, job) => total + job[what], 0);
}

function Preview({ of: result, onApply }: { of: OrganizeResult; onApply: () => void }): VNode {
  const { changes, more } = result.would_change ?? { changes: [], more: 0 };
  const errors = sum(result, "errors");
  const count = changes.length + more;
  return (
    <div role="status" class="preview-of">
      <p>
        <b>
          {count === 0 ? "It would change nothing." : `It would make ${counted(count, "change")}:`}
        </b>{" "}
        <span class="dim">Checked by {counted(result.jobs_run.length, "job")}.</span>
      </p>
      {errors > 0 && (
        <p class="lost">{memoryCount(errors)} could not be looked at and stayed as they were.</p>
      )}
      {count > 0 && (
        <>
          <ul class="would">
            {changes.map((one) => (
              <Would key={`${one.job} ${one.target_id}`} of={one} />
            ))}
            {more > 0 && <li class="dim">and {number(more)} more</li>}
          </ul>
          {canChange.value && (
            <p class="run">
              <Button kind="main" onClick={onApply}>
                Change them
              </Button>
              <span class="dim small">
                Jobs run one after the other, so a later job sees what an earlier one changed. Each
                change is in the log, with the memory before and after it.
              </span>
            </p>
          )}
        </>
      )}
    </div>
  );
}

function Would({ of }: { of: WouldChange["changes"][number] }): VNode {
  const { job, content, target_id, to } = of;
  return (
    <li>
      <TextLink href={hrefOf("memory", target_id)} text={content ?? "a memory without a text"} />
      <span class="small">
        {ORGANIZER_JOBS[job] ?? job}
        {to !== null && "; becomes "}
        {to !== null && <State of={to} />}
      </span>
    </li>
  );
}

type Figures = { readonly own: Stats; readonly whole: Stats | undefined };

function StateCounts({ of: { details } }: { of: Stats }): VNode {
  const counts = details?.states ?? {};
  const present = LIFECYCLE_STATES.filter((state) => (counts[state] ?? 0) > 0);
  const most = Math.max(1, ...present.map((state) => counts[state] ?? 0));
  return (
    <Section side title="Memories by state">
      <ul class="tally">
        {present.map((state) => (
          <li key={state}>
            <State of={state} />
            <Measure of={(counts[state] ?? 0) / most} />
            <a href={hrefOf("timeline", "", { state })}>{number(counts[state] ?? 0)}</a>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Properties of the pack. An operator also sees the figures of all owners, but not their records. */
function PackFacts({ of: { own, whole } }: { of: Figures }): VNode | null {
  const { details, backend } = own;
  if (details === null) return null;
  const { model, dimension, version } = details.model;
  const size = whole?.details?.bytes ?? null;
  const embeddings = (whole ?? own).details?.embeddings ?? null;
  const isPack = backend === "sqlite";
  const rows = [
    ["active memories", own.node_count, whole?.node_count],
    ["events", own.event_count, whole?.event_count],
    ["receipts", details.receipts, whole?.details?.receipts],
  ] as const;
  return (
    <Section side title={isPack ? "The pack" : "The database"}>
      <Facts
        of={[
          ["kept", `${isPack ? "SQLite" : "PostgreSQL"}, ${encryption(details.encrypted)}`],
          size !== null && ["size", bytes(size)],
          whole !== undefined && ["owners", number(owners.value.length)],
          ["changes", details.read_only ? "refused: read-only" : "allowed"],
          [
            "model",
            <>
              <Text of={model} line />
              <span class="small block">
                {number(dimension)} numbers a text, <Text of={version} line />
              </span>
            </>,
          ],
          embeddings !== null && ["embedded", <Embedded of={embeddings} />],
          ["program", `svc ${caller.value?.version ?? ""}`],
        ]}
      />
      <table class="counts">
        <thead>
          <tr>
            <td />
            <th scope="col">
              <Text of={`of ${owner.value ?? ""}`} line />
            </th>
            {whole !== undefined && <th scope="col">of all owners</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...counts]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {counts.map(
                (count, index) => count !== undefined && <td key={index}>{number(count)}</td>,
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

type Embeddings = NonNullable<NonNullable<Stats["details"]>["embeddings"]>;

const Embedded = ({ of: { computed, asked, failed } }: { of: Embeddings }): VNode => (
  <>
    {number(computed)} texts since the start; {number(asked - computed)} were remembered
    {failed > 0 && <span class="lost block">{counted(failed, "failure")}</span>}
  </>
);
