import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { listEntities } from "../client/sdk.gen.ts";
import type { EntityPage } from "../client/types.gen.ts";
import { answered } from "../data/http.ts";
import { go, hrefOf, place, withQuery } from "../data/place.ts";
import { useQuery } from "../data/query.ts";
import { t } from "../language/texts.ts";
import { Bar, Button, Command } from "../parts/controls.tsx";
import { FilterField, filterKey } from "../parts/filter.tsx";
import { number } from "../parts/format.ts";
import { JsonButton } from "../parts/json-button.tsx";
import { useKeys } from "../parts/keys.ts";
import { useRowFocus } from "../parts/row-focus.ts";
import { StateShape } from "../parts/state.tsx";
import { Answer, Box } from "../parts/states.tsx";
import { Text } from "../parts/text.tsx";
import { kindOf, Thing } from "./things/thing.tsx";

const PAGE = 50;

/** Part of the names; it stands in no address. */
const named = signal("");

/** People and things, or one of them. */
export function Things({ id }: { id: string }): VNode {
  return id === "" ? <AllThings /> : <Thing key={id} id={id} />;
}

/** Whoever and whatever the memories are about, those with the most memories first. */
function AllThings(): VNode {
  const cursor = place.value.query.get("cursor");
  const query = {
    limit: PAGE,
    ...(cursor === null ? {} : { cursor }),
    ...(named.value === "" ? {} : { contains: named.value }),
  };
  const found = useQuery(`things ${JSON.stringify(query)}`, (user_id) =>
    answered(listEntities({ query: { ...query, user_id } })),
  );
  useRowFocus();
  useKeys([filterKey()]);
  return (
    <>
      <div class="title">
        <h1 class="ttl">{t.frame.view.things}</h1>
        {found.data !== undefined && <JsonButton data={found.data} path="/v1/entities" />}
      </div>
      <FilterField
        class="find things-find"
        label={t.things.contains}
        hint={t.things.containsHint}
        value={named.value}
        onChange={setName}
      />
      <Answer of={found}>{(data) => <List data={data} />}</Answer>
    </>
  );
}

function setName(name: string): void {
  named.value = name;
  go(withQuery({ cursor: undefined }), "replace");
}

function List({ data }: { data: EntityPage }): VNode {
  const { entities, next_cursor } = data;
  const isFirst = place.value.query.get("cursor") === null;
  if (entities.length === 0 && isFirst) return <NoThings />;
  const most = Math.max(1, ...entities.map(({ memories }) => memories));
  return (
    <>
      <ol class="things" aria-label={t.things.list}>
        {entities.map(({ node, memories, contested }) => (
          <li key={node.id}>
            <a class="thing" href={hrefOf("things", node.id)} data-step>
              <StateShape of={node.lifecycle_state} />
              <span class="name">
                <Text of={node.content} line />
              </span>
              <span class="dim kind">
                <Text of={kindOf(node)} line />
              </span>
              {contested > 0 && <span class="lost">{t.things.contested(contested)}</span>}
              <span class="many">
                <Bar parts={[{ share: memories / most, class: "f-graph" }]} height={6} />
                <b title={t.things.memories(memories)}>{number(memories)}</b>
                <span class="vh">{t.things.memories(memories)}</span>
              </span>
            </a>
          </li>
        ))}
      </ol>
      <p class="acts">
        {!isFirst && (
          <a class="btn" href={withQuery({ cursor: undefined })}>
            {t.things.first}
          </a>
        )}
        {next_cursor !== null && (
          <a class="btn" href={withQuery({ cursor: next_cursor })}>
            {t.things.next}
          </a>
        )}
      </p>
    </>
  );
}

function NoThings(): VNode {
  if (named.value !== "") {
    return (
      <Box title={t.things.nothing}>
        <p>
          <Button onClick={() => setName("")}>{t.things.clear}</Button>
        </p>
      </Box>
    );
  }
  return (
    <Box title={t.things.none}>
      <p>{t.things.noneText}</p>
      <Command>svc info ./memory.pack</Command>
    </Box>
  );
}
