import type { VNode } from "preact";
import { t } from "../language/texts.ts";
import type { KeyAction } from "./keys.ts";

type Props = {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  /** Gets the text without spaces around it, once it has been typed. */
  readonly onChange: (text: string) => void;
  readonly class?: string;
};

/** A field whose text says what is listed. */
export function FilterField({ label, hint, value, onChange, class: name = "find" }: Props): VNode {
  return (
    <label class={name}>
      <span class="small">{label}</span>
      <input
        type="search"
        data-filter
        placeholder={hint}
        value={value}
        autocomplete="off"
        onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
      />
    </label>
  );
}

/** The key that goes to the first of these fields. */
export function filterKey(): KeyAction {
  return {
    keys: "f",
    text: t.timeline.keys.filter,
    run: () => document.querySelector<HTMLInputElement>("input[data-filter]")?.focus(),
  };
}
