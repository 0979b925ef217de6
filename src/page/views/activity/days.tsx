import type { VNode } from "preact";
import { hrefOf } from "../../data/place.ts";
import { t } from "../../language/texts.ts";
import { Head, Moment } from "../../parts/controls.tsx";
import { dayOf, longDate, time } from "../../parts/format.ts";
import { State } from "../../parts/state.tsx";
import { Text } from "../../parts/text.tsx";
import { type Entry, outcomeOf } from "./happened.ts";

/** What happened, by days, each with a way to its receipt or its memory. */
export function Days({ entries }: { entries: readonly Entry[] }): VNode {
  const days = [...Map.groupBy(entries, ({ at }) => dayOf(at))];
  return (
    <>
      {days.map(([day, ofDay]) => {
        const failed = ofDay.filter(isFailed).length;
        return (
          <section class="sect" key={day}>
            <Head
              title={longDate(day)}
              end={failed > 0 && <span class="lost">{t.activity.failed(failed)}</span>}
            />
            <ol class="happened">
              {ofDay.map((entry) => (
                <Row key={entry.id} of={entry} />
              ))}
            </ol>
          </section>
        );
      })}
    </>
  );
}

function isFailed(entry: Entry): boolean {
  return "question" in entry && Object.keys(entry.question.failures).length > 0;
}

function Row({ of: entry }: { of: Entry }): VNode {
  return (
    <li>
      <span class="dim">
        <Moment at={entry.at} show={time} />
      </span>
      <b class="who">
        {entry.who === null ? (
          <span class="dim">{t.activity.unnamed}</span>
        ) : (
          <Text of={entry.who} line />
        )}
      </b>
      {"question" in entry ? <Asked of={entry.question} /> : <Changed of={entry.change} />}
    </li>
  );
}

function Asked({ of: question }: { of: Extract<Entry, { question: unknown }>["question"] }): VNode {
  const { request_id, query, context_count, failures } = question;
  const searches: Readonly<Record<string, string>> = t.search.searches;
  return (
    <>
      <span class="dim">{t.activity.asked}</span>
      <p>
        <a data-step href={hrefOf("search", request_id)}>
          <Text of={query} line />
        </a>
        {Object.keys(failures).map((search) => (
          <span key={search} class="lost">
            {t.activity.searchFailed(searches[search] ?? search)}
          </span>
        ))}
      </p>
      <span class="small">{t.activity.inContext(context_count)}</span>
    </>
  );
}

function Changed({
  of: { record, node },
}: {
  of: Extract<Entry, { change: unknown }>["change"];
}): VNode {
  const { before, after, isReleased } = outcomeOf(record);
  const words: Readonly<Record<string, string>> = t.activity.changes;
  const type = record.op_type === "PIN" && isReleased ? "RELEASE" : record.op_type;
  return (
    <>
      <span class="dim">{words[type] ?? type}</span>
      <p>
        {node === undefined ? (
          <span class="dim">{t.activity.gone}</span>
        ) : (
          <a data-step href={hrefOf("memory", node.id)}>
            <Text of={node.content} line />
          </a>
        )}
      </p>
      <span class="small">{after !== before && isState(after) && <State of={after} />}</span>
    </>
  );
}

function isState(name: string | undefined): name is keyof typeof t.words.state {
  return name !== undefined && Object.hasOwn(t.words.state, name);
}
