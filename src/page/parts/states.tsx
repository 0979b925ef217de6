import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Node } from "../client/types.gen.ts";
import { type CallFailure, isLost } from "../data/http.ts";
import type { Query } from "../data/server.ts";
import { Button } from "./controls.tsx";
import { later, words } from "./format.ts";
import { Text } from "./text.tsx";

const SKELETON_AFTER_MS = 150;
const WIDTHS = [82, 38, 67, 44, 74, 29];

export function Skeleton({ label = "Reading the memory…" }: { label?: string | undefined }): VNode {
  const [isShown, setShown] = useState(false);
  useEffect(() => later(SKELETON_AFTER_MS, () => setShown(true)), []);
  return (
    <div class="skeleton" aria-busy="true">
      {isShown && (
        <>
          {WIDTHS.map((width, index) => (
            <svg
              key={width}
              class={index % 2 === 1 ? "skel last" : "skel"}
              viewBox="0 0 100 10"
              preserveAspectRatio="none"
              aria-hidden="true"
            >
              <rect class="bg" width={width} height="10" rx="2" />
            </svg>
          ))}
          <p class="small" role="status">
            {label}
          </p>
        </>
      )}
    </div>
  );
}

export const Box = (props: { title: string; children?: ComponentChildren }): VNode => (
  <section class="box">
    <h2>{props.title}</h2>
    {props.children}
  </section>
);

/** A problem: a description, and below it the code. */
export const Warning = (props: {
  readonly title: ComponentChildren;
  readonly children?: ComponentChildren;
  readonly code?: string;
}): VNode => (
  <div class="warning" role="alert">
    <p class="warn">
      <b>{props.title}</b> {props.children}
    </p>
    {props.code !== undefined && <p class="small">{props.code}</p>}
  </div>
);

/** Why nothing was loaded. The frame reports an unreachable server. */
export function Failure({ of, retry }: { of: CallFailure; retry?: () => void }): VNode | null {
  if (isLost(of) || of.status === 401) return null;
  const missing = of.status === 404;
  return (
    <Box title={missing ? "There is no such memory" : "This could not be read"}>
      <p>{missing ? "It was forgotten, or belongs to another owner." : of.message}</p>
      <p class="small">
        {of.status} · {of.code}
      </p>
      {retry !== undefined && !missing && (
        <p>
          <Button onClick={retry}>Read it again</Button>
        </p>
      )}
    </Box>
  );
}

/**
 * An answer, or what stands in its place while there is none. What was read before stays when reading again fails.
 * @param title of the view, where the answer brings the heading that is seen
 */
export function Loaded<T>(props: {
  readonly of: Query<T>;
  readonly title?: string;
  readonly label?: string;
  readonly children: (data: T) => ComponentChildren;
}): VNode | null {
  const { of, title, label, children } = props;
  const { data, failure, reload } = of;
  if (data !== undefined) return <>{children(data)}</>;
  return (
    <>
      {title !== undefined && <h1 class="vh">{title}</h1>}
      {failure === undefined ? <Skeleton label={label} /> : <Failure of={failure} retry={reload} />}
    </>
  );
}

type LifecycleState = Node["lifecycle_state"];

/** The shape of a state, which identifies it without colour: disc, ring, diamond, bars, cross. */
export const StateShape = ({ of, size = 10 }: { of: LifecycleState; size?: number }): VNode => (
  <svg width={size} height={size} viewBox="0 0 10 10" aria-hidden="true">
    {SHAPES[of]()}
  </svg>
);

const SHAPES: Readonly<Record<LifecycleState, () => VNode>> = {
  stable: () => <circle class="f-good" cx="5" cy="5" r="4.5" />,
  tentative: () => <circle class="s-edge hollow" cx="5" cy="5" r="3.8" stroke-width="1.5" />,
  contested: () => <path class="f-clash" d="M5 0 10 5 5 10 0 5z" />,
  superseded: () => <path class="s-edge" d="M0 3.5h10M0 6.5h6" stroke-width="1.8" />,
  deprecated: () => <path class="s-edge" d="M1.5 1.5l7 7M8.5 1.5l-7 7" stroke-width="1.6" />,
  archived: () => <path class="s-edge hollow" d="M1 2.5h8v6H1zM3.5 5h3" stroke-width="1.3" />,
};

/** A square for a thing, for a memory the shape of its state. */
export function NodeShape({ of }: { of: Node }): VNode {
  if (of.node_type !== "entity") return <StateShape of={of.lifecycle_state} size={12} />;
  return (
    <svg width="12" height="12" viewBox="0 0 10 10" aria-hidden="true">
      <rect class="f-graph" x="0.5" y="0.5" width="9" height="9" rx="2" />
    </svg>
  );
}

/** In a plain word, with the engine's in the tooltip. @param isBare without its shape */
export const State = ({ of, isBare = false }: { of: LifecycleState; isBare?: boolean }): VNode => (
  <span class={`state ${of}`} title={of}>
    {!isBare && <StateShape of={of} />}
    {words.state[of]}
  </span>
);

type Props = {
  readonly of: CallFailure;
  /** The memory's current form; undefined until known. */
  readonly now?: Node | undefined;
};

/** A rejected change: why, the memory's current state, and that nothing is lost. */
export const Refused = ({ of, now }: Props): VNode => (
  <Warning title="Not changed." code={`${of.status} · ${of.code}`}>
    {now !== undefined && `This memory is ${words.state[now.lifecycle_state]} now. `}
    <Text of={of.message} /> Nothing was written. What you have entered is still here.
  </Warning>
);
