/** Requests that are refused for what they are about, by the code of the refusal. */
import { NOBODY } from "../../../engine/lifecycle/memories.ts";
import { INVALID_ARGUMENTS } from "./invalid-arguments.ts";
import { type Case, get, post, put, store } from "./scene.ts";

export const REFUSALS = {
  invalid_argument: INVALID_ARGUMENTS,
  invalid_speaker: [
    ...["svc_speaker_v1", "svc_value_bindings_v1", "svc_first_person_owner_v1"].map((key) => ({
      name: `the reserved key ${key}`,
      ask: store({ metadata: { [key]: "x" } }),
      detail: `metadata.${key}: is reserved; use the parameter that sets it`,
    })),
    {
      name: "a blank speaker",
      ask: store({ speaker: " " }),
      detail: "speaker: must not be empty",
    },
    {
      name: "a long speaker",
      ask: store({ speaker: "é".repeat(201) }),
      detail: "speaker: has 201 characters; at most 200 are allowed",
    },
    {
      name: "a speaker of two lines",
      ask: post("/v1/ingest", { content: "tea", user_id: "ada", speaker: "Ada\nBob" }),
      detail: "speaker: must not contain control characters, line breaks or bidirectional controls",
    },
  ],
  invalid_transition: [
    {
      name: "promotion of an archived memory",
      ask: ({ gone }) => put(`${gone.node}/promote`),
      detail: /^promote: memory \S+ is archived; only a /,
    },
    {
      name: "replacement of a contested memory",
      ask: ({ right, tea }) =>
        post("/v1/supersedences", { old_node_id: right.node, new_node_id: tea.node })(),
      detail: /^supersede: memory \S+ is contested; only a /,
    },
    {
      name: "another replacement of a replaced memory",
      ask: ({ old, tea }) =>
        post("/v1/supersedences", { old_node_id: old.node, new_node_id: tea.node })(),
      detail: /^supersede: memory \S+ /,
    },
    {
      name: "a contradiction in the name of somebody else",
      ask: ({ right, wrong }) =>
        post("/v1/contradictions", {
          node_a_id: right.node,
          node_b_id: wrong.node,
          actor: "somebody else",
        })(),
      detail: /^contradict: /,
    },
    {
      name: "a resolution of what is no contradiction",
      ask: ({ tea, fresh }) =>
        post("/v1/contradictions/resolve", { winner_id: tea.node, loser_id: fresh.node })(),
      detail: /^resolve: memory \S+ is tentative; only a /,
    },
  ],
  bad_citation: [
    {
      name: "a memory that was not in the answer",
      ask: ({ request, gone }) =>
        post("/v1/answer-citations", {
          user_id: "ada",
          request_id: request,
          answer_id: "a",
          cited_node_ids: [gone.node],
        })(),
      detail: /^cited_node_ids: \S+ was not among the results of this retrieval$/,
    },
  ],
  not_found: [
    { name: "a node", ask: get(`/v1/nodes/${NOBODY}`), detail: `Node '${NOBODY}' not found` },
    ...["neighborhood", "chain", "provenance"].map((part) => ({
      name: `the ${part} of a node`,
      ask: get(`/v1/nodes/${NOBODY}/${part}`),
      detail: `Node '${NOBODY}' not found`,
    })),
    {
      name: "one of two nodes",
      ask: ({ tea }) => post("/v1/contradictions", { node_a_id: tea.node, node_b_id: NOBODY })(),
      detail: `Node '${NOBODY}' not found`,
    },
    {
      name: "the status of an event",
      ask: get(`/v1/events/${NOBODY}/processing-status`),
      detail: `Processing status of event '${NOBODY}' not found`,
    },
    {
      name: "an extraction",
      ask: ({ tea }) => [`/v1/events/${tea.event}/extraction`],
      detail: /^Extraction of event '\S+' not found$/,
    },
    {
      name: "the status of an extraction",
      ask: ({ tea }) => [`/v1/events/${tea.event}/extraction-status`],
      detail: /^Extraction status of event '\S+' not found$/,
    },
    {
      name: "evidence for a reinforcement",
      ask: ({ tea }) => put(`${tea.node}/reinforce`, { evidence_id: NOBODY }),
      detail: `Event '${NOBODY}' not found`,
    },
    {
      name: "a receipt to cite from",
      ask: post("/v1/answer-citations", {
        user_id: "ada",
        request_id: NOBODY,
        answer_id: "a",
      }),
      detail: `there is no receipt of a retrieval ${NOBODY}`,
    },
  ],
} as const satisfies Readonly<Record<string, readonly Case[]>>;
