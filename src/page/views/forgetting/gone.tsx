import type { VNode } from "preact";
import { getForgetting } from "../../client/sdk.gen.ts";
import type { Forgetting } from "../../client/types.gen.ts";
import { answered } from "../../data/http.ts";
import { hrefOf } from "../../data/place.ts";
import { useQuery } from "../../data/query.ts";
import { t } from "../../language/texts.ts";
import { Button, Command, CopyButton, Head, Moment } from "../../parts/controls.tsx";
import { JsonButton } from "../../parts/json-button.tsx";
import { Answer } from "../../parts/states.tsx";
import { Text } from "../../parts/text.tsx";
import { fileOf, receiptOf, save } from "./receipts.ts";

/** What is known of one forgetting, and its receipt where this tab has it. */
export function Gone({ id }: { id: string }): VNode {
  const query = useQuery(`forgotten ${id}`, () =>
    answered(getForgetting({ path: { forget_id: id } })),
  );
  const words = t.forgetting.gone;
  return (
    <>
      <nav class="crumbs" aria-label={t.memory.where}>
        <a href={hrefOf("forgetting")}>{t.frame.view.forgetting}</a>
      </nav>
      <div class="title">
        <h1 class="ttl">{words.title}</h1>
        {query.data !== undefined && <JsonButton data={query.data} path={`/v1/forget/${id}`} />}
      </div>
      <Answer of={query}>
        {(data) => (
          <>
            <Known of={data} />
            <Receipt id={id} />
          </>
        )}
      </Answer>
    </>
  );
}

function Known({ of }: { of: Forgetting }): VNode {
  const words = t.forgetting.gone;
  return (
    <dl class="facts sect">
      <dt>{words.when}</dt>
      <dd>
        <Moment at={of.forgotten_at} />
      </dd>
      <dt>{words.by}</dt>
      <dd>
        <Text of={of.actor_id} line />
      </dd>
      <dt>{words.went}</dt>
      <dd>{t.forgetting.forgotten.what(of.memories.length, of.events.length)}</dd>
      <dt>{words.besides}</dt>
      <dd>{t.forgetting.dialog.besides(of.counts)}</dd>
      <dt>{words.stage}</dt>
      <dd>{words.stages[of.stage]}</dd>
      <dt>{words.id}</dt>
      <dd class="mono">{of.forget_id}</dd>
      <dt>{words.hash}</dt>
      <dd class="mono">
        {of.receipt_sha256 === null ? words.noHash : words.sha256(of.receipt_sha256)}
      </dd>
    </dl>
  );
}

function Receipt({ id }: { id: string }): VNode {
  const words = t.forgetting.gone;
  const receipt = receiptOf(id);
  return (
    <section class="sect">
      <Head title={words.receipt} />
      <p class="dim">{receipt === undefined ? words.notHere : words.here}</p>
      {receipt !== undefined && (
        <p class="run">
          <Button kind="main" onClick={() => save(id, receipt)}>
            {words.save}
          </Button>
          <CopyButton text={receipt} />
        </p>
      )}
      <p class="small apart">{words.verify}</p>
      <Command>{`svc forget verify memory.pack ${fileOf(id)}`}</Command>
    </section>
  );
}
