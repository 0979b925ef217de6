import type { VNode } from "preact";
import {
  aggregateAssertions,
  aggregateQuantities,
  aggregateQuantitiesFromText,
} from "../client/sdk.gen.ts";
import { answered } from "../data/http.ts";
import { useQuery } from "../data/query.ts";
import { t } from "../language/texts.ts";
import { filterKey } from "../parts/filter.tsx";
import { JsonButton } from "../parts/json-button.tsx";
import { useKeys } from "../parts/keys.ts";
import { useRowFocus } from "../parts/row-focus.ts";
import { Answer, Box } from "../parts/states.tsx";
import { asked, groups, kind, wanted } from "./claims/fields.ts";
import { Form } from "./claims/form.tsx";
import { Counts, Sums } from "./claims/table.tsx";
import { Understood } from "./claims/understood.tsx";

/** Groups that are shown. */
const GROUPS = 200;
/** Memories that are named for a group. */
const SAMPLES = 20;

/** How many, how much? All stored claims, in groups, with what the numbers cover. */
export function Claims(): VNode {
  useRowFocus();
  useKeys([filterKey()]);
  return (
    <>
      <h1 class="ttl">{t.frame.view.claims}</h1>
      <Form />
      {asked.value !== "" ? <FromText /> : kind() === "sum" ? <HowMuch /> : <HowMany />}
    </>
  );
}

/** A text as one of those that are asked for. */
function only(text: string): string[] {
  return text === "" ? [] : [text];
}

function HowMany(): VNode {
  const { subject, predicate, object } = wanted.value;
  const query = {
    subjects: only(subject),
    predicates: only(predicate),
    objects: only(object),
    polarities: [],
    group_by: groups().filter((group) => group !== "unit"),
    group_limit: GROUPS,
    sample_limit: SAMPLES,
  };
  const found = useQuery(`claims ${JSON.stringify(query)}`, (user_id) =>
    answered(aggregateAssertions({ body: { user_id, query } })),
  );
  return (
    <Answer of={found}>
      {(data) => (
        <Counts
          data={data}
          end={<JsonButton data={data} path="/v1/assertions/aggregate" body={{ query }} />}
        />
      )}
    </Answer>
  );
}

function HowMuch(): VNode {
  const { subject, predicate, object } = wanted.value;
  const query = {
    subjects: only(subject),
    predicate_prefixes: only(predicate),
    objects: only(object),
    group_by: [...groups()],
    group_limit: GROUPS,
    sample_limit: SAMPLES,
  };
  const found = useQuery(`amounts ${JSON.stringify(query)}`, (user_id) =>
    answered(aggregateQuantities({ body: { user_id, query } })),
  );
  return (
    <Answer of={found}>
      {(data) => (
        <Sums
          data={data}
          end={<JsonButton data={data} path="/v1/quantities/aggregate" body={{ query }} />}
        />
      )}
    </Answer>
  );
}

function FromText(): VNode {
  const question = asked.value;
  const found = useQuery(`sum of ${question}`, (user_id) =>
    answered(aggregateQuantitiesFromText({ body: { user_id, question } })),
  );
  return (
    <Answer of={found}>
      {(data) => {
        const path = "/v1/quantities/aggregate-text";
        const end = <JsonButton data={data} path={path} body={{ question }} />;
        if (data.aggregation === null) {
          return (
            <Box title={t.claims.unsupported}>
              <p>{t.claims.unsupportedText}</p>
              <p class="small">{data.plan.reason}</p>
            </Box>
          );
        }
        return (
          <>
            <Understood plan={data.plan} />
            <Sums data={data.aggregation} end={end} />
          </>
        );
      }}
    </Answer>
  );
}
