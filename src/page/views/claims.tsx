import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import * as api from "../client/sdk.gen.ts";
import type {
  AssertionAggregation,
  QuantityAggregation,
  QuantityPlan,
} from "../client/types.gen.ts";
import { answered } from "../data/http.ts";
import { readNodes } from "../data/nodes.ts";
import { assign, go, hrefOf, place, withQuery } from "../data/place.ts";
import { useQuery } from "../data/server.ts";
import {
  Button,
  Command,
  FilterField,
  filterKey,
  JsonButton,
  SearchForm,
  Section,
  Segments,
  TextLink,
} from "../parts/controls.tsx";
import { counted, date, memoryCount, number, span } from "../parts/format.ts";
import { useKeys, useRowFocus } from "../parts/keys.ts";
import { Box, Loaded, StateShape } from "../parts/states.tsx";
import { Text } from "../parts/text.tsx";

const GROUPS = 200;
const SAMPLES = 20;

export function Claims(): VNode {
  useRowFocus();
  useKeys([filterKey()]);
  return (
    <>
      <h1 class="ttl">Claims</h1>
      <Form />
      {asked.value !== "" ? <FromText /> : <FromFields />}
    </>
  );
}

/** Whether a text is one of those requested. */
const only = (text: string): string[] => (text === "" ? [] : [text]);

function FromFields(): VNode {
  const { subject, predicate, object } = wanted.value;
  const isSum = kind() === "sum";
  const by = groups();
  const common = { subjects: only(subject), objects: only(object) };
  const limits = { group_limit: GROUPS, sample_limit: SAMPLES };
  const sum = { ...common, predicate_prefixes: only(predicate), group_by: [...by], ...limits };
  const byClaim = by.filter((group) => group !== "unit");
  const count = {
    ...common,
    predicates: only(predicate),
    polarities: [],
    group_by: byClaim,
    ...limits,
  };
  const query = isSum ? sum : count;
  const found = useQuery(`claims ${kind()} ${JSON.stringify(query)}`, async (user_id) =>
    isSum
      ? sumsOf(await answered(api.aggregateQuantities({ body: { user_id, query: sum } })))
      : countsOf(await answered(api.aggregateAssertions({ body: { user_id, query: count } }))),
  );
  const path = isSum ? "/v1/quantities/aggregate" : "/v1/assertions/aggregate";
  return (
    <Loaded of={found}>{(table) => <Numbers of={table} path={path} body={{ query }} />}</Loaded>
  );
}

function FromText(): VNode {
  const question = asked.value;
  const found = useQuery(`sum of ${question}`, (user_id) =>
    answered(api.aggregateQuantitiesFromText({ body: { user_id, question } })),
  );
  const path = "/v1/quantities/aggregate-text";
  return (
    <Loaded of={found}>
      {({ plan, aggregation }) =>
        aggregation === null ? (
          <Box title="This question is not understood">
            <p>
              Ask a plain question about an amount, such as “How much did I spend?” or “How many
              kilometers did we run?”, without names, dates or conditions. Otherwise use the fields.
            </p>
            <p class="small">{plan.reason}</p>
          </Box>
        ) : (
          <>
            <Understood plan={plan} />
            <Numbers of={sumsOf(aggregation)} path={path} body={{ question }} />
          </>
        )
      }
    </Loaded>
  );
}

const CLAIM_PARTS = ["subject", "predicate", "object"] as const;

const COUNT_GROUPS = [...CLAIM_PARTS, "polarity"] as const;
const SUM_GROUPS = [...COUNT_GROUPS, "unit"] as const;
type Group = (typeof SUM_GROUPS)[number];

type Kind = "count" | "sum";

const NONE = { subject: "", predicate: "", object: "" };

/** Texts that claims must have; empty ones do not restrict. They are not in the address. */
const wanted = signal<Readonly<Record<(typeof CLAIM_PARTS)[number], string>>>(NONE);

/** A question in words about an amount; empty: the fields are used. */
const asked = signal("");

const kind = (): Kind => (place.value.query.get("kind") === "sum" ? "sum" : "count");

const groupsOf = (kind: Kind): readonly Group[] => (kind === "sum" ? SUM_GROUPS : COUNT_GROUPS);

/** The grouping of claims, in column order. */
function groups(): readonly Group[] {
  const chosen = place.value.query.getAll("by");
  const usual = kind() === "sum" ? ["subject", "predicate"] : CLAIM_PARTS;
  const set = new Set<string>(chosen.length === 0 ? usual : chosen);
  // Amounts of several units are never summed.
  if (kind() === "sum") set.add("unit");
  const found = groupsOf(kind()).filter((group) => set.has(group));
  return found.length === 0 ? ["object"] : found;
}

function toggleGroup(group: Group): void {
  const before = groups();
  const after = before.includes(group) ? before.filter((one) => one !== group) : [...before, group];
  if (after.length > 0) go(withQuery({ by: after }), "replace");
}

function setKind(kind: Kind): void {
  asked.value = "";
  go(withQuery({ kind: kind === "sum" ? "sum" : undefined, by: undefined }), "replace");
}

export function showClaimsAbout(subject: string): void {
  wanted.value = { ...NONE, subject };
  asked.value = "";
  go(hrefOf("claims"));
}

const Form = (): VNode => (
  <div class="claims-form">
    <Segments
      legend="What is asked"
      of={{ count: "How many", sum: "How much" }}
      value={kind()}
      onChange={setKind}
    />
    {kind() === "sum" && <Question />}
    {asked.value === "" && (
      <>
        <fieldset class="claim-fields">
          <legend class="small">Only claims with</legend>
          {CLAIM_PARTS.map((part) => (
            <FilterField
              key={part}
              label={part}
              hint="any"
              value={wanted.value[part]}
              onChange={(text) => assign(wanted, { ...wanted.value, [part]: text })}
            />
          ))}
        </fieldset>
        <fieldset class="claim-groups">
          <legend class="small">Group by</legend>
          {groupsOf(kind()).map((group) => (
            <label key={group} class="check">
              <input
                type="checkbox"
                checked={groups().includes(group)}
                // Amounts of several units are never summed.
                disabled={group === "unit"}
                onChange={() => toggleGroup(group)}
              />
              {group}
            </label>
          ))}
        </fieldset>
      </>
    )}
  </div>
);

function Question(): VNode {
  const leave = (): void => assign(asked, "");
  return (
    <SearchForm
      key={asked.value}
      label="Question"
      hint="How much did I spend?"
      value={asked.value}
      name="Sum up"
      onSearch={(text) => assign(asked, text)}
    >
      {asked.value !== "" && (
        <Button kind="quiet" onClick={leave}>
          Without the question
        </Button>
      )}
    </SearchForm>
  );
}

type Row = {
  readonly values: Readonly<Record<string, string>>;
  readonly cells: readonly string[];
  readonly count: number;
  readonly ids: readonly string[];
  readonly earliest: string | null;
  readonly latest: string | null;
};

type Aggregation = AssertionAggregation | QuantityAggregation;

type Table = {
  readonly title: string;
  readonly data: Aggregation;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
};

function rowOf(group: Aggregation["groups"][number], cells: readonly string[], count: number) {
  const {
    values,
    evidence_count,
    earliest_event_time: earliest,
    latest_event_time: latest,
  } = group;
  return { values, cells: [...cells, number(evidence_count)], count, earliest, latest };
}

function countsOf(data: AssertionAggregation): Table {
  const matched = data.matched_records;
  const rows = data.groups.map((group) => {
    const { occurrence_count: count, sample_node_ids: ids } = group;
    return { ...rowOf(group, [`${number(count)} of ${number(matched)}`], count), ids };
  });
  const title = `${counted(matched, "claim")} in ${counted(data.distinct_count, "group")}`;
  return { title, data, columns: ["claims", "sources"], rows };
}

function sumsOf(data: QuantityAggregation): Table {
  const matched = data.matched_quantity_records;
  const rows = data.groups.map((group) => {
    const { total, minimum, maximum, value_count: count, samples } = group;
    const cells = [total, minimum, maximum, `${number(count)} of ${number(matched)}`];
    return { ...rowOf(group, cells, count), ids: samples.map(({ node_id }) => node_id) };
  });
  const title = `${counted(matched, "amount")} in ${counted(data.distinct_count, "group")}`;
  return { title, data, columns: ["total", "least", "greatest", "amounts", "sources"], rows };
}

function Numbers({ of: table, path, body }: { of: Table; path: string; body: object }): VNode {
  const { title, data: of, columns, rows } = table;
  const by = of.query.group_by;
  const more = of.distinct_count - rows.length;
  return (
    <Section
      title={title}
      note={`of ${memoryCount(of.scanned_nodes)} examined: every active fact, decision and preference`}
      end={<JsonButton data={of} path={path} body={body} />}
    >
      <Exclusions of={of.exclusions} />
      {rows.length === 0 ? (
        <NoClaims exclusions={of.exclusions} />
      ) : (
        <section class="claims" tabIndex={0} aria-label="Claims in groups">
          <table>
            <thead>
              <tr>
                {by.map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
                {columns.map((name) => (
                  <th key={name} scope="col" class="num">
                    {name}
                  </th>
                ))}
                <th scope="col">happened</th>
                <th scope="col">memories</th>
              </tr>
            </thead>
            {rows.map((row) => (
              <GroupRow key={JSON.stringify(row.values)} by={by} of={row} width={columns.length} />
            ))}
          </table>
        </section>
      )}
      {more > 0 && (
        <p class="small">{counted(more, "group")} more; narrow the claims to see them.</p>
      )}
      <p class="small">
        This counts stored claims. It cannot tell whether all that was said became a claim, or is
        true. Texts match as written, never by meaning.
      </p>
    </Section>
  );
}

function GroupRow(props: { by: readonly string[]; of: Row; width: number }): VNode {
  const { by, of, width } = props;
  const [isOpen, setOpen] = useState(false);
  return (
    <tbody>
      <tr>
        {by.map((name) => (
          <Text as="td" key={name} of={of.values[name] ?? ""} line />
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
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            Show {memoryCount(of.count)}
          </button>
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={by.length + width + 2}>
            <Records ids={of.ids} count={of.count} />
          </td>
        </tr>
      )}
    </tbody>
  );
}

function spanOf({ earliest, latest }: Row): string {
  if (earliest === null || latest === null) return "";
  return span(earliest, date(earliest) === date(latest) ? null : latest);
}

function Records({ ids, count }: { ids: readonly string[]; count: number }): VNode {
  const query = useQuery(`records ${ids.join(" ")}`, (user_id) => readNodes(ids, user_id));
  return (
    <Loaded of={query}>
      {(nodes) => (
        <>
          <p class="small">
            {nodes.length < count
              ? `the first ${number(nodes.length)} of ${number(count)}`
              : `all ${number(count)}`}
          </p>
          <ul class="claimed-records">
            {nodes.map(({ id, lifecycle_state, content }) => (
              <li key={id}>
                <StateShape of={lifecycle_state} />
                <TextLink step href={hrefOf("memory", id)} text={content} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Loaded>
  );
}

const CLAIMS_REASONS: Readonly<Record<string, string>> = {
  missing_structured_assertion: "not a structured claim",
  selector_mismatch: "other claims",
  missing_quantity: "without an amount",
  invalid_quantity: "amount not as their text has it",
  unit_mismatch: "in another unit",
  epistemic_filtered: "hypothetical or deprecated",
  condition_filtered: "condition not known to hold",
  unverified_below_threshold: "unverified and uncertain",
  outside_validity_window: "not valid now",
  lifecycle_not_active: "no longer active",
  superseded_pointer: "replaced",
};

export function Exclusions({ of }: { of: Readonly<Record<string, number>> }): VNode | null {
  const reasons = Object.entries(of).toSorted(([, a], [, b]) => b - a);
  if (reasons.length === 0) return null;
  return (
    <div class="exclusions">
      <span>left out</span>
      <dl>
        {reasons.map(([reason, count]) => (
          <div key={reason}>
            <dt>{CLAIMS_REASONS[reason] ?? reason.replaceAll("_", " ")}</dt>
            <dd>{number(count)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** No claim was counted, which is not the same as zero: texts may contain no structured claims. */
function NoClaims({ exclusions }: { exclusions: Readonly<Record<string, number>> }): VNode {
  const without = exclusions["missing_structured_assertion"] ?? 0;
  return (
    <Box title="No claim fits">
      <p>
        A claim is a memory that states its subject, predicate and object in parts.
        {without > 0 && ` ${counted(without, "memory states", "memories state")} none.`} Extraction
        writes them, or a caller who stores a fact with this in its metadata:
      </p>
      <Command>{'{"subject":"I","predicate":"drink","object":"tea"}'}</Command>
    </Box>
  );
}

function Understood({ plan }: { plan: QuantityPlan }): VNode | null {
  const { query, assumptions } = plan;
  if (query === null) return null;
  const parts = [
    ["subject", query.subjects],
    ["predicate", query.predicate_prefixes],
    ["unit", query.units],
  ] as const;
  return (
    <dl class="understood">
      <dt>understood as</dt>
      <dd>
        {parts.map(([name, texts]) => (
          <span key={name}>
            {name} <b>{texts.length === 0 ? "any" : <Text of={texts.join(", ")} line />}</b>
          </span>
        ))}
      </dd>
      <dt>assumed</dt>
      <dd>{assumptions.map((one) => one.replaceAll("_", " ")).join(", ")}</dd>
    </dl>
  );
}
