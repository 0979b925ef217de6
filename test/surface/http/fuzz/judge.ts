/** What every answer to every request has to be, whatever was asked. */
import {
  type AnswerCheck,
  type ApiDocument,
  type ApiOperation,
  operationsAt,
  type Schema,
} from "./document.ts";
import type { FuzzRequest } from "./requests.ts";

export type FuzzAnswer = {
  readonly status: number;
  readonly contentType: string | null;
  readonly text: string;
};

export type Bench = {
  readonly document: ApiDocument;
  readonly check: AnswerCheck;
  /** Texts that no answer may hold: paths of this machine, and memories that the caller must not see. */
  readonly secrets: readonly string[];
};

/** Characters of the longest explanation; it may show several values, each of them cut. */
const MAX_DETAIL = 3000;

/** What an explanation holds only when something inside shines through. */
const INSIDES = [
  /\bat \S+ \(?\S*:\d+:\d+/,
  /\.[jt]s:\d+/,
  /node_modules|\/src\//,
  /SQLITE|no such (?:table|column)|constraint failed|database is|malformed MATCH|fts5/i,
  /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\b/,
  /(?:Type|Reference|Range|Syntax)Error|is not a function|undefined is|Cannot read/,
  /\[object |zod/i,
];

/** Actions that begin the explanation of a refused change. */
const ACTIONS = [
  "promote",
  "archive",
  "restore",
  "supersede",
  "contradict",
  "resolve",
  "request_id",
];

/** Says what is wrong with an answer; undefined when nothing is. */
export function complaintAbout(
  bench: Bench,
  request: FuzzRequest,
  answer: FuzzAnswer,
): string | undefined {
  const { document, check, secrets } = bench;
  const secret = secrets.find((text) => answer.text.includes(text) && !wasSent(request, text));
  if (secret !== undefined) return `shows ${JSON.stringify(secret)}`;
  const at = operationsAt(document, pathOf(request));
  const operation = at.find(({ method }) => method === methodOf(request));
  const expected = expectedStatus(request, at, operation, answer.status);
  if (expected !== undefined) return expected;
  if (request.method === "HEAD" || answer.status === 307) {
    return answer.text === "" ? undefined : "has a body";
  }
  if (answer.contentType !== "application/json") return `is ${answer.contentType}`;
  const json = parsed(answer.text);
  if (json === undefined) return "is no JSON";
  if (answer.status !== 200) {
    const complaint = complaintAboutRefusal(request, json);
    if (complaint !== undefined) return complaint;
  }
  if (operation === undefined) return undefined;
  if (answer.status === 422 && !namesField(document, operation, request, json)) {
    return `names no field: ${answer.text.slice(0, 200)}`;
  }
  return check(operation, answer.status, json) ?? hiddenFailure(request, json);
}

/** What an answer admits to have failed although it was given. */
function hiddenFailure({ body }: FuzzRequest, json: object): string | undefined {
  // SAFETY: it has just been checked to be what the document declares.
  const { metrics, processing_status: status } = json as {
    readonly metrics?: { readonly backend_failures?: object; readonly receipt_persisted?: boolean };
    readonly processing_status?: { readonly last_error?: string | null };
  };
  const failures = Object.entries(metrics?.backend_failures ?? {});
  if (failures.length > 0) return `admits ${JSON.stringify(failures)}`;
  const isWanted = !/"keep_receipt"\s*:\s*false/.test(String(body));
  if (isWanted && metrics?.receipt_persisted === false) return "admits that no receipt was kept";
  const lastError = status?.last_error ?? null;
  return lastError === null ? undefined : `admits ${lastError}`;
}

function wasSent(request: FuzzRequest, text: string): boolean {
  return JSON.stringify(request).includes(text) || request.target.includes(text);
}

function pathOf({ target }: FuzzRequest): string {
  return new URL(`http://localhost${target}`).pathname;
}

/** Whatever answers to GET answers to HEAD. */
function methodOf({ method }: FuzzRequest): string {
  return method === "HEAD" ? "GET" : method;
}

function expectedStatus(
  request: FuzzRequest,
  at: readonly ApiOperation[],
  operation: ApiOperation | undefined,
  status: number,
): string | undefined {
  if (operation !== undefined) {
    // Nothing is wrong with the server, so neither of the two may be blamed on it.
    const isBlame = status === 500 || status === 503;
    return operation.statuses.has(status) && !isBlame ? undefined : `is ${status}`;
  }
  const path = pathOf(request);
  if (at.length > 0) return status === 405 ? undefined : `is ${status} instead of 405`;
  if (path.endsWith("/") && status === 307) return undefined;
  const isDocumentation = ["/", "/docs", "/redoc", "/openapi.json"].includes(path);
  return status === 404 || isDocumentation ? undefined : `is ${status} instead of 404`;
}

function complaintAboutRefusal(request: FuzzRequest, json: object): string | undefined {
  const detail = Reflect.get(json, "detail");
  if (typeof detail !== "string" || detail === "") return "has no detail";
  if (Object.keys(json).join() !== "detail,code") return `has ${Object.keys(json).join(", ")}`;
  if (detail.length > MAX_DETAIL) return `explains itself with ${detail.length} characters`;
  for (const pattern of INSIDES) {
    const found = pattern.exec(detail)?.[0];
    if (found !== undefined && !wasSent(request, found)) return `shows insides: ${found}`;
  }
  return undefined;
}

/** Whether an explanation begins with what it is about. */
function namesField(
  document: ApiDocument,
  { parameters, body, takesFile }: ApiOperation,
  request: FuzzRequest,
  json: object,
): boolean {
  // It is about the file.
  if (takesFile && Reflect.get(json, "code") === "unsupported_source") return true;
  const detail = String(Reflect.get(json, "detail"));
  const known = [
    "body",
    "Content-Type",
    "Content-Encoding",
    ...ACTIONS,
    ...parameters.map(({ name }) => name),
    ...(body === undefined ? [] : propertiesOf(document, body.schema)),
    ...keysOf(request.body),
  ];
  // Its name may have bytes that are no letter.
  if (detail.includes(": is not a known query parameter; ")) return request.target.includes("?");
  return known.some((name) => {
    const shown = name.length > 80 ? name.slice(0, 79) : name;
    return detail.startsWith(shown) && /^…?[.:[]/.test(detail.slice(shown.length));
  });
}

/** The names of all fields, those within others included: the engine does not know where a field stood. */
function propertiesOf(document: ApiDocument, schema: Schema): readonly string[] {
  const { properties, anyOf, items } = document.resolve(schema);
  const fields = Object.entries(Object(properties));
  const parts = [...fields.map(([, part]) => part), ...(Array.isArray(anyOf) ? anyOf : []), items];
  const inner = parts.flatMap((part) =>
    typeof part === "object" && part !== null ? propertiesOf(document, part) : [],
  );
  return [...fields.map(([name]) => name), ...inner];
}

function keysOf(body: string | undefined): readonly string[] {
  const value = body === undefined ? undefined : parsed(body.replace(/^\ufeff/, ""));
  return value === undefined ? [] : Object.keys(value);
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
