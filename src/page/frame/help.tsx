import type { VNode } from "preact";
import { LOOKS, look } from "../data/look.ts";
import { t } from "../language/texts.ts";
import { Button } from "../parts/controls.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { activeKeys, keysAreOn, turnKeys } from "../parts/keys.ts";

/** What the browser does by itself. */
const ENTER = { keys: "Enter", text: t.keys.open };

/** All keys that do something now, and how the page looks. */
export function Help({ onClose }: { onClose: () => void }): VNode {
  return (
    <Dialog title={t.keys.title} onClose={onClose} class="wide">
      <dl class="key-list">
        {[...activeKeys(), ENTER].map(({ keys, text }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys === " " ? t.keys.space : keys}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p>
        <label class="check">
          <input
            type="checkbox"
            checked={keysAreOn.value}
            onChange={({ currentTarget }) => turnKeys(currentTarget.checked)}
          />
          {t.keys.on} <span class="dim">{t.keys.onText}</span>
        </label>
      </p>
      <fieldset class="segments">
        <legend class="small">{t.frame.look.title}</legend>
        {LOOKS.map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="look"
              checked={look.value === one}
              onChange={() => {
                look.value = one;
              }}
            />
            <span>{t.frame.look[one]}</span>
          </label>
        ))}
      </fieldset>
      <Button onClick={onClose}>{t.parts.close}</Button>
    </Dialog>
  );
}
