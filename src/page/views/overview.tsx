import type { VNode } from "preact";
import * as api from "../client/sdk.gen.ts";
import type { Profile } from "../client/types.gen.ts";
import { answered } from "../data/http.ts";
import { hrefOf } from "../data/place.ts";
import { owner, useQuery } from "../data/server.ts";
import { Section, Title } from "../parts/controls.tsx";
import { counted, date, dateTime, memoryCount } from "../parts/format.ts";
import { useRowFocus } from "../parts/keys.ts";
import { Box, Loaded } from "../parts/states.tsx";
import { Text } from "../parts/text.tsx";

/** Longer than what assistants are told: a page has room. */
const MAX_TOKENS = 2000;

type Entry = Profile["entries"][number];

const PARTS: readonly (readonly [Entry["part"], string])[] = [
  ["instructions", "What assistants are told in every session"],
  ["preferences", "Preferences"],
  ["facts", "Facts"],
  ["people", "People and things"],
  ["decisions", "Decisions"],
  ["tasks", "Open tasks"],
];

/** What is known of a person at a glance. */
export function Overview(): VNode {
  const found = useProfile();
  useRowFocus();
  const path = `/v1/profile?user_id=${encodeURIComponent(owner.value ?? "")}`;
  return (
    <>
      <Title data={found.data} path={path}>
        Overview
      </Title>
      <Loaded of={found}>{(data) => <Parts of={data} />}</Loaded>
    </>
  );
}

export const useProfile = () =>
  useQuery("profile", (user_id) =>
    answered(api.profile({ query: { user_id, max_tokens: MAX_TOKENS } })),
  );

function Parts({ of: { entries, left_out } }: { of: Profile }): VNode {
  if (entries.length === 0) {
    return (
      <Box title="Nothing stands out yet">
        <p>
          Standing instructions, preferences, people and open tasks appear here as soon as they are
          stored, such as “Never book me anything before 9:30”.
        </p>
      </Box>
    );
  }
  return (
    <>
      {PARTS.map(([part, title]) => {
        const of = entries.filter((entry) => entry.part === part);
        if (of.length === 0) return null;
        return (
          <Section key={part} title={title}>
            <Entries of={of} />
          </Section>
        );
      })}
      {left_out > 0 && (
        <p class="small dim">{counted(left_out, "more entry", "more entries")} left out.</p>
      )}
    </>
  );
}

/** Entries with the memories that they show. */
export const Entries = ({ of }: { of: readonly Entry[] }): VNode => (
  <ul class="hits">
    {of.map(({ name, memories, text, node_id, at }) => (
      <li class="fact" key={`${name ?? ""} ${node_id}`}>
        <a class="text clamp" href={hrefOf("memory", node_id)} data-step>
          {name !== null && (
            <>
              <Text as="strong" of={name} line />{" "}
            </>
          )}
          <Text of={text} line />
        </a>
        <span class="meta">
          <span title={dateTime(at)}>{date(at)}</span>
          {memories !== null && <span>{memoryCount(memories)}</span>}
        </span>
      </li>
    ))}
  </ul>
);
