import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { SCOPES, SOURCE_TYPES } from "../../../domain/enums.ts";
import { t } from "../../language/texts.ts";
import { Button } from "../../parts/controls.tsx";
import type { Question } from "./answer.ts";

const LIMITS = [3, 5, 8, 20, 50] as const;
const BUDGETS = [256, 512, 1024, 2048, 4096] as const;

/** The conditions of the next question; only this tab knows them. */
export const conditions = signal<Omit<Question, "query">>({});

type Props = { readonly text: string; readonly onAsk: (text: string) => void };

export function AskBar({ text, onAsk }: Props): VNode {
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
          <span class="vh">{t.search.label}</span>
          <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
            <circle cx="7" cy="7" r="4.5" class="s-edge hollow" stroke-width="1.5" />
            <path d="M10.5 10.5 14 14" class="s-edge" stroke-width="1.5" stroke-linecap="round" />
          </svg>
          <input
            data-question
            value={typed}
            placeholder={t.search.hint}
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <kbd aria-hidden="true">/</kbd>
        </label>
        <Button kind="main" submits>
          {t.search.ask} <kbd aria-hidden="true">↵</kbd>
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

/** A condition as a choice among a few values; the first one is no condition. */
function Chip({ name, value, options, onChange }: ChipProps): VNode {
  return (
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
}

function Chips(): VNode {
  const { chips } = t.search;
  const now = conditions.value;
  const set = (changes: Partial<Question>): void => {
    conditions.value = { ...now, ...changes };
  };
  const known = <T extends string>(members: readonly T[], value: string): T | undefined =>
    members.find((member) => member === value);
  const amount = (value: string): number | null => (value === "" ? null : Number(value));
  return (
    <div class="chips">
      <Chip
        name={chips.scope}
        value={typeof now.scope === "string" ? now.scope : ""}
        options={[["", chips.all], ...SCOPES.map((one) => [one, t.words.scope[one]] as const)]}
        onChange={(value) => set({ scope: known(SCOPES, value) ?? null })}
      />
      <Chip
        name={chips.source}
        value={now.source_types?.[0] ?? ""}
        options={[
          ["", chips.all],
          ...SOURCE_TYPES.map((one) => [one, t.words.source[one]] as const),
        ]}
        onChange={(value) => {
          const one = known(SOURCE_TYPES, value);
          set({ source_types: one === undefined ? null : [one] });
        }}
      />
      <Chip
        name={chips.mode}
        value={now.retrieval_mode ?? ""}
        options={[
          ["", chips.default],
          ["explicit", chips.explicit],
        ]}
        onChange={(value) => set({ retrieval_mode: value === "explicit" ? value : null })}
      />
      <Chip
        name={chips.limit}
        value={now.limit == null ? "" : String(now.limit)}
        options={[
          ["", chips.default],
          ...LIMITS.map((one) => [String(one), chips.results(one)] as const),
        ]}
        onChange={(value) => set({ limit: amount(value) })}
      />
      <Chip
        name={chips.budget}
        value={now.token_budget == null ? "" : String(now.token_budget)}
        options={[
          ["", chips.default],
          ...BUDGETS.map((one) => [String(one), chips.tokens(one)] as const),
        ]}
        onChange={(value) => set({ token_budget: amount(value) })}
      />
      <KnownBy
        value={now.knowledge_at ?? ""}
        onChange={(value) => set({ knowledge_at: value === "" ? null : value })}
      />
    </div>
  );
}

/** What was known on the evening of a day. */
function KnownBy({ value, onChange }: { value: string; onChange: (value: string) => void }): VNode {
  return (
    <label class={value === "" ? "chip" : "chip set"}>
      {t.search.chips.known}
      <input
        type="date"
        value={value.slice(0, 10)}
        onChange={({ currentTarget: { value: day } }) =>
          onChange(day === "" ? "" : `${day}T23:59:59Z`)
        }
      />
    </label>
  );
}
