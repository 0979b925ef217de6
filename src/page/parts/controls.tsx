import type { ComponentChildren, JSX, VNode } from "preact";
import { useState } from "preact/hooks";
import { later } from "../data/clock.ts";
import { t } from "../language/texts.ts";
import { dateTime, exactTime } from "./format.ts";

type ButtonProps = {
  readonly children: ComponentChildren;
  readonly onClick?: (() => void) | undefined;
  readonly kind?: "plain" | "main" | "quiet" | "danger";
  readonly keyName?: string | undefined;
  readonly disabled?: boolean | undefined;
  readonly submits?: boolean;
  readonly label?: string | undefined;
};

/** A button, with the key that does the same. */
export function Button(props: ButtonProps): VNode {
  const { children, onClick, kind = "plain", keyName, disabled, submits = false, label } = props;
  return (
    <button
      class={kind === "plain" ? "btn" : `btn ${kind}`}
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

/** A moment, with seconds and zone for whoever points at it. @param show default `22 Nov 2026, 16:03` */
export function Moment({
  at,
  show = dateTime,
}: {
  at: string;
  show?: (at: string) => string;
}): VNode {
  return (
    <time dateTime={at} title={exactTime(at)}>
      {show(at)}
    </time>
  );
}

/** Copies a text; says so for a moment. */
export function CopyButton({
  text,
  children,
}: {
  text: string;
  children?: ComponentChildren;
}): VNode {
  const [isDone, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    later(1600, () => setDone(false));
  };
  return (
    <Button kind="quiet" onClick={copy}>
      {isDone ? t.parts.copied : (children ?? t.parts.copy)}
    </Button>
  );
}

/** A command to type. */
export function Command({ children }: { children: string }): VNode {
  return (
    <div class="cmd">
      <code tabIndex={0}>{children}</code>
      <CopyButton text={children} />
    </div>
  );
}

/** A heading of a part of a view, with a note and something at its end. */
export function Head(props: {
  readonly id?: string;
  readonly title: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly end?: ComponentChildren;
}): VNode {
  return (
    <div class="head">
      <h2 id={props.id}>{props.title}</h2>
      {props.note !== undefined && <span class="dim">{props.note}</span>}
      {props.end !== undefined && <span class="end">{props.end}</span>}
    </div>
  );
}

/** A bar of parts from 0 to 100, drawn without a style attribute. */
export function Bar(props: {
  readonly parts: readonly {
    readonly share: number;
    readonly class: string;
    readonly pale?: boolean;
  }[];
  readonly label?: string;
  readonly height?: number;
}): VNode {
  const { parts, label, height = 10 } = props;
  let at = 0;
  const rects: JSX.Element[] = parts.map(({ share, class: name, pale }, index) => {
    const width = Math.max(0, Math.min(100 - at, share * 100));
    const x = at;
    at += width + (width > 0 && index < parts.length - 1 ? 0.5 : 0);
    return (
      <rect
        key={index}
        class={name}
        x={x}
        width={width}
        height={height}
        fill-opacity={pale ? 0.4 : 1}
      />
    );
  });
  const drawn = (
    <>
      <rect class="bg" width="100" height={height} />
      {rects}
    </>
  );
  const frame = { viewBox: `0 0 100 ${height}`, preserveAspectRatio: "none" };
  if (label === undefined) {
    return (
      <svg {...frame} aria-hidden="true">
        {drawn}
      </svg>
    );
  }
  return (
    <svg {...frame} role="img" aria-label={label}>
      {drawn}
    </svg>
  );
}
