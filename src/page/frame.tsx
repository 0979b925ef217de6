import { computed, effect, signal, useSignalEffect } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { codeFailure, isOfOpen, keyIsWanted, useKey } from "./data/http.ts";
import { assign, go, hrefOf, place } from "./data/place.ts";
import { beginning, caller, canChange, lost, owner, retryNow, stats } from "./data/server.ts";
import { Button, Command, Dialog, Segments } from "./parts/controls.tsx";
import { clockTime, later, now } from "./parts/format.ts";
import { activeKeys, keysAreOn, turnKeys, useKeys } from "./parts/keys.ts";
import { Box, Failure, Skeleton } from "./parts/states.tsx";
import { say, Toasts } from "./parts/toasts.tsx";
import { Palette, Rail } from "./rail.tsx";
import { Import } from "./views/import.tsx";
import { Remember } from "./views/memory/replace.tsx";
import { VIEWS, viewAt } from "./views.ts";

type Overlay = "help" | "palette" | "remember" | "import";

/** A file dropped anywhere on the page. */
function useDrop(isTaken: boolean, take: (file: File) => void): void {
  useEffect(() => {
    const onDrag = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      // Otherwise the browser would leave the page and open the file.
      event.preventDefault();
      const [file, other] = event.type === "drop" ? event.dataTransfer.files : [];
      if (other !== undefined) say("One file at a time: put them into a zip file.");
      else if (file !== undefined && isTaken) take(file);
    };
    const stop = new AbortController();
    for (const type of ["dragover", "drop"] as const) {
      addEventListener(type, onDrag, { signal: stop.signal });
    }
    return () => stop.abort();
  }, [isTaken]);
}

export function Frame(): VNode {
  const [overlay, setOverlay] = useState<Overlay | undefined>(undefined);
  const [dropped, setDropped] = useState<File | undefined>(undefined);
  const close = (): void => {
    setOverlay(undefined);
    setDropped(undefined);
  };
  const mayAdd = canChange.value && owner.value !== undefined;
  useDrop(mayAdd, (file) => {
    setDropped(file);
    setOverlay("import");
  });
  useKeys([
    { keys: "?", text: "these keys", run: () => setOverlay("help") },
    { keys: "ctrl k", text: "go to anything", run: () => setOverlay("palette") },
    { keys: "/", text: "ask", run: focusQuestion },
    ...(mayAdd
      ? [
          { keys: "n", text: "remember something", run: () => setOverlay("remember") },
          { keys: "i", text: "bring in a file", run: () => setOverlay("import") },
        ]
      : []),
    { keys: "Escape", text: "back", run: leave },
    ...VIEWS.flatMap(({ path, letter, title }) =>
      letter === undefined
        ? []
        : [{ keys: `g ${letter}`, text: `go to ${title}`, run: () => go(hrefOf(path)) }],
    ),
  ]);
  useSignalEffect(() => {
    document.title = `${(viewAt(place.value.view) ?? VIEWS[0])?.title ?? ""} · svc`;
  });
  return (
    <>
      <div class="app">
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <Rail
          onHelp={() => setOverlay("help")}
          onPalette={() => setOverlay("palette")}
          onRemember={() => setOverlay("remember")}
        />
        <main id="main" tabIndex={-1}>
          <LostServer />
          <Content />
        </main>
      </div>
      <Toasts />
      {overlay === "help" && <Help onClose={close} />}
      {overlay === "palette" && <Palette onClose={close} />}
      {overlay === "remember" && <Remember onClose={close} onImport={() => setOverlay("import")} />}
      {overlay === "import" && <Import dropped={dropped} onClose={close} />}
    </>
  );
}

/** Not the counts themselves, which change with every poll: the view only re-renders when this changes. */
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
  // The other view is rendered first.
  later(0, select);
}

/** Views that Escape does not leave. */
const HOMES: ReadonlySet<string> = new Set(["", "timeline"]);

function leave(): void {
  const { activeElement } = document;
  if (activeElement instanceof HTMLInputElement || activeElement instanceof HTMLTextAreaElement) {
    activeElement.blur();
  } else if (!HOMES.has(place.value.view) && history.length > 1) {
    history.back();
  }
}

const Empty = (): VNode => (
  <>
    <h1 class="vh">Overview</h1>
    <Box title="Nothing is remembered yet">
      <p>
        The first memory appears here as soon as an assistant stores one, or you do: press
        “Remember”, or drop a file of another program on this page. To connect an assistant:
      </p>
      <Command>svc connect claude-code --db-path ./memory.pack</Command>
    </Box>
  </>
);

function LostServer(): VNode | null {
  const state = lost.value;
  const [at, tick] = useState(now());
  useEffect(() => (state === undefined ? undefined : later(1000, () => tick(now()))), [state, at]);
  if (state === undefined) return null;
  const seconds = Math.max(0, Math.ceil((state.nextTry - now()) / 1000));
  return (
    <section class="box lost" role="alert">
      <h2>svc does not answer</h2>
      <p>
        It answered on {location.host} until {clockTime(state.since)}. What you see is from then,
        and nothing can be changed. Start it again, and this page goes on by itself.
      </p>
      <p class="small" aria-hidden="true">
        next try in {seconds} s
      </p>
      <p>
        <Button onClick={retryNow}>Try now</Button>
      </p>
    </section>
  );
}

const REASONS = {
  missing:
    "The server was started with keys. Enter the one that you were given; this tab keeps it until it is closed.",
  opened: "Open the link that `svc open` printed; start it again for another tab.",
  wrong: "The server does not know this key.",
  ended: "Another window has used the link of svc open. Run the command again for a new link.",
};

function KeyEntry({ reason }: { reason: "missing" | "wrong" | "ended" }): VNode {
  const [text, setText] = useState("");
  const [isOpened, setOpened] = useState<boolean | undefined>(undefined);
  useEffect(() => {
    void isOfOpen().then(setOpened);
  }, []);
  const told = codeFailure.value;
  return (
    <section class="box key-entry">
      <h1>This memory asks for a key</h1>
      <p
        role={reason === "missing" ? undefined : "alert"}
        class={reason === "missing" ? "" : "warn"}
      >
        {REASONS[isOpened === true && reason !== "ended" ? "opened" : reason]}
      </p>
      {told !== undefined && (
        <p class="warn" role="alert">
          The link was not accepted: {told}
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
            <span class="small">Key</span>
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
            Use this key
          </Button>
        </form>
      )}
    </section>
  );
}

const ENTER = { keys: "Enter", text: "open what has the focus" };

const Help = ({ onClose }: { onClose: () => void }): VNode => (
  <Dialog title="Keys" onClose={onClose} class="wide">
    <dl class="key-list">
      {[...activeKeys(), ENTER].map(({ keys, text }) => (
        <div key={keys}>
          <dt>
            <kbd>{keys === " " ? "space" : keys}</kbd>
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
        Single-key shortcuts <span class="dim">Turn this off if you speak to your computer.</span>
      </label>
    </p>
    <Segments
      legend="Look"
      isLegendShown
      of={{ system: "match system", light: "light", dark: "dark" }}
      value={look.value}
      onChange={(one) => assign(look, one)}
    />
    <Button onClick={onClose}>Close</Button>
  </Dialog>
);

const PLACE = "svc.look";
const LOOKS = ["system", "light", "dark"] as const;
type Look = (typeof LOOKS)[number];

const look = signal<Look>(LOOKS.find((one) => one === localStorage.getItem(PLACE)) ?? "system");

export function applyLook(): void {
  effect(() => {
    const { value } = look;
    document.documentElement.dataset["look"] = value;
    if (value === "system") localStorage.removeItem(PLACE);
    else localStorage.setItem(PLACE, value);
  });
}
