/** Why a scenario of the conformance suite says nothing about this server. */
export const REASONS = {
  fixture:
    "calls tools, prompts or resources of the suite's sample server by name; ours has those of a memory",
  logging: "needs log messages to the client, which the server does not declare; its log is stderr",
  resourceSubscriptions:
    "needs subscriptions to resources, which the server does not declare; a client reads a memory again",
  askingBack:
    "needs a tool of the sample server that asks the client back (elicitation, sampling, roots); a memory asks nothing",
  sessions: "needs sessions; the server has none, and answers each request by itself",
  tasks:
    "is about the tasks extension, which the server does not declare; every call answers at once",
  headerArguments:
    "needs a tool whose arguments are repeated in HTTP headers; no tool of ours declares one",
} as const;

export type Reason = keyof typeof REASONS;

/** A scenario, or one check of it as `scenario:check`, that cannot apply. */
export type NotApplicable = { readonly name: string; readonly reason: Reason };

function because(reason: Reason, names: readonly string[]): readonly NotApplicable[] {
  return names.map((name) => ({ name, reason }));
}

const SAMPLE_SERVER = [
  "completion-complete",
  "tools-call-simple-text",
  "tools-call-image",
  "tools-call-audio",
  "tools-call-embedded-resource",
  "tools-call-mixed-content",
  "tools-call-error",
  "tools-call-with-progress",
  "json-schema-2020-12",
  "resources-read-text",
  "resources-read-binary",
  "resources-templates-read",
  "prompts-get-simple",
  "prompts-get-with-args",
  "prompts-get-embedded-resource",
  "prompts-get-with-image",
];

/** By revision of the protocol. Everything else of a revision has to pass. */
export const NOT_APPLICABLE: Readonly<Record<string, readonly NotApplicable[]>> = {
  "2025-11-25": [
    ...because("fixture", SAMPLE_SERVER),
    ...because("logging", ["logging-set-level", "tools-call-with-logging"]),
    ...because("askingBack", [
      "tools-call-sampling",
      "tools-call-elicitation",
      "elicitation-sep1034-defaults",
      "elicitation-sep1330-enums",
    ]),
    ...because("resourceSubscriptions", ["resources-subscribe", "resources-unsubscribe"]),
    ...because("sessions", [
      "server-session-lifecycle",
      "server-sse-multiple-streams",
      "server-sse-polling",
    ]),
  ],
  "2026-07-28": [
    ...because("fixture", SAMPLE_SERVER),
    ...because("askingBack", [
      "input-required-result-basic-elicitation",
      "input-required-result-basic-sampling",
      "input-required-result-basic-list-roots",
      "input-required-result-request-state",
      "input-required-result-multiple-input-requests",
      "input-required-result-multi-round",
      "input-required-result-non-tool-request",
      "input-required-result-result-type",
      "input-required-result-tampered-state",
      "input-required-result-capability-check",
      "input-required-result-missing-input-response",
      "input-required-result-ignore-extra-params",
      "server-stateless:sep-2575-server-rejects-undeclared-capability",
      "server-stateless:sep-2575-missing-capability-http-400",
      "server-stateless:sep-2575-http-server-no-independent-requests-on-stream",
    ]),
    ...because("logging", ["server-stateless:sep-2575-server-no-log-without-loglevel"]),
    ...because("headerArguments", ["http-custom-header-server-validation"]),
    ...because("tasks", [
      "tasks-lifecycle",
      "tasks-capability-negotiation",
      "tasks-wire-fields",
      "tasks-request-state-removal",
      "tasks-mrtr-input",
      "tasks-request-headers",
      "tasks-dispatch-and-envelope",
      "tasks-status-notifications",
      "tasks-required-task-error",
      "tasks-mrtr-composition",
    ]),
  ],
};
