import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { SCOPES, SOURCE_TYPES } from "../../domain/enums.ts";
import { listRetrievals } from "../client/sdk.gen.ts";
import { answered, asFailure, type CallFailure } from "../data/http.ts";
import { assign, go, hrefOf, question } from "../data/place.ts";
import { owner, useQuery } from "../data/server.ts";
import { AskedItem, Button, Head } from "../parts/controls.tsx";
import { counted, number, words } from "../parts/format.ts";
import { Failure, Loaded, Skeleton } from "../parts/states.tsx";
import { type Answer, ask, type Question, replay } from "./search/answer.ts";
import { Explained } from "./search/explained.tsx";

type Asked =
  | { readonly state: "asking" }
  | { readonly state: "done"; readonly answer: Answer }
  | { readonly state: "failed"; readonly failure: CallFailure };

export function Search({ id }: { id: string }): VNode {
  const [text, setText] = useState("");
  const [asked, setAsked] = useState<Asked | undefined>(undefined);
  // An answer to an earlier question may arrive later.
  const latest = useRef(0);
  const send = async (query: string): Promise<void> => {
    setText(query);
    if (query.trim() === "") return;
    if (id !== "") go(hrefOf("search"), "replace");
    latest.current += 1;
    const turn = latest.current;
    const show = (outcome: Asked): void => {
      if (turn === latest.current) setAsked(outcome);
    };
    show({ state: "asking" });
    const whole: Question = { ...conditions(), query };
    try {
      show({ state: "done", answer: await ask(whole, owner.peek() ?? "") });
    } catch (error) {
      show({ state: "failed", failure: asFailure(error) });
    }
  };
  useEffect(() => {
    const waiting = question.value;
    if (waiting === undefined) return;
    question.value = undefined;
    void send(waiting);
  }, [question.value]);
  return (
    <>
      <AskBar key={id} text={text} onAsk={send} />
      {id === "" ? <Own asked={asked} /> : <Former id={id} />}
    </>
  );
}

function Own({ asked }: { asked: Asked | undefined }): VNode {
  if (asked === undefined) return <Recent />;
  if (asked.state === "done") return <Explained answer={asked.answer} />;
  return (
    <>
      <h1 class="vh">Search</h1>
      {asked.state === "asking" ? (
        <Skeleton label="Asking the memory…" />
      ) : (
        <Failure of={asked.failure} />
      )}
    </>
  );
}

function Former({ id }: { id: string }): VNode {
  const query = useQuery(`replay ${id}`, (userId) => replay(id, userId));
  return (
    <Loaded of={query} title="Search" label="Asking the memory…">
      {(answer) => <Explained answer={answer} />}
    </Loaded>
  );
}

const same = (one: string) => [one, one] as const;
const amounts = (what: string, of: readonly number[]) =>
  of.map((one) => [String(one), counted(one, what)] as const);

/** What a question can be narrowed by: its name, the word for none, and its values with their words. */
const CHIPS = [
  ["scope", "all", SCOPES.map(same)],
  ["source", "all", SOURCE_TYPES.map((one) => [one, words.source[one]] as const)],
  ["mode", "default", [same("explicit")]],
  ["at most", "default", amounts("result", [3, 5, 8, 20, 50])],
  ["budget", "default", amounts("token", [256, 512, 1024, 2048, 4096])],
] as const;
type Chip = (typeof CHIPS)[number][0] | "known by";

/** The conditions of the next question, by their chips; only this tab knows them. */
const chosen = signal<Partial<Record<Chip, string>>>({});

function conditions(): Omit<Question, "query"> {
  const { mode, "at most": limit, budget, "known by": day } = chosen.value;
  const scope = SCOPES.find((one) => one === chosen.value.scope);
  const source = SOURCE_TYPES.find((one) => one === chosen.value.source);
  return {
    ...(scope && { scope }),
    ...(source && { source_types: [source] }),
    ...(mode === "explicit" && { retrieval_mode: mode }),
    ...(limit && { limit: Number(limit) }),
    ...(budget && { token_budget: Number(budget) }),
    ...(day && { knowledge_at: `${day}T23:59:59Z` }),
  };
}

type Props = { readonly text: string; readonly onAsk: (text: string) => void };

function AskBar({ text, onAsk }: Props): VNode {
  const [typed, setTyped] = useState(text);
  // As soon as it is rendered: later it would overwrite what was typed meanwhile.
  useLayoutEffect(() => setTyped(text), [text]);
  return (
    <search>
      <form
        class="ask"
        onSubmit={(event) => {
          event.preventDefault();
          onAsk(typed);
        }}
      >
        <label class="field">
          <span class="vh">Question</span>
          <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
            <circle cx="7" cy="7" r="4.5" class="s-edge hollow" stroke-width="1.5" />
            <path d="M10.5 10.5 14 14" class="s-edge" stroke-width="1.5" stroke-linecap="round" />
          </svg>
          <input
            data-question
            value={typed}
            placeholder="Ask as an assistant would"
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <kbd aria-hidden="true">/</kbd>
        </label>
        <Button kind="main" submits>
          Ask <kbd aria-hidden="true">↵</kbd>
        </Button>
      </form>
      <Chips />
    </search>
  );
}

function Chips(): VNode {
  const of = (name: Chip) => ({
    value: chosen.value[name] ?? "",
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      assign(chosen, { ...chosen.value, [name]: currentTarget.value }),
  });
  const look = (name: Chip): string => (chosen.value[name] ? "chip set" : "chip");
  return (
    <div class="chips">
      {CHIPS.map(([name, none, values]) => (
        <label key={name} class={look(name)}>
          {name}
          <select {...of(name)}>
            <option value="">{none}</option>
            {values.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
      ))}
      <label class={look("known by")}>
        known by
        <input type="date" {...of("known by")} />
      </label>
    </div>
  );
}

const SHOWN = 20;

function Recent(): VNode {
  const query = useQuery("recent", (user_id) =>
    answered(listRetrievals({ query: { user_id, limit: SHOWN } })),
  );
  return (
    <section class="recent">
      <h1 class="vh">Search</h1>
      <Head
        title="What assistants asked"
        note="newest first; the page's own questions are not kept"
      />
      <Loaded of={query}>
        {({ retrievals }) =>
          retrievals.length === 0 ? (
            <p class="dim">No assistant has asked anything yet, or receipts are not kept.</p>
          ) : (
            <ol class="used">
              {retrievals.map((one) => (
                <AskedItem
                  key={one.request_id}
                  of={one}
                  figure={`${number(one.context_count)} in the context`}
                />
              ))}
            </ol>
          )
        }
      </Loaded>
    </section>
  );
}
