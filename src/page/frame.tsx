import { computed, useSignalEffect } from "@preact/signals";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { later } from "./data/clock.ts";
import { keyIsWanted } from "./data/http.ts";
import { go, hrefOf, place } from "./data/place.ts";
import { beginning, caller, owner, stats } from "./data/server.ts";
import { Empty } from "./frame/empty.tsx";
import { Help } from "./frame/help.tsx";
import { KeyEntry } from "./frame/key-entry.tsx";
import { LostServer } from "./frame/lost-server.tsx";
import { Palette } from "./frame/palette.tsx";
import { Rail } from "./frame/rail.tsx";
import { t } from "./language/texts.ts";
import { useKeys } from "./parts/keys.ts";
import { Failure, Skeleton } from "./parts/states.tsx";
import { Toasts } from "./parts/toasts.tsx";
import { VIEWS, viewAt } from "./views.ts";

/** The page: the rail, the view of the address, and what may lie above both. */
export function Frame(): VNode {
  const [overlay, setOverlay] = useState<"help" | "palette" | undefined>(undefined);
  const close = (): void => setOverlay(undefined);
  useKeys([
    { keys: "?", text: t.keys.help, run: () => setOverlay("help") },
    { keys: "ctrl k", text: t.keys.palette, run: () => setOverlay("palette") },
    { keys: "/", text: t.keys.ask, run: focusQuestion },
    { keys: "Escape", text: t.keys.back, run: leave },
    ...VIEWS.flatMap(({ path, letter, title }) =>
      letter === undefined
        ? []
        : [{ keys: `g ${letter}`, text: t.keys.goTo(title), run: () => go(hrefOf(path)) }],
    ),
  ]);
  useSignalEffect(() => {
    document.title = t.frame.title((viewAt(place.value.view) ?? VIEWS[0])?.title ?? "");
  });
  return (
    <>
      <Patterns />
      <div class="app">
        <a class="skip" href="#main">
          {t.frame.skip}
        </a>
        <Rail onHelp={() => setOverlay("help")} onPalette={() => setOverlay("palette")} />
        <main id="main" tabIndex={-1}>
          <LostServer />
          <Content />
        </main>
      </div>
      <Toasts />
      {overlay === "help" && <Help onClose={close} />}
      {overlay === "palette" && <Palette onClose={close} />}
    </>
  );
}

/** Not the counts themselves, which are new at every look at the server: the view is drawn again only when this changes. */
const isEmpty = computed(() => stats.value?.event_count === 0);

function Content(): VNode | null {
  const { view, id } = place.value;
  const shown = viewAt(view) ?? VIEWS[0];
  if (keyIsWanted.value !== undefined) return <KeyEntry reason={keyIsWanted.value} />;
  if (beginning.value !== undefined) return <Failure of={beginning.value} />;
  if (caller.value === undefined) return <Skeleton />;
  if (owner.value === undefined) return <Empty />;
  if (shown === undefined) return null;
  if (isEmpty.value && shown.path === "") return <Empty />;
  const View = shown.component;
  return <View key={`${owner.value}/${shown.path}`} id={id} />;
}

function focusQuestion(): void {
  const select = (): void =>
    document.querySelector<HTMLInputElement>("input[data-question]")?.select();
  if (viewAt(place.peek().view)?.path !== "search") go(hrefOf("search"));
  // Another view is drawn first.
  later(0, select);
}

/** Leaves a field, else goes a step back within the page. */
function leave(): void {
  const { activeElement } = document;
  if (activeElement instanceof HTMLInputElement || activeElement instanceof HTMLTextAreaElement) {
    activeElement.blur();
  } else if (place.value.view !== "" && history.length > 1) {
    history.back();
  }
}

/** The hatching of bars, which fills refer to. */
function Patterns(): VNode {
  return (
    <svg width="0" height="0" class="vh" aria-hidden="true">
      <defs>
        <pattern
          id="cut"
          width="4"
          height="4"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <rect width="1.4" height="4" class="f-edge" />
        </pattern>
      </defs>
    </svg>
  );
}
