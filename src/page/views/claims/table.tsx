import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import type { AssertionAggregation, QuantityAggregation } from "../../client/types.gen.ts";
import { t } from "../../language/texts.ts";
import { Head } from "../../parts/controls.tsx";
import { date, number } from "../../parts/format.ts";
import { Text } from "../../parts/text.tsx";
import { Exclusions } from "./coverage.tsx";
import { NoClaims } from "./none.tsx";
import { Records } from "./records.tsx";

type Answer<T> = { readonly data: T; readonly end: VNode };

/** A group as a row: its values, its numbers, and the memories behind them. */
type Row = {
  readonly values: Readonly<Record<string, string>>;
  readonly cells: readonly string[];
  readonly count: number;
  readonly ids: readonly string[];
  readonly earliest: string | null;
  readonly latest: string | null;
};

/** How many claims there are in each group. */
export function Counts({ data, end }: Answer<AssertionAggregation>): VNode {
  const { columns, heading } = t.claims;
  const matched = data.matched_records;
  const rows = data.groups.map((group) => ({
    values: group.values,
    cells: [t.claims.share(group.occurrence_count, matched), number(group.evidence_count)],
    count: group.occurrence_count,
    ids: group.sample_node_ids,
    earliest: group.earliest_event_time,
    latest: group.latest_event_time,
  }));
  return (
    <Numbers
      title={heading(matched, data.distinct_count)}
      of={data}
      by={data.query.group_by}
      columns={[columns.count, columns.sources]}
      rows={rows}
      end={end}
    />
  );
}

/** The sum of the amounts in each group, exact. */
export function Sums({ data, end }: Answer<QuantityAggregation>): VNode {
  const { columns, amounts } = t.claims;
  const matched = data.matched_quantity_records;
  const rows = data.groups.map((group) => ({
    values: group.values,
    cells: [
      group.total,
      group.minimum,
      group.maximum,
      t.claims.share(group.value_count, matched),
      number(group.evidence_count),
    ],
    count: group.value_count,
    ids: group.samples.map(({ node_id }) => node_id),
    earliest: group.earliest_event_time,
    latest: group.latest_event_time,
  }));
  return (
    <Numbers
      title={amounts(matched, data.distinct_count)}
      of={data}
      by={data.query.group_by}
      columns={[columns.total, columns.least, columns.greatest, columns.values, columns.sources]}
      rows={rows}
      end={end}
    />
  );
}

type NumbersProps = {
  readonly title: string;
  readonly of: Pick<
    AssertionAggregation,
    "scanned_nodes" | "exclusions" | "distinct_count" | "groups_truncated"
  >;
  readonly by: readonly string[];
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  readonly end: VNode;
};

/** The numbers, and beside them what they cover. */
function Numbers({ title, of, by, columns, rows, end }: NumbersProps): VNode {
  const more = of.distinct_count - rows.length;
  return (
    <section class="sect">
      <Head title={title} note={t.claims.scanned(of.scanned_nodes)} end={end} />
      <Exclusions of={of.exclusions} />
      {rows.length === 0 ? (
        <NoClaims exclusions={of.exclusions} />
      ) : (
        <section class="claims" tabIndex={0} aria-label={t.claims.table}>
          <table>
            <thead>
              <tr>
                {by.map((name) => (
                  <th key={name} scope="col">
                    {wordOf(name)}
                  </th>
                ))}
                {columns.map((name) => (
                  <th key={name} scope="col" class="num">
                    {name}
                  </th>
                ))}
                <th scope="col">{t.claims.columns.when}</th>
                <th scope="col">{t.claims.columns.records}</th>
              </tr>
            </thead>
            {rows.map((row) => (
              <GroupRow key={JSON.stringify(row.values)} by={by} of={row} width={columns.length} />
            ))}
          </table>
        </section>
      )}
      {more > 0 && <p class="small">{t.claims.more(more)}</p>}
      <p class="small">{t.claims.limits}</p>
    </section>
  );
}

function wordOf(name: string): string {
  const words: Readonly<Record<string, ComponentChildren>> = t.claims;
  const word = words[name];
  return typeof word === "string" ? word : name;
}

/** A group; its memories are shown when they are asked for. */
function GroupRow(props: { by: readonly string[]; of: Row; width: number }): VNode {
  const { by, of, width } = props;
  const isOpen = useSignal(false);
  return (
    <tbody>
      <tr>
        {by.map((name) => (
          <td key={name}>
            <Text of={of.values[name] ?? ""} line />
          </td>
        ))}
        {of.cells.map((cell, index) => (
          <td key={index} class="num">
            {cell}
          </td>
        ))}
        <td class="dim">{spanOf(of)}</td>
        <td>
          <button
            type="button"
            class="link"
            data-step
            aria-expanded={isOpen.value}
            onClick={() => {
              isOpen.value = !isOpen.value;
            }}
          >
            {t.claims.show(of.count)}
          </button>
        </td>
      </tr>
      {isOpen.value && (
        <tr>
          <td colSpan={by.length + width + 2}>
            <Records ids={of.ids} count={of.count} />
          </td>
        </tr>
      )}
    </tbody>
  );
}

/** When the things claimed happened, from the first to the last. */
function spanOf({ earliest, latest }: Row): string {
  if (earliest === null || latest === null) return "";
  const [from, to] = [date(earliest), date(latest)];
  return from === to ? from : t.things.between(from, to);
}
