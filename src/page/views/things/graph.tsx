import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type Simulation,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from "d3-force";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Edge, Node } from "../../client/types.gen.ts";
import { go, hrefOf } from "../../data/place.ts";
import { later } from "../../parts/format.ts";
import { signed } from "../../parts/text.tsx";

const STEPS = 300;
const AT_ONCE = 15;
const REACH = 200;
const WIDEST_SCALE = 2;
const LABELS = 24;
const LABEL_CHARACTERS = 22;

export type Around = {
  readonly nodes: readonly Node[];
  readonly near: ReadonlySet<string>;
  /** Between the thing and these, or two of these. */
  readonly edges: readonly Edge[];
};

export type GraphProps = { readonly center: Node; readonly around: Around };

type Point = SimulationNodeDatum & { readonly node: Node };
type Line = SimulationLinkDatum<Point> & { readonly type: string };
type Picture = { readonly points: readonly Point[]; readonly lines: readonly Line[] };

/** The neighbourhood as a static picture; the list next to it has the same content. */
export function Graph({ center, around }: GraphProps): VNode {
  const [picture, setPicture] = useState<Picture | undefined>();
  useEffect(() => layOut({ center, around }, setPicture), [center.id, around]);
  return (
    <svg viewBox={`${-REACH} ${-REACH} ${2 * REACH} ${2 * REACH}`} aria-hidden="true">
      {picture !== undefined && <Drawn {...picture} center={center.id} />}
    </svg>
  );
}

/** Runs the layout a few steps at a time. @returns a function that stops it */
function layOut({ center, around }: GraphProps, show: (picture: Picture) => void): () => void {
  const points: Point[] = [center, ...around.nodes].map((node) => ({ node }));
  const places = new Map(points.map((point) => [point.node.id, point]));
  const lines = around.edges.flatMap(({ source_id, target_id, edge_type }): readonly Line[] => {
    const [source, target] = [places.get(source_id), places.get(target_id)];
    return source === undefined || target === undefined
      ? []
      : [{ source, target, type: edge_type }];
  });
  const [first] = points;
  if (first !== undefined) Object.assign(first, { fx: 0, fy: 0 });
  const simulation = forceSimulation(points)
    .force("link", forceLink<Point, Line>(lines).distance(42))
    .force("charge", forceManyBody().strength(-90))
    .force("apart", forceCollide(9))
    .force("x", forceX().strength(0.06))
    .force("y", forceY().strength(0.06))
    .stop();
  return inSteps(simulation, () => show({ points: fitted(points), lines }));
}

function inSteps(simulation: Simulation<Point, undefined>, done: () => void): () => void {
  let left = STEPS;
  let cancel = (): void => {};
  const run = (): void => {
    simulation.tick(Math.min(AT_ONCE, left));
    left -= AT_ONCE;
    if (left > 0) cancel = later(0, run);
    else done();
  };
  cancel = later(0, run);
  return () => cancel();
}

/** Scales the points to the picture in place: lines share the same points. */
function fitted(points: readonly Point[]): readonly Point[] {
  const widest = Math.max(1, ...points.flatMap(({ x = 0, y = 0 }) => [Math.abs(x), Math.abs(y)]));
  const scale = Math.min(WIDEST_SCALE, (REACH - 24) / widest);
  for (const point of points) {
    point.x = (point.x ?? 0) * scale;
    point.y = (point.y ?? 0) * scale;
  }
  return points;
}

type DrawnProps = Picture & { readonly center: string };

function Drawn({ points, lines, center }: DrawnProps): VNode {
  const labelled = points.filter(({ node }) => node.node_type === "entity").slice(0, LABELS);
  return (
    <>
      {lines.map(({ source, target, type }, index) => (
        <line
          key={index}
          class={type === "contradicts" ? "s-clash" : "s-edge"}
          {...endOf(source, "1")}
          {...endOf(target, "2")}
        />
      ))}
      {points.map((point) => (
        <Mark key={point.node.id} of={point} isCenter={point.node.id === center} />
      ))}
      {labelled.map(({ node, x = 0, y = 0 }) => (
        <text key={node.id} x={x} y={y - 9} text-anchor="middle">
          {signed(node.content.slice(0, LABEL_CHARACTERS))}
          {node.content.length > LABEL_CHARACTERS && "…"}
        </text>
      ))}
    </>
  );
}

function endOf(end: Line["source"], which: "1" | "2"): Record<string, number> {
  const { x = 0, y = 0 } = typeof end === "object" ? end : {};
  return { [`x${which}`]: x, [`y${which}`]: y };
}

function Mark({ of, isCenter }: { of: Point; isCenter: boolean }): VNode {
  const { node, x = 0, y = 0 } = of;
  const isThing = node.node_type === "entity";
  const href = hrefOf(isThing ? "things" : "memory", node.id);
  const size = isCenter ? 8 : 5;
  const square = { x: x - size, y: y - size, width: 2 * size, height: 2 * size };
  const shape =
    node.lifecycle_state === "contested" ? (
      <path class="f-clash" d={`M${x} ${y - 6}l6 6-6 6-6-6z`} />
    ) : isThing ? (
      <rect class={isCenter ? "f-c1" : "f-graph"} {...square} rx="2" />
    ) : (
      <circle class="f-c3" cx={x} cy={y} r={size} />
    );
  return (
    <a
      href={href}
      tabindex={-1}
      onClick={(event) => {
        event.preventDefault();
        go(href);
      }}
    >
      {shape}
    </a>
  );
}
