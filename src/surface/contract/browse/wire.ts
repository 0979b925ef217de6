import { edgeForm, nodeForm } from "../../../domain/node.ts";
import {
  type BrowsedPage,
  CONTRADICTION_STATUSES,
  type Facet,
  type Facets,
  type ListedChanges,
  type ListedContradictions,
  type ListedEdges,
  type ListedEntities,
  type NodeBatch,
  type NotedContradiction,
  type Timeline,
} from "../../../engine/browse/api.ts";
import {
  dictionary,
  flag,
  instant,
  list,
  member,
  natural,
  noted,
  nullable,
  object,
  text,
  told,
  uuid,
  view,
} from "../../../lib/form.ts";
import { BUCKETS } from "../../../lib/local-dates.ts";
import { nextCursor, nextId, onPage } from "../core/page-wire.ts";
import { operationView } from "../nodes/provenance-wire.ts";

export const browsedView = noted(
  view<BrowsedPage>()({
    nodes: list(nodeForm),
    count: told(onPage, ({ nodes }) => nodes.length),
    hasMore: flag,
    nextCursor,
  }),
  { id: "BrowsedPage" },
);

export const timelineView = noted(
  view<Timeline>()({
    buckets: list(
      object<Timeline["buckets"][number]>({
        from: noted(text, { description: "The first day, YYYY-MM-DD, in the time zone." }),
        count: natural,
        byState: dictionary(natural),
      }),
    ),
    count: told(onPage, ({ buckets }) => buckets.length),
    total: noted(natural, { description: "Of all memories that pass the filters." }),
    bucket: member(BUCKETS),
    timeZone: text,
  }),
  { id: "Timeline" },
);

const facet = noted(list(object<Facet[number]>({ value: text, count: natural })), { id: "Facet" });

export const facetsView = noted(
  object<Facets>({
    total: natural,
    nodeType: facet,
    lifecycleState: facet,
    scope: facet,
    sourceType: facet,
    epistemicType: facet,
  }),
  { id: "Facets", description: "Each property is counted without its own filter." },
);

export const nodeBatchView = noted(
  object<NodeBatch>({
    nodes: noted(list(nodeForm), { description: "In the order of the ids." }),
    missing: noted(list(uuid), { description: "Ids of no memory of this owner." }),
    leftOut: noted(list(uuid), {
      description: "Ids that were not read because the answer would be too long.",
    }),
  }),
  { id: "NodeBatch" },
);

export const edgePageView = noted(
  view<ListedEdges>()({
    edges: list(edgeForm),
    count: told(onPage, ({ edges }) => edges.length),
    hasMore: flag,
    nextCursor: nextId,
  }),
  { id: "EdgePage" },
);

const countedEntityView = noted(
  object<ListedEntities["entities"][number]>({
    node: nodeForm,
    memories: noted(natural, {
      description: "Active memories one edge away, other entities left out.",
    }),
    contested: noted(natural, { description: "How many of them are contested." }),
  }),
  { id: "CountedEntity" },
);

export const entityPageView = noted(
  view<ListedEntities>()({
    entities: list(countedEntityView),
    count: told(onPage, ({ entities }) => entities.length),
    hasMore: flag,
    nextCursor,
  }),
  { id: "EntityPage" },
);

const contradictionView = noted(
  view<NotedContradiction>()({
    edgeId: uuid,
    notedAt: instant,
    actor: noted(nullable(text), { description: "Who noted it." }),
    status: noted(member(CONTRADICTION_STATUSES), {
      description: "Open while both are contested.",
    }),
    nodeA: noted(nodeForm, { description: "The one that was named first." }),
    nodeB: nodeForm,
  }),
  { id: "NotedContradiction" },
);

export const contradictionPageView = noted(
  view<ListedContradictions>()({
    contradictions: list(contradictionView),
    count: told(onPage, ({ contradictions }) => contradictions.length),
    hasMore: flag,
    nextCursor: nextId,
  }),
  { id: "ContradictionPage" },
);

export const changePageView = noted(
  view<ListedChanges>()({
    operations: list(operationView),
    count: told(onPage, ({ operations }) => operations.length),
    hasMore: flag,
    nextCursor,
  }),
  { id: "ChangePage" },
);
