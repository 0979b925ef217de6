import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { parseUuid } from "../lib/uuid.ts";
import { go, hrefOf, place, question } from "./data/place.ts";
import { caller, canChange, owner, owners, stats } from "./data/server.ts";
import { Button, Dialog } from "./parts/controls.tsx";
import { encryption, memoryCount } from "./parts/format.ts";
import { Text } from "./parts/text.tsx";
import { VIEWS, type View, viewAt } from "./views.ts";

type Props = Readonly<Record<"onHelp" | "onPalette" | "onRemember", () => void>>;

/** On a phone the menu is collapsed; choosing a view collapses it again. */
const isWide = matchMedia("(min-width: 601px)").matches;

export const Rail = ({ onHelp, onPalette, onRemember }: Props): VNode => (
  <header class="rail">
    <a class="brand" href={hrefOf("")}>
      <Mark />
      svc
    </a>
    <Whose />
    {canChange.value && owner.value !== undefined && (
      <Button onClick={onRemember} keyName="n">
        Remember…
      </Button>
    )}
    <details class="menu" open={isWide || undefined} key={place.value.view}>
      <summary>☰ {viewAt(place.value.view)?.title}</summary>
      <nav class="nav" aria-label="Views">
        {VIEWS.filter(({ letter }) => letter !== undefined).map((view) => (
          <Entry key={view.path} view={view} />
        ))}
      </nav>
    </details>
    <Pack />
    <div class="hints">
      <button type="button" onClick={onHelp} aria-keyshortcuts="?">
        <kbd>?</kbd> keys
      </button>
      <button type="button" onClick={onPalette} aria-keyshortcuts="Control+K">
        <kbd>ctrl k</kbd> go to
      </button>
    </div>
  </header>
);

function Entry({ view: { path, title, letter, badge } }: { view: View }): VNode {
  const count = badge?.() ?? 0;
  const at = place.value.view;
  const isHere = at === path || (at === "memory" && path === "");
  return (
    <a href={hrefOf(path)} aria-current={isHere ? (at === path ? "page" : "true") : undefined}>
      <span>{title}</span>
      {count > 0 && (
        <i class="count">
          {count}
          <span class="vh">{count} open</span>
        </i>
      )}
      <kbd aria-hidden="true">g {letter}</kbd>
    </a>
  );
}

const Mark = (): VNode => (
  <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
    <path d="M3 4.5h14M3 10h9M3 15.5h11" class="s-ink" stroke-width="2.2" stroke-linecap="round" />
    <circle cx="16.5" cy="10" r="2" class="f-clash" />
  </svg>
);

function Whose(): VNode | null {
  const [isOpen, setOpen] = useState(false);
  const name = owner.value;
  if (name === undefined) return null;
  const at = owners.value.findIndex(({ user_id }) => user_id === name);
  if (owners.value.length < 2) {
    return (
      <p class="owner-name">
        <span class="vh">Owner </span>
        <Text of={name} line />
      </p>
    );
  }
  return (
    <>
      <button class="owner btn" type="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <span class="vh">Owner </span>
        <Text as="b" of={name} line />
        <span class="dim small">
          {at + 1} of {owners.value.length}
        </span>
        <svg width="8" height="12" viewBox="0 0 8 12" aria-hidden="true">
          <path d="M1 4 4 1l3 3M1 8l3 3 3-3" class="s-edge hollow" stroke-width="1.4" />
        </svg>
      </button>
      {isOpen && <OwnerChoice onClose={() => setOpen(false)} />}
    </>
  );
}

function Pack(): VNode | null {
  const known = stats.value;
  if (known === undefined) return null;
  const { node_count, details } = known;
  return (
    <div class="pack">
      <p>{memoryCount(node_count)}</p>
      {details !== null && (
        <p class="lock">
          {details.encrypted !== null && <Lock isLocked={details.encrypted} />}
          {encryption(details.encrypted)}
        </p>
      )}
      {caller.value?.read_only === true && <p>read-only: nothing can be changed here</p>}
    </div>
  );
}

function Lock({ isLocked }: { isLocked: boolean }): VNode {
  const color = isLocked ? "good" : "edge";
  return (
    <svg width="10" height="11" viewBox="0 0 10 11" aria-hidden="true">
      <rect y="4.5" width="10" height="6.5" rx="1.5" class={`f-${color}`} />
      <path
        d={isLocked ? "M2.5 5V3a2.5 2.5 0 0 1 5 0v2" : "M2.5 5V2.6a2.3 2.3 0 0 1 4.6 0"}
        class={`s-${color} hollow`}
        stroke-width="1.5"
      />
    </svg>
  );
}

function OwnerChoice({ onClose }: { onClose: () => void }): VNode {
  const choose = (name: string): void => {
    onClose();
    go(hrefOf(place.value.view === "memory" ? "" : place.value.view, "", { owner: name }));
  };
  return (
    <Dialog title="Whose memory?" onClose={onClose}>
      <ul class="choices">
        {owners.value.map(({ user_id: name, memories }) => (
          <li key={name}>
            <button type="button" aria-pressed={name === owner.value} onClick={() => choose(name)}>
              <Text of={name} line />
              <span class="dim">{memoryCount(memories)}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

type Choice = { readonly text: string; readonly run: () => void };

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
  const run = (entry: Choice | undefined): void => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  return (
    <Dialog title={<span class="vh">Go to</span>} onClose={onClose} class="palette">
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
          aria-label="A view, a memory's id, or a question"
          placeholder="A view, a memory's id, or a question"
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
      <div id="palette-list" role="listbox" aria-label="Go to">
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

function entriesFor(text: string): readonly Choice[] {
  const wanted = text.toLowerCase();
  const views = VIEWS.filter(
    ({ title, letter }) => letter !== undefined && title.toLowerCase().includes(wanted),
  ).map(({ path, title }) => ({ text: title, run: () => go(hrefOf(path)) }));
  if (text === "") return views;
  const id = parseUuid(text);
  if (id !== undefined) {
    return [{ text: `Open the memory ${id}`, run: () => go(hrefOf("memory", id)) }];
  }
  const ask = {
    text: `Ask: ${text}`,
    run: () => {
      question.value = text;
      go(hrefOf("search"));
    },
  };
  return [...views, ask];
}
