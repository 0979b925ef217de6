import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { parseUuid } from "../../lib/uuid.ts";
import { go, hrefOf } from "../data/place.ts";
import { question } from "../data/question.ts";
import { t } from "../language/texts.ts";
import { Dialog } from "../parts/dialog.tsx";
import { VIEWS } from "../views.ts";

type Entry = { readonly text: string; readonly run: () => void };

/** Goes anywhere by a few letters: a view, a memory by its id, or a question. */
export function Palette({ onClose }: { onClose: () => void }): VNode {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const entries = entriesFor(text.trim());
  const chosen = Math.min(at, entries.length - 1);
  const onKey = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    setAt((chosen + step + entries.length) % Math.max(1, entries.length));
  };
  const run = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  return (
    <Dialog
      title={<span class="vh">{t.frame.palette.title}</span>}
      onClose={onClose}
      class="palette"
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          run(entries[chosen]);
        }}
      >
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={entries.length > 0 ? `palette-${chosen}` : undefined}
          aria-label={t.frame.palette.label}
          placeholder={t.frame.palette.label}
          autocomplete="off"
          spellcheck={false}
          value={text}
          onKeyDown={onKey}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setAt(0);
          }}
        />
      </form>
      <div id="palette-list" role="listbox" aria-label={t.frame.palette.title}>
        {entries.map((entry, index) => (
          <button
            type="button"
            role="option"
            tabIndex={-1}
            id={`palette-${index}`}
            key={entry.text}
            aria-selected={index === chosen}
            onClick={() => run(entry)}
          >
            <bdi>{entry.text}</bdi>
          </button>
        ))}
      </div>
    </Dialog>
  );
}

function entriesFor(text: string): readonly Entry[] {
  const wanted = text.toLowerCase();
  const views = VIEWS.filter(
    ({ title, letter }) => letter !== undefined && title.toLowerCase().includes(wanted),
  ).map(({ path, title }) => ({ text: title, run: () => go(hrefOf(path)) }));
  if (text === "") return views;
  const id = parseUuid(text);
  if (id !== undefined) {
    return [{ text: t.frame.palette.memory(id), run: () => go(hrefOf("memory", id)) }];
  }
  const ask = {
    text: t.frame.palette.ask(text),
    run: () => {
      question.value = text;
      go(hrefOf("search"));
    },
  };
  return [...views, ask];
}
