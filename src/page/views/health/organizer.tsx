import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { organize } from "../../client/sdk.gen.ts";
import type { OrganizeResult, WouldChange } from "../../client/types.gen.ts";
import { change } from "../../data/changes.ts";
import { asFailure, type CallFailure } from "../../data/failure.ts";
import { answered } from "../../data/http.ts";
import { hrefOf } from "../../data/place.ts";
import { canChange, owner } from "../../data/server.ts";
import { t } from "../../language/texts.ts";
import { Button, Head } from "../../parts/controls.tsx";
import { useKeys } from "../../parts/keys.ts";
import { State } from "../../parts/state.tsx";
import { Failure, Skeleton } from "../../parts/states.tsx";
import { Text } from "../../parts/text.tsx";

/** Milliseconds that a run may take. */
const BUDGET_MS = 5000;

type Shown =
  | { readonly kind: "nothing" | "running" }
  | { readonly kind: "preview"; readonly result: OrganizeResult }
  | { readonly kind: "failed"; readonly failure: CallFailure };

/** What the organizer would change, and changes it once that has been seen. */
export function Organizer(): VNode {
  const [shown, setShown] = useState<Shown>({ kind: "nothing" });
  const words = t.health.organizer;
  const isRunning = shown.kind === "running";
  const preview = async (): Promise<void> => {
    if (isRunning || !canChange.peek()) return;
    setShown({ kind: "running" });
    try {
      setShown({ kind: "preview", result: await run(true) });
    } catch (error) {
      setShown({ kind: "failed", failure: asFailure(error) });
    }
  };
  const apply = async (): Promise<void> => {
    setShown({ kind: "running" });
    await change(
      () => run(false),
      (result) => words.done(sum(result, "nodes_modified")),
    );
    setShown({ kind: "nothing" });
  };
  useKeys([
    {
      keys: "o",
      text: canChange.value ? t.health.keys.organize : undefined,
      run: () => void preview(),
    },
  ]);
  return (
    <section class="sect">
      <Head title={words.title} />
      <p class="dim">{words.what}</p>
      {canChange.value && (
        <p class="run">
          <Button onClick={() => void preview()} keyName="o" disabled={isRunning}>
            {words.preview}
          </Button>
        </p>
      )}
      {isRunning && <Skeleton label={words.running} />}
      {shown.kind === "failed" && <Failure of={shown.failure} />}
      {shown.kind === "preview" && <Preview of={shown.result} onApply={() => void apply()} />}
    </section>
  );
}

async function run(isDry: boolean): Promise<OrganizeResult> {
  const user_id = owner.peek() ?? null;
  return await answered(organize({ body: { user_id, dry_run: isDry, budget_ms: BUDGET_MS } }));
}

function sum({ per_job }: OrganizeResult, what: "nodes_modified" | "errors"): number {
  return Object.values(per_job).reduce((total, job) => total + job[what], 0);
}

function Preview({ of: result, onApply }: { of: OrganizeResult; onApply: () => void }): VNode {
  const words = t.health.organizer;
  const { changes, more } = result.would_change ?? { changes: [], more: 0 };
  const errors = sum(result, "errors");
  const count = changes.length + more;
  return (
    <div role="status" class="preview-of">
      <p>
        <b>{count === 0 ? words.nothing : words.would(count)}</b>{" "}
        <span class="dim">{words.ran(result.jobs_run.length)}</span>
      </p>
      {errors > 0 && <p class="lost">{words.errors(errors)}</p>}
      {count > 0 && (
        <>
          <ul class="would">
            {changes.map((one) => (
              <Would key={`${one.job} ${one.target_id}`} of={one} />
            ))}
            {more > 0 && <li class="dim">{words.more(more)}</li>}
          </ul>
          {canChange.value && (
            <p class="run">
              <Button kind="main" onClick={onApply}>
                {words.apply}
              </Button>
              <span class="dim small">{words.applyNote}</span>
            </p>
          )}
        </>
      )}
    </div>
  );
}

function Would({
  of: { job, content, target_id, to },
}: {
  of: WouldChange["changes"][number];
}): VNode {
  const words = t.health.organizer;
  const reasons: Readonly<Record<string, string>> = words.jobs;
  return (
    <li>
      <a href={hrefOf("memory", target_id)}>
        <Text of={content ?? words.untold} line />
      </a>
      <span class="small">
        {reasons[job] ?? job}
        {to !== null && (
          <>
            ; {words.to} <State of={to} />
          </>
        )}
      </span>
    </li>
  );
}
