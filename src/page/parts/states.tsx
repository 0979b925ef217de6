import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { later } from "../data/clock.ts";
import type { CallFailure } from "../data/failure.ts";
import { isLost } from "../data/failure.ts";
import type { Query } from "../data/query.ts";
import { t } from "../language/texts.ts";
import { Button } from "./controls.tsx";

/** Before this nobody misses an answer. */
const SKELETON_AFTER_MS = 150;
const WIDTHS = [82, 38, 67, 44, 74, 29];

/** Lines of a list that is being read, not before it has taken a moment. */
export function Skeleton({ label = t.states.loading }: { label?: string }): VNode {
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

/** A sheet that says what there is instead of records, and what to do. */
export function Box({
  title,
  children,
}: {
  title: ComponentChildren;
  children?: ComponentChildren;
}): VNode {
  return (
    <section class="box">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** Something did not work as usual: what, and below it the code. */
export function Warning(props: {
  readonly title: ComponentChildren;
  readonly children?: ComponentChildren;
  readonly code?: string;
}): VNode {
  return (
    <div class="warning" role="alert">
      <p class="warn">
        <b>{props.title}</b> {props.children}
      </p>
      {props.code !== undefined && <p class="small">{props.code}</p>}
    </div>
  );
}

/** Why nothing was read. A lost server is told by the frame. */
export function Failure({ of, retry }: { of: CallFailure; retry?: () => void }): VNode | null {
  if (isLost(of) || of.status === 401) return null;
  const missing = of.status === 404;
  return (
    <Box title={missing ? t.states.notFound : t.states.failed}>
      <p>{missing ? t.states.notFoundText : of.message}</p>
      <p class="small">{t.states.code(of.status, of.code)}</p>
      {retry !== undefined && !missing && (
        <p>
          <Button onClick={retry}>{t.states.again}</Button>
        </p>
      )}
    </Box>
  );
}

/** An answer, or what stands in its place while there is none. What was read before stays when reading again fails. */
export function Answer<T>(props: {
  readonly of: Query<T>;
  readonly label?: string;
  readonly children: (data: T) => ComponentChildren;
}): VNode | null {
  const { data, failure, reload } = props.of;
  if (data !== undefined) return <>{props.children(data)}</>;
  if (failure !== undefined) return <Failure of={failure} retry={reload} />;
  return <Skeleton {...(props.label === undefined ? {} : { label: props.label })} />;
}
