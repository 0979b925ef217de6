import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { t } from "../../language/texts.ts";
import { Button } from "../../parts/controls.tsx";
import { FilterField } from "../../parts/filter.tsx";
import {
  asked,
  CLAIM_PARTS,
  type ClaimPart,
  groups,
  groupsOf,
  kind,
  setKind,
  toggleGroup,
  wanted,
} from "./fields.ts";

/** What is asked: count or sum, of which claims, in which groups; or a question in words. */
export function Form(): VNode {
  return (
    <div class="claims-form">
      <fieldset class="segments">
        <legend class="vh">{t.claims.kindLabel}</legend>
        {(["count", "sum"] as const).map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="kind"
              checked={kind() === one}
              onChange={() => setKind(one)}
            />
            <span>{t.claims.kind[one]}</span>
          </label>
        ))}
      </fieldset>
      {kind() === "sum" && <Question />}
      {asked.value === "" && (
        <>
          <fieldset class="claim-fields">
            <legend class="small">{t.claims.only}</legend>
            {CLAIM_PARTS.map((part) => (
              <Field key={part} part={part} />
            ))}
          </fieldset>
          <fieldset class="claim-groups">
            <legend class="small">{t.claims.by}</legend>
            {groupsOf(kind()).map((group) => (
              <label key={group} class="check">
                <input
                  type="checkbox"
                  checked={groups().includes(group)}
                  // Amounts of several units are never summed.
                  disabled={group === "unit"}
                  onChange={() => toggleGroup(group)}
                />
                {t.claims[group]}
              </label>
            ))}
          </fieldset>
        </>
      )}
    </div>
  );
}

function Field({ part }: { part: ClaimPart }): VNode {
  return (
    <FilterField
      label={t.claims[part]}
      hint={t.claims.any}
      value={wanted.value[part]}
      onChange={(text) => {
        wanted.value = { ...wanted.value, [part]: text };
      }}
    />
  );
}

function Question(): VNode {
  const text = useSignal(asked.value);
  return (
    <form
      class="sum-question"
      onSubmit={(event) => {
        event.preventDefault();
        asked.value = text.value.trim();
      }}
    >
      <label class="find">
        <span class="small">{t.claims.question}</span>
        <input
          type="text"
          placeholder={t.claims.questionHint}
          value={text.value}
          autocomplete="off"
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
          }}
        />
      </label>
      <Button submits>{t.claims.ask}</Button>
      {asked.value !== "" && (
        <Button
          kind="quiet"
          onClick={() => {
            text.value = "";
            asked.value = "";
          }}
        >
          {t.claims.leave}
        </Button>
      )}
    </form>
  );
}
