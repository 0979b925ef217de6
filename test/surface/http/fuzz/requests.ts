/** Requests for the operations of a document, from correct ones to broken ones. */
import fc, { type Arbitrary } from "fast-check";
import type { ApiDocument, ApiOperation, Parameter } from "./document.ts";
import { toText } from "./json-text.ts";
import { allowedValue, damaged, hostileText, hostileValue, type Known } from "./values.ts";

/** A request as bytes that are still to be framed. */
export type FuzzRequest = {
  readonly operation: string;
  readonly method: string;
  /** Path and query, as they are sent. */
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | undefined;
};

type Part<T> = { readonly good: Arbitrary<T>; readonly bad: Arbitrary<T> };

/** Segments of a path that should lead nowhere. */
const HOSTILE_SEGMENTS = [
  ".",
  "..",
  "%2e%2e",
  "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
  "..%5c..%5cboot.ini",
  "%",
  "%zz",
  "%00",
  "%ff%fe",
  "%c0%af",
  "%ed%a0%80",
  "%25252e",
  "a%2Fb",
  ";",
  "*",
  "scan",
  "null",
  "__proto__",
  "constructor",
  "%F0%9F%A6%8A",
  "%20",
  "%0d%0aSet-Cookie:%20a=b",
  "1'%20OR%20'1'='1",
  "{node_id}",
  "x".repeat(5000),
];

/** Requests that the document allows. */
export function correctRequest(
  document: ApiDocument,
  known: Known,
  operation: ApiOperation,
): Arbitrary<FuzzRequest> {
  const parts = partsOf(document, known, operation);
  return fc
    .record({
      path: fc.tuple(...parts.path.map(({ good }) => good)),
      query: fc.tuple(...parts.query.map(({ good }) => good)),
      key: parts.key.good,
      body: parts.body?.good ?? fc.constant(undefined),
    })
    .map(({ path, query, key, body }) => ({
      operation: operation.id,
      method: operation.method,
      target: targetOf(operation, path, query.flat()),
      headers: [...typeOf(body), ...key],
      body,
    }));
}

/** Requests with one fault or several; some of the faults do no harm. */
export function faultyRequest(
  document: ApiDocument,
  known: Known,
  operation: ApiOperation,
): Arbitrary<FuzzRequest> {
  const parts = partsOf(document, known, operation);
  const either = <T>({ good, bad }: Part<T>, weight = 2): Arbitrary<T> =>
    fc.oneof({ weight, arbitrary: good }, { weight: 1, arbitrary: bad });
  return fc
    .record({
      method: fc.oneof(
        { weight: 15, arbitrary: fc.constant<string>(operation.method) },
        {
          weight: 1,
          arbitrary: fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"),
        },
      ),
      path: fc.tuple(...parts.path.map((part) => either(part))),
      query: fc.tuple(...parts.query.map((part) => either(part))),
      junk: fc.oneof(
        { weight: 4, arbitrary: fc.constant("") },
        { weight: 1, arbitrary: queryJunk },
      ),
      key: either(parts.key, 4),
      headers: fc.oneof(
        { weight: 6, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: hostileHeaders },
      ),
      body: parts.body === undefined ? bodyOfNone : either(parts.body, 1),
    })
    .map(({ method, path, query, junk, key, headers, body }) => ({
      operation: operation.id,
      method,
      target: targetOf(operation, path, [...query.flat(), junk]),
      headers: [...(headers ?? typeOf(body)), ...key],
      body: method === "GET" || method === "HEAD" ? undefined : body,
    }));
}

type Headers = FuzzRequest["headers"];

function typeOf(body: string | undefined): Headers {
  return body === undefined ? [] : [["content-type", "application/json"]];
}

function targetOf(
  { path }: ApiOperation,
  segments: readonly string[],
  query: readonly string[],
): string {
  const left = [...segments];
  const filled = path.replaceAll(/\{\w+\}/g, () => left.shift() ?? "");
  const pairs = query.filter((pair) => pair !== "");
  return pairs.length === 0 ? filled : `${filled}?${pairs.join("&")}`;
}

function partsOf(document: ApiDocument, all: Known, operation: ApiOperation) {
  // Few memories have a condition, and it would rarely be one of them.
  const known = operation.path.endsWith("/condition") ? { ...all, nodes: all.conditional } : all;
  const { parameters, body } = operation;
  const named = (where: Parameter["in"]) => parameters.filter((item) => item.in === where);
  const values = (parameter: Parameter): Arbitrary<string> =>
    allowedValue(document, known, parameter.schema, parameter.name).map(String);
  return {
    path: named("path").map((parameter) => ({
      good: values(parameter).map(encodeURIComponent),
      bad: fc.oneof(
        fc.constantFrom(...HOSTILE_SEGMENTS),
        hostileText.map((text) => encoded(text.slice(0, 6000))),
      ),
    })),
    query: named("query").map((parameter) => queryPart(document, known, parameter)),
    key: keyPart(named("header"), values),
    body: body && bodyPart(allowedValue(document, known, body.schema), body.required),
  };
}

/** Zero, one or several `name=value`. */
function queryPart(
  document: ApiDocument,
  known: Known,
  { name, schema, required }: Parameter,
): Part<readonly string[]> {
  const isList = schema["type"] === "array";
  // SAFETY: a list in a valid document says of what.
  const one = isList ? (schema["items"] as typeof schema) : schema;
  const pair = allowedValue(document, known, one, name).map((value) =>
    value === null ? "" : `${name}=${encodeURIComponent(String(value))}`,
  );
  const given = isList ? fc.array(pair, { maxLength: 3 }) : pair.map((text) => [text]);
  // An operator has to name the owner where there is one to name.
  const isNeeded = required || name === "user_id";
  const absent = fc.constant<readonly string[]>([]);
  const text = fc.oneof(
    hostileText.map((value) => encoded(value.slice(0, 6000))),
    fc.constantFrom("", "%", "%zz", "%ff", "+", "a%00b", "&", "="),
  );
  const bad = fc.oneof(
    { weight: 3, arbitrary: text.map((value) => [`${name}=${value}`]) },
    {
      weight: 1,
      arbitrary: fc.tuple(pair, text).map(([good, value]) => [`${name}=${value}`, good]),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(pair, text).map(([good, value]) => [good, `${name}=${value}`]),
    },
    { weight: 1, arbitrary: fc.constantFrom([name], [`${name}[]=x`], [`${name.toUpperCase()}=x`]) },
  );
  return { good: isNeeded ? given : fc.oneof(absent, given), bad };
}

const queryJunk = fc.constantFrom(
  "__proto__=1&constructor=2",
  "%=%&%zz=%zz",
  "&&&===&",
  "a=1;b=2#x",
  `${"a=1&".repeat(500)}`,
  "user_id",
  "\u00e9=\u00e9",
);

function keyPart(
  headers: readonly Parameter[],
  values: (parameter: Parameter) => Arbitrary<string>,
): Part<Headers> {
  const none = fc.constant<Headers>([]);
  const [parameter] = headers;
  if (parameter === undefined) return { good: none, bad: fc.constant([["idempotency-key", "x"]]) };
  return {
    good: fc.oneof(
      none,
      values(parameter).map((value) => [[parameter.name, value]] as const),
    ),
    bad: hostileText.map((text) => [[parameter.name, sendable(text).slice(0, 6000)]] as const),
  };
}

function bodyPart(
  trees: ReturnType<typeof allowedValue>,
  isRequired: boolean,
): Part<string | undefined> {
  const text = trees.map(toText);
  const good = isRequired ? text : fc.oneof(text, fc.constantFrom(undefined, "", "null", "{}"));
  const bad = fc.oneof(
    { weight: 8, arbitrary: damaged(trees).map(toText) },
    { weight: 1, arbitrary: hostileValue.map(toText) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(text, fc.nat())
        .map(([whole, cut]) => whole.slice(0, cut % (whole.length + 1))),
    },
    { weight: 1, arbitrary: text.map((whole) => `\ufeff${whole}`) },
    { weight: 1, arbitrary: text.map((whole) => `${whole}${whole}`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", " ", "null", "[]", '""', "{", "}", '{"', "\u0000"),
    },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 50 }) },
  );
  return { good, bad };
}

/** A body where none belongs. */
const bodyOfNone = fc.oneof(
  { weight: 9, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom("", "{}", "tea", '{"user_id":"bob"}') },
);

const hostileHeaders: Arbitrary<Headers> = fc.constantFrom<Headers>(
  [],
  [["content-type", ""]],
  [["content-type", "text/plain"]],
  [["content-type", "application/x-www-form-urlencoded"]],
  [["content-type", "application/json; charset=utf-16"]],
  [["content-type", "application/JSON ; x"]],
  [["content-type", "application/json, text/html"]],
  [
    ["content-type", "application/json"],
    ["content-encoding", "gzip"],
  ],
  [
    ["content-type", "application/json"],
    ["content-encoding", "identity"],
  ],
  [
    ["content-type", "application/json"],
    ["traceparent", "00-junk"],
  ],
  [
    ["content-type", "application/json"],
    ["authorization", "Bearer nobody"],
  ],
  [
    ["content-type", "application/json"],
    ["authorization", "\u00e9"],
  ],
  [
    ["content-type", "application/json"],
    ["accept", "text/html;q=x"],
  ],
  [
    ["content-type", "application/json"],
    ["range", "bytes=0-1"],
  ],
  [
    ["content-type", "application/json"],
    ["x-http-method-override", "DELETE"],
  ],
);

/** Text for a URL; half a character, which no URL can hold, becomes the sign of a lost one. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** The part of a text that a header can hold. */
function sendable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, "").trim();
}
