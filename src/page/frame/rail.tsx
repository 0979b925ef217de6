import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { hrefOf, place } from "../data/place.ts";
import { caller, owner, owners, stats } from "../data/server.ts";
import { t } from "../language/texts.ts";
import { encryption } from "../parts/encryption.ts";
import { Text } from "../parts/text.tsx";
import { VIEWS, type View } from "../views.ts";
import { OwnerChoice } from "./owner-choice.tsx";

type Props = { readonly onHelp: () => void; readonly onPalette: () => void };

/** Whose memory it is, the views, and what the pack is. */
export function Rail({ onHelp, onPalette }: Props): VNode {
  return (
    <header class="rail">
      <a class="brand" href={hrefOf("")}>
        <Mark />
        svc
      </a>
      <Whose />
      <nav class="nav" aria-label={t.frame.views}>
        {VIEWS.filter(({ letter }) => letter !== undefined).map((view) => (
          <Entry key={view.path} view={view} />
        ))}
      </nav>
      <Pack />
      <div class="hints">
        <button type="button" onClick={onHelp} aria-keyshortcuts="?">
          <kbd>?</kbd> {t.frame.keysHint}
        </button>
        <button type="button" onClick={onPalette} aria-keyshortcuts="Control+K">
          <kbd>ctrl k</kbd> {t.frame.goHint}
        </button>
      </div>
    </header>
  );
}

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
          <span class="vh">{t.frame.open(count)}</span>
        </i>
      )}
      <kbd aria-hidden="true">g {letter}</kbd>
    </a>
  );
}

function Mark(): VNode {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <path
        d="M3 4.5h14M3 10h9M3 15.5h11"
        class="s-ink"
        stroke-width="2.2"
        stroke-linecap="round"
      />
      <circle cx="16.5" cy="10" r="2" class="f-clash" />
    </svg>
  );
}

/** The owner; an operator of several can choose another. */
function Whose(): VNode | null {
  const [isOpen, setOpen] = useState(false);
  const name = owner.value;
  if (name === undefined) return null;
  const at = owners.value.findIndex(({ user_id }) => user_id === name);
  if (owners.value.length < 2) {
    return (
      <p class="owner-name">
        <span class="vh">{t.frame.owner} </span>
        <Text of={name} line />
      </p>
    );
  }
  return (
    <>
      <button class="owner btn" type="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <span class="vh">{t.frame.owner} </span>
        <b>
          <Text of={name} line />
        </b>
        <span class="dim small">{t.frame.ofOwners(at + 1, owners.value.length)}</span>
        <svg width="8" height="12" viewBox="0 0 8 12" aria-hidden="true">
          <path d="M1 4 4 1l3 3M1 8l3 3 3-3" class="s-edge hollow" stroke-width="1.4" />
        </svg>
      </button>
      {isOpen && <OwnerChoice onClose={() => setOpen(false)} />}
    </>
  );
}

/** How much the owner's part of the pack holds, and how it is kept. */
function Pack(): VNode | null {
  const known = stats.value;
  if (known === undefined) return null;
  const { node_count, details } = known;
  return (
    <div class="pack">
      <p>{t.frame.memories(node_count)}</p>
      {details !== null && (
        <p class="lock">
          {details.encrypted !== null && <Lock isLocked={details.encrypted} />}
          {encryption(details.encrypted)}
        </p>
      )}
      {caller.value?.read_only === true && <p>{t.frame.readOnly}</p>}
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
