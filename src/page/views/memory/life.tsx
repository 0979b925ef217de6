import type { ComponentChildren, VNode } from "preact";
import { storedSpeaker } from "../../../domain/speaker.ts";
import type { Event, Node, Provenance } from "../../client/types.gen.ts";
import { hrefOf } from "../../data/place.ts";
import { endOf } from "../../data/retention.ts";
import { t } from "../../language/texts.ts";
import { Head, Moment } from "../../parts/controls.tsx";
import { date } from "../../parts/format.ts";
import { StateShape } from "../../parts/state.tsx";
import { Text } from "../../parts/text.tsx";
import type { Chain } from "./chain.ts";

/** Longer sources are cut here; the whole one is in the JSON. */
const SHOWN = 1200;

/** Where a memory comes from and what became of it, oldest first. */
export function Life({ data, chain }: { data: Provenance; chain: Chain }): VNode {
  const { node, evidence_events, operations, missing_evidence_refs } = data;
  const { life } = t.memory;
  const end = endOf(node);
  const [before] = chain.before;
  const [after] = chain.after;
  return (
    <section class="sect">
      <Head title={life.title} note={life.note} />
      <ol class="life">
        {evidence_events.map((event) => (
          <Said key={event.id} event={event} content={node.content} />
        ))}
        {missing_evidence_refs.length > 0 && (
          <li>
            <p class="small">{life.missing(missing_evidence_refs.length)}</p>
          </li>
        )}
        {before !== undefined && (
          <Replaced text={life.replaced} node={before} at={node.created_at} />
        )}
        {operations.map(({ id, op_type, actor_id, created_at }) => (
          <Step key={id} at={created_at} shape={<Dot isFilled={false} />}>
            <b>{wordsOf(op_type)}</b>{" "}
            <span class="dim">
              <Text of={life.by(actor_id)} line />
            </span>
          </Step>
        ))}
        {after !== undefined && (
          <Replaced text={life.replacedBy} node={after} at={after.created_at} />
        )}
        {end !== undefined && node.ttl_days !== null && isActive(node) && (
          <Step at={end} show={date} shape={<Dot isFilled={false} />}>
            <span class="dim">{life.kept(node.ttl_days, date(end))}</span>
          </Step>
        )}
      </ol>
    </section>
  );
}

function isActive({ lifecycle_state: state }: Node): boolean {
  return state === "tentative" || state === "stable" || state === "contested";
}

/** A change by the name that the log has for it. */
function wordsOf(type: string): string {
  const names: Readonly<Record<string, string>> = t.memory.life.changes;
  return names[type] ?? type;
}

type StepProps = {
  readonly at: string;
  readonly show?: (at: string) => string;
  readonly shape: VNode;
  readonly children: ComponentChildren;
};

function Step({ at, show, shape, children }: StepProps): VNode {
  return (
    <li>
      <span class="dot">{shape}</span>
      <span class="when">
        <Moment at={at} {...(show === undefined ? {} : { show })} />
      </span>
      {children}
    </li>
  );
}

function Dot({ isFilled }: { isFilled: boolean }): VNode {
  return (
    <svg width="13" height="13" viewBox="-1.5 -1.5 13 13" aria-hidden="true">
      {isFilled ? (
        <circle cx="5" cy="5" r="5" class="f-ink" />
      ) : (
        <circle cx="5" cy="5" r="4.2" class="s-edge hollow" stroke-width="1.6" />
      )}
    </svg>
  );
}

/** The source text, with the memory in it. */
function Said({ event, content }: { event: Event; content: string }): VNode {
  const { life } = t.memory;
  const roles: Readonly<Record<string, string>> = life.said;
  const speaker = storedSpeaker(event.metadata ?? undefined);
  return (
    <Step at={event.timestamp} shape={<Dot isFilled />}>
      <b>
        {speaker === undefined ? (
          (roles[event.role] ?? event.role)
        ) : (
          <>
            <Text of={speaker} line /> {life.saidIt}
          </>
        )}
      </b>
      {event.session_id !== null && (
        <span class="dim">
          {" "}
          {life.session}{" "}
          <a class="mono" href={hrefOf("", "", { session_id: event.session_id })}>
            <Text of={event.session_id} line />
          </a>
        </span>
      )}
      <blockquote class="src">
        <Quoted text={event.content.slice(0, SHOWN)} content={content} />
      </blockquote>
      <p class="small">
        {life.event} <span class="mono">…{event.id.slice(-12)}</span>
      </p>
    </Step>
  );
}

function Quoted({ text, content }: { text: string; content: string }): VNode {
  const at = text.indexOf(content);
  if (at < 0 || content === text) return <Text of={text} />;
  return (
    <>
      <Text of={text.slice(0, at)} />
      <strong>
        <Text of={content} />
      </strong>
      <Text of={text.slice(at + content.length)} />
    </>
  );
}

function Replaced({ text, node, at }: { text: string; node: Node; at: string }): VNode {
  return (
    <Step at={at} shape={<StateShape of="superseded" size={13} />}>
      <b>{text}</b>{" "}
      <a href={hrefOf("memory", node.id)}>
        <u>
          <Text of={node.content} line />
        </u>
      </a>
    </Step>
  );
}
