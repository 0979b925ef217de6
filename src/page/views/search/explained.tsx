import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { RetrievalReceipt } from "../../client/types.gen.ts";
import { t } from "../../language/texts.ts";
import { Moment } from "../../parts/controls.tsx";
import { Box, Warning } from "../../parts/states.tsx";
import { Text } from "../../parts/text.tsx";
import type { Answer } from "./answer.ts";
import { type Checked, check } from "./checks.ts";
import { Context } from "./context.tsx";
import { Funnel, stagesOf } from "./funnel.tsx";
import { Hits } from "./hits.tsx";
import { LeftOut } from "./left-out.tsx";
import { nameOf } from "./names.ts";

/** An answer taken apart: a sentence, the stages, what is in the context and why, what is not and why not. */
export function Explained({ answer }: { answer: Answer }): VNode {
  const { explanation } = answer;
  // Pointing at a memory draws its two lines, and not the whole answer.
  const line = useSignal<string | undefined>(undefined);
  const failed = explanation.searches.filter(({ failure }) => failure !== null);
  return (
    <article class="explained">
      <div class="verdict">
        <Verdict answer={answer} />
        <Seal answer={answer} />
      </div>
      {failed.map(({ name, failure }) => (
        <Warning key={name} title={t.search.failedTitle(nameOf(name))} code={`${name}: ${failure}`}>
          {t.search.failedText}
        </Warning>
      ))}
      {explanation.notes.map((note) => (
        <p key={note} class="small">
          {note}
        </p>
      ))}
      <Funnel of={explanation} />
      {explanation.in_context.length === 0 && explanation.not_in_context.length === 0 ? (
        <Box title={t.search.nothing}>
          <p>{t.search.noneText}</p>
        </Box>
      ) : (
        <div class="cols">
          <div>
            <Hits answer={answer} line={line} />
            <LeftOut answer={answer} />
          </div>
          <Context answer={answer} line={line} />
        </div>
      )}
    </article>
  );
}

function Verdict({ answer: { explanation } }: { answer: Answer }): VNode {
  const { found, filtered, selected, unpacked } = stagesOf(explanation);
  const rest = [
    t.search.found(found),
    [
      ...(filtered > 0 ? [t.search.notAllowed(filtered)] : []),
      ...(selected > 0 ? [t.search.weaker(selected)] : []),
      ...(unpacked > 0 ? [t.search.unpacked(unpacked)] : []),
    ].join(", "),
  ].filter((part) => part !== "");
  return (
    <div>
      <p class="asked">
        <Text of={explanation.query} line />
      </p>
      <h1>
        {found === 0 ? t.search.nothing : t.search.reached(explanation.in_context.length)}{" "}
        {found > 0 && <em>{rest.join("; ")}.</em>}
      </h1>
    </div>
  );
}

/** What was checked in this page, not merely claimed by the server. */
function Seal({ answer }: { answer: Answer }): VNode {
  const { receipt, explanation, ms } = answer;
  const [checked, setChecked] = useState<{ of: RetrievalReceipt; found: Checked } | undefined>();
  useEffect(() => {
    let isShown = true;
    void check(receipt).then((found) => {
      if (isShown) setChecked({ of: receipt, found });
    });
    return () => {
      isShown = false;
    };
  }, [receipt]);
  const { checks } = t.search;
  return (
    <p class="seal">
      {checked?.of === receipt ? <Outcome of={checked.found} /> : <span>{checks.running}</span>}
      <br />
      {ms === undefined ? (
        <>
          {checks.receipt} <span class="mono">…{receipt.request_id.slice(-12)}</span>
        </>
      ) : (
        checks.noReceipt
      )}
      {" · "}
      <Moment at={explanation.created_at} />
      {ms !== undefined && ` · ${checks.ms(ms)}`}
    </p>
  );
}

function Outcome({ of: { isChecksumRight, wrongScores } }: { of: Checked }): VNode {
  const { checks } = t.search;
  const isGood = isChecksumRight !== false && wrongScores === 0;
  const checksum =
    isChecksumRight === undefined
      ? checks.unchecked
      : isChecksumRight
        ? checks.checksum
        : checks.noChecksum;
  return (
    <span class={isGood ? "ok" : "lost"}>
      {isGood ? "✓ " : "✗ "}
      {checksum}, {wrongScores === 0 ? checks.scores : checks.noScores(wrongScores)}
    </span>
  );
}
