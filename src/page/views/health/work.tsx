import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { processExtractions, processMaterializations } from "../../client/sdk.gen.ts";
import type { Stats } from "../../client/types.gen.ts";
import { change } from "../../data/changes.ts";
import { answered } from "../../data/http.ts";
import { canChange, owner } from "../../data/server.ts";
import { t } from "../../language/texts.ts";
import { Button, Head } from "../../parts/controls.tsx";
import { useKeys } from "../../parts/keys.ts";

/** Milliseconds that the server may spend at one press. */
const BUDGET_MS = 5000;

/** What is admitted and not done yet, and does it. */
export function Work({ of: { details } }: { of: Stats }): VNode | null {
  const [isRunning, setRunning] = useState(false);
  const jobs = details?.jobs ?? { pending: 0, failed: 0 };
  const extractions = details?.extractions ?? { pending: 0, failed: 0 };
  const waiting = jobs.pending + extractions.pending;
  const canRun = canChange.value && waiting > 0;
  const run = async (): Promise<void> => {
    if (!canRun || isRunning) return;
    setRunning(true);
    await work(jobs.pending > 0, extractions.pending > 0);
    setRunning(false);
  };
  useKeys([{ keys: "w", text: canRun ? t.health.keys.work : undefined, run: () => void run() }]);
  if (details === null) return null;
  const words = t.health.work;
  return (
    <section class="sect">
      <Head title={words.title} />
      {waiting + extractions.failed === 0 && <p class="dim">{words.none}</p>}
      {jobs.pending > 0 && <Waiting text={words.texts(jobs.pending)} more={failedOf(jobs)} />}
      {extractions.pending > 0 && <Waiting text={words.messages(extractions.pending)} />}
      {extractions.failed > 0 && <Waiting text={words.givenUp(extractions.failed)} />}
      {waiting > 0 && <p class="dim small">{words.note}</p>}
      {canRun && (
        <p class="run">
          <Button onClick={() => void run()} keyName="w" disabled={isRunning}>
            {words.run}
          </Button>
        </p>
      )}
    </section>
  );
}

function failedOf({ failed }: { failed: number }): string | undefined {
  return failed === 0 ? undefined : t.health.work.failed(failed);
}

function Waiting({ text, more }: { text: string; more?: string | undefined }): VNode {
  return (
    <p>
      {text}
      {more !== undefined && <span class="lost">; {more}</span>}.
    </p>
  );
}

async function work(hasJobs: boolean, hasExtractions: boolean): Promise<void> {
  const body = { user_id: owner.peek() ?? null, budget_ms: BUDGET_MS };
  const passes = [
    ...(hasJobs ? [() => answered(processMaterializations({ body }))] : []),
    ...(hasExtractions ? [() => answered(processExtractions({ body }))] : []),
  ];
  await change(
    async () => {
      let [done, left] = [0, 0];
      for (const pass of passes) {
        const { processed, pending } = await pass();
        done += processed;
        left += pending;
      }
      return t.health.work.done(done, left);
    },
    (text) => text,
  );
}
