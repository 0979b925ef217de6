import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useKey } from "../data/http.ts";
import { codeFailure, isOfOpen } from "../data/session.ts";
import { t } from "../language/texts.ts";
import { Button } from "../parts/controls.tsx";

/** Asks for the key of the server, and says why. */
export function KeyEntry({ reason }: { reason: "missing" | "wrong" | "ended" }): VNode {
  const [text, setText] = useState("");
  const [isOpened, setOpened] = useState<boolean | undefined>(undefined);
  useEffect(() => {
    void isOfOpen().then(setOpened);
  }, []);
  const told = codeFailure.value;
  return (
    <section class="box key-entry">
      <h1>{t.frame.key.title}</h1>
      <p
        role={reason === "missing" ? undefined : "alert"}
        class={reason === "missing" ? "" : "warn"}
      >
        {isOpened === true && reason !== "ended" ? t.frame.key.opened : t.frame.key[reason]}
      </p>
      {told !== undefined && (
        <p class="warn" role="alert">
          {t.frame.key.code} {told}
        </p>
      )}
      {isOpened === false && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim() !== "") useKey(text.trim());
          }}
        >
          <label>
            <span class="small">{t.frame.key.label}</span>
            <input
              class="inp"
              type="password"
              autocomplete="off"
              spellcheck={false}
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          </label>
          <Button kind="main" submits>
            {t.frame.key.use}
          </Button>
        </form>
      )}
    </section>
  );
}
