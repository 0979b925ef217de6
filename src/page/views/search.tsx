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
  // An answer to an earlier question may come later.
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
    const whole: Question = { ...conditions.value, query };
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
    <>
      {query.data === undefined && <h1 class="vh">Search</h1>}
      <Loaded of={query} label="Asking the memory…">
        {(answer) => <Explained answer={answer} />}
      </Loaded>
    </>
  );
}

const LIMITS = [3, 5, 8, 20, 50] as const;
const BUDGETS = [256, 512, 1024, 2048, 4096] as const;

/** The conditions of the next question; only this tab knows them. */
const conditions = signal<Omit<Question, "query">>({});

type Props = { readonly text: string; readonly onAsk: (text: string) => void };

function AskBar({ text, onAsk }: Props): VNode {
  const [typed, setTyped] = useState(text);
  // As soon as it is drawn: later it would overwrite what is typed meanwhile.
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

type ChipProps = {
  readonly name: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
};

const Chip = ({ name, value, options, onChange }: ChipProps): VNode => (
  <label class={value === "" ? "chip" : "chip set"}>
    {name}
    <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
      {options.map(([one, text]) => (
        <option key={one} value={one}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

function Chips(): VNode {
  const now = conditions.value;
  const set = (changes: Partial<Question>): void => assign(conditions, { ...now, ...changes });
  const known = <T extends string>(members: readonly T[], value: string): T | undefined =>
    members.find((member) => member === value);
  const amounts = (
    name: string,
    key: "limit" | "token_budget",
    of: readonly number[],
    what: string,
  ) => (
    <Chip
      name={name}
      value={String(now[key] ?? "")}
      options={[["", "default"], ...of.map((one) => [String(one), counted(one, what)] as const)]}
      onChange={(value) => set({ [key]: value === "" ? null : Number(value) })}
    />
  );
  return (
    <div class="chips">
      <Chip
        name="scope"
        value={typeof now.scope === "string" ? now.scope : ""}
        options={[["", "all"], ...SCOPES.map((one) => [one, one] as const)]}
        onChange={(value) => set({ scope: known(SCOPES, value) ?? null })}
      />
      <Chip
        name="source"
        value={now.source_types?.[0] ?? ""}
        options={[["", "all"], ...SOURCE_TYPES.map((one) => [one, words.source[one]] as const)]}
        onChange={(value) => {
          const one = known(SOURCE_TYPES, value);
          set({ source_types: one === undefined ? null : [one] });
        }}
      />
      <Chip
        name="mode"
        value={now.retrieval_mode ?? ""}
        options={[
          ["", "default"],
          ["explicit", "explicit"],
        ]}
        onChange={(value) => set({ retrieval_mode: value === "explicit" ? value : null })}
      />
      {amounts("at most", "limit", LIMITS, "result")}
      {amounts("budget", "token_budget", BUDGETS, "token")}
      <label class={now.knowledge_at == null ? "chip" : "chip set"}>
        known by
        <input
          type="date"
          value={now.knowledge_at?.slice(0, 10) ?? ""}
          onChange={({ currentTarget: { value: day } }) =>
            set({ knowledge_at: day === "" ? null : `${day}T23:59:59Z` })
          }
        />
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
