import { type ComponentChildren, Fragment, type VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { RetrievalPage } from "../client/types.gen.ts";
import { hrefOf, withQuery } from "../data/place.ts";
import { dateTime, exactTime, later } from "./format.ts";
import type { KeyAction } from "./keys.ts";
import { Text } from "./text.tsx";

type ButtonProps = {
  readonly children: ComponentChildren;
  readonly onClick?: (() => void) | undefined;
  readonly kind?: "plain" | "main" | "quiet" | "danger" | "link";
  readonly keyName?: string | undefined;
  readonly disabled?: boolean | undefined;
  readonly submits?: boolean;
  readonly label?: string | undefined;
};

export function Button(props: ButtonProps): VNode {
  const { children, onClick, kind = "plain", keyName, disabled, submits = false, label } = props;
  return (
    <button
      class={kind === "plain" ? "btn" : kind === "link" ? kind : `btn ${kind}`}
      type={submits ? "submit" : "button"}
      onClick={onClick}
      disabled={disabled}
      aria-label={label}
      aria-keyshortcuts={keyName}
    >
      {children}
      {keyName !== undefined && <kbd aria-hidden="true">{keyName}</kbd>}
    </button>
  );
}

type MomentProps = { at: string; show?: ((at: string) => string) | undefined };

/** A moment; its tooltip has seconds and the zone. @param show default `22 Nov 2026, 16:03` */
export const Moment = ({ at, show = dateTime }: MomentProps): VNode => (
  <time dateTime={at} title={exactTime(at)}>
    {show(at)}
  </time>
);

export function CopyButton(props: { text: string; children?: ComponentChildren }): VNode {
  const [isDone, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(props.text);
    setDone(true);
    later(1600, () => setDone(false));
  };
  return (
    <Button kind="quiet" onClick={copy}>
      {isDone ? "Copied" : (props.children ?? "Copy")}
    </Button>
  );
}

export const Command = ({ children }: { children: string }): VNode => (
  <div class="cmd">
    <code tabIndex={0}>{children}</code>
    <CopyButton text={children} />
  </div>
);

type HeadProps = Readonly<Record<"title", ComponentChildren>> &
  Readonly<Partial<Record<"note" | "end", ComponentChildren>>>;

export const Head = (props: HeadProps): VNode => (
  <div class="head">
    <h2>{props.title}</h2>
    {props.note !== undefined && <span class="dim">{props.note}</span>}
    {props.end !== undefined && <span class="end">{props.end}</span>}
  </div>
);

type BarPart = { readonly share: number; readonly class: string; readonly pale?: boolean };

/** A bar of parts from 0 to 100, drawn without a style attribute. */
export function Bar(props: { of: readonly BarPart[]; label?: string; height?: number }): VNode {
  const { of, label, height = 10 } = props;
  let at = 0;
  const rects = of.map(({ share, class: name, pale }, index) => {
    const width = Math.max(0, Math.min(100 - at, share * 100));
    const place = { x: at, width, height, "fill-opacity": pale ? 0.4 : 1 };
    at += width + (width > 0 && index < of.length - 1 ? 0.5 : 0);
    return <rect key={index} class={name} {...place} />;
  });
  const frame = { viewBox: `0 0 100 ${height}`, preserveAspectRatio: "none" };
  const drawn = [<rect class="bg" width="100" height={height} />, ...rects];
  return label === undefined ? (
    <svg {...frame} aria-hidden="true" children={drawn} />
  ) : (
    <svg {...frame} role="img" aria-label={label} children={drawn} />
  );
}

export function Measure(props: { of: number; class?: string; label?: string }): VNode {
  const { of, class: name = "f-edge", label } = props;
  return <Bar of={[{ share: of, class: name }]} height={6} {...(label && { label })} />;
}

type DialogProps = {
  readonly title: ComponentChildren;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly class?: string;
};

/** A modal dialog; Escape or a click outside closes it, and the focus returns to where it was. */
export function Dialog({ title, onClose, children, class: name = "" }: DialogProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} class={name} aria-labelledby={id} onClose={onClose} closedby="any">
      <div class="within">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

type FormProps = Omit<DialogProps, "class"> & {
  readonly save: string;
  readonly kind?: "main" | "danger";
  readonly isReady: boolean;
  readonly onSave: () => void;
};

/** A wide dialog with a form, submitted by its button or Enter. */
export function FormDialog(props: FormProps): VNode {
  const { title, onClose, children, save, kind = "main", isReady, onSave } = props;
  return (
    <Dialog title={title} onClose={onClose} class="wide">
      <form
        class="correct"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) onSave();
        }}
      >
        {children}
        <div class="acts">
          <Button kind={kind} submits disabled={!isReady}>
            {save}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

export function TextField(props: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
}): VNode {
  const { label, value, onInput } = props;
  return (
    <label>
      <span class="small">{label}</span>
      <textarea
        rows={4}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </label>
  );
}

const SHOWN = 200_000;

type JsonProps = {
  readonly data: unknown;
  readonly path: string;
  readonly body?: object | undefined;
};

/** Shows the JSON behind a view, and the equivalent command, without the key. */
export function JsonButton({ data, path, body }: JsonProps): VNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="quiet" onClick={() => setOpen(true)}>
        JSON
      </Button>
      {isOpen && (
        <Dialog title="JSON" onClose={() => setOpen(false)} class="wide json">
          <pre tabIndex={0}>{JSON.stringify(data, null, 2).slice(0, SHOWN)}</pre>
          <div class="acts">
            <CopyButton text={JSON.stringify(data)} />
            <CopyButton text={curlOf(path, body)}>As curl</CopyButton>
            <Button onClick={() => setOpen(false)}>Close</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function curlOf(path: string, body: object | undefined): string {
  const words = ["curl", "-H", '"Authorization: Bearer $SVC_KEY"'];
  if (body !== undefined) {
    words.push("-H", "'content-type: application/json'", "-d", quoted(JSON.stringify(body)));
  }
  return [...words, quoted(`${location.origin}${path}`)].join(" ");
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

type FilterProps = {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  /** Gets the trimmed text when typing pauses. */
  readonly onChange: (text: string) => void;
  readonly class?: string;
};

export function FilterField(props: FilterProps): VNode {
  const { label, hint, value, onChange, class: name = "find" } = props;
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

type SearchProps = {
  readonly label: string;
  readonly hint?: string;
  readonly value?: string;
  /** What the button says. */
  readonly name: string;
  readonly onSearch: (text: string) => void;
  readonly children?: ComponentChildren;
};

/** A field submitted by its button or Enter. */
export function SearchForm(props: SearchProps): VNode {
  const [text, setText] = useState(props.value ?? "");
  return (
    <form
      class="sum-question"
      onSubmit={(event) => {
        event.preventDefault();
        props.onSearch(text.trim());
      }}
    >
      <label class="find">
        <span class="small">{props.label}</span>
        <input
          type="search"
          placeholder={props.hint}
          value={text}
          autocomplete="off"
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <Button submits>{props.name}</Button>
      {props.children}
    </form>
  );
}

export function filterKey(): KeyAction {
  return {
    keys: "f",
    text: "filter by text",
    run: () => document.querySelector<HTMLInputElement>("input[data-filter]")?.focus(),
  };
}

/** A section of a view with its heading; `side`: in the side column, with a small heading. */
export const Section = (
  props: HeadProps & { side?: boolean; children?: ComponentChildren },
): VNode => (
  <section class="sect">
    {props.side ? <h2 class="side-h">{props.title}</h2> : <Head {...props} />}
    {props.children}
  </section>
);

/** A one-line text that is a link. @param step whether `j` and `k` stop there */
export const TextLink = (props: { href: string; text: string; step?: boolean }): VNode => (
  <a href={props.href} data-step={props.step ? "" : undefined}>
    <Text of={props.text} line />
  </a>
);

type Page = readonly [name: string, query: Parameters<typeof withQuery>[0]];

/** Ways to other pages of a list; one that is false is left out. */
export const Pages = (props: { of: readonly (Page | false)[]; class: string }): VNode => (
  <p class={props.class}>
    {props.of.map(
      (one) =>
        one && (
          <a key={one[0]} class="btn" href={withQuery(one[1])}>
            {one[0]}
          </a>
        ),
    )}
  </p>
);

type Named = readonly [name: ComponentChildren, value: ComponentChildren, mono?: boolean];

/** Values with their names; false and undefined ones are omitted. */
export const Facts = (props: { of: readonly (Named | false)[]; class?: string }): VNode => (
  <dl class={props.class ?? "facts"}>
    {props.of.map(
      (one, index) =>
        one && (
          <Fragment key={index}>
            <dt>{one[0]}</dt>
            <dd class={one[2] ? "mono" : undefined}>{one[1]}</dd>
          </Fragment>
        ),
    )}
  </dl>
);

/** One of several values. @param of each with its label */
export function Segments<T extends string>(props: {
  readonly legend: string;
  readonly isLegendShown?: boolean;
  readonly of: Readonly<Record<T, string>>;
  readonly value: T;
  readonly onChange: (value: T) => void;
}): VNode {
  const { legend, isLegendShown = false, of, value, onChange } = props;
  const name = useId();
  // SAFETY: the words have a key for each value.
  const values = Object.keys(of) as T[];
  return (
    <fieldset class="segments">
      <legend class={isLegendShown ? "small" : "vh"}>{legend}</legend>
      {values.map((one) => (
        <label key={one}>
          <input type="radio" name={name} checked={value === one} onChange={() => onChange(one)} />
          <span>{of[one]}</span>
        </label>
      ))}
    </fieldset>
  );
}

export const Title = (props: {
  children: ComponentChildren;
  data: unknown;
  path: string;
}): VNode => (
  <div class="title">
    <h1 class="ttl">{props.children}</h1>
    {props.data !== undefined && <JsonButton data={props.data} path={props.path} />}
  </div>
);

/** Breadcrumbs of a record, from the widest to the narrowest, and what can be copied of it. */
export function Crumbs(props: { of: readonly VNode[]; data?: unknown; path?: string }): VNode {
  const { of, data, path } = props;
  const steps = of.flatMap((one, index) =>
    index === 0 ? [one] : [<span aria-hidden="true">›</span>, one],
  );
  return (
    <nav class="crumbs" aria-label="Where this is">
      {steps}
      {path !== undefined && (
        <span class="end">
          <JsonButton data={data} path={path} />
          <CopyButton text={location.href}>Copy link</CopyButton>
        </span>
      )}
    </nav>
  );
}

type AskedProps = {
  readonly of: Pick<
    RetrievalPage["retrievals"][number],
    "request_id" | "query" | "client" | "created_at"
  >;
  readonly figure: string;
  readonly more?: string | false;
};

export const AskedItem = ({ of, figure, more }: AskedProps): VNode => (
  <li>
    <p>
      <TextLink href={hrefOf("search", of.request_id)} text={of.query} />
    </p>
    <b>{figure}</b>
    <span class="small">
      {of.client !== null && <Text of={of.client} line />}
      {of.client !== null && ", "}
      <Moment at={of.created_at} />
      {more}
    </span>
  </li>
);
