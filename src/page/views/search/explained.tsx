import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { t } from "../../language/texts.ts";
import { Moment } from "../../parts/controls.tsx";
import { Box, Warning } from "../../parts/states.tsx";
import { Text } from "../../parts/text.tsx";
import type { Answer } from "./answer.ts";
import { isChecksumRight, provenancesOf, wrongScores } from "./checks.ts";
import { Context } from "./context.tsx";
import { Funnel, stagesOf } from "./funnel.tsx";
import { Hits } from "./hits.tsx";
import { LeftOut } from "./left-out.tsx";
import { nameOf } from "./names.ts";

/** An answer taken apart: a sentence, the stages, what is in the context and why, what is not and why not. */
export function Explained({ answer }: { answer: Answer }): VNode {
  const { explanation, receipt } = answer;
  const provenances = useMemo(() => provenancesOf(receipt), [receipt]);
  const [line, setLine] = useState<string | undefined>(undefined);
  const failed = explanation.searches.filter(({ failure }) => failure !== null);
  return (
    <article class="explained">
      <div class="verdict">
        <Verdict answer={answer} />
        <Seal answer={answer} wrong={wrongScores(receipt, provenances)} />
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
            <Hits answer={answer} provenances={provenances} line={line} onLine={setLine} />
            <LeftOut answer={answer} />
          </div>
          <Context answer={answer} line={line} onLine={setLine} />
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
function Seal({ answer, wrong }: { answer: Answer; wrong: number }): VNode {
  const { receipt, explanation, ms } = answer;
  const [isRight, setRight] = useState<boolean | undefined>(undefined);
  useEffect(() => {
    void isChecksumRight(receipt).then(setRight);
  }, [receipt]);
  const { checks } = t.search;
  const isGood = isRight !== false && wrong === 0;
  const checksum =
    isRight === undefined ? checks.unchecked : isRight ? checks.checksum : checks.noChecksum;
  return (
    <p class="seal">
      <span class={isGood ? "ok" : "lost"}>
        {isGood ? "✓ " : "✗ "}
        {checksum}, {wrong === 0 ? checks.scores : checks.noScores(wrong)}
      </span>
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
