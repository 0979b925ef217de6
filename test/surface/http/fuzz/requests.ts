/** Requests for the operations of a document, from correct ones to broken ones. */
import fc, { type Arbitrary } from "fast-check";
import { FILE } from "../../operations/calls.ts";
import type { ApiDocument, ApiOperation, Parameter } from "./document.ts";
import { damaged, hostileText, hostileValue } from "./hostile.ts";
import { Raw, type Tree, toText } from "./json-text.ts";
import { type Known, type Source, valueFor } from "./values.ts";

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

/** Where a request may be wrong. */
const PLACES = ["method", "path", "query", "key", "headers", "body"] as const;
type Place = (typeof PLACES)[number];

/** Requests that the document allows. */
export function correctRequest(
  document: ApiDocument,
  known: Known,
  operation: ApiOperation,
): Arbitrary<FuzzRequest> {
  return requestOf(operation, partsOf({ document, known, isNear: false }, operation), []);
}

/** Requests that are wrong in one place, as deep as that may be, and some that are wrong everywhere. */
export function faultyRequest(
  document: ApiDocument,
  known: Known,
  operation: ApiOperation,
): Arbitrary<FuzzRequest> {
  const parts = partsOf({ document, known, isNear: true }, operation);
  const weights: Readonly<Record<Place, number>> = {
    method: 1,
    path: parts.path.length * 3,
    query: parts.query.length * 3,
    key: 1,
    headers: 1,
    body: parts.body === undefined ? 1 : 20,
  };
  return fc.oneof(
    ...PLACES.filter((place) => weights[place] > 0).map((place) => ({
      weight: weights[place],
      arbitrary: requestOf(operation, parts, [place]),
    })),
    { weight: 2, arbitrary: requestOf(operation, parts, PLACES) },
  );
}

type Parts = ReturnType<typeof partsOf>;

function requestOf(
  operation: ApiOperation,
  parts: Parts,
  wrong: readonly Place[],
): Arbitrary<FuzzRequest> {
  const at = <T>(place: Place, { good, bad }: Part<T>): Arbitrary<T> =>
    wrong.includes(place) ? bad : good;
  const each = <T>(place: Place, list: readonly Part<T>[]): Arbitrary<T[]> =>
    // Of several parameters the others stay right, most of the time.
    fc.tuple(
      ...list.map((part) =>
        wrong.includes(place)
          ? fc.oneof({ weight: list.length, arbitrary: part.good }, part.bad)
          : part.good,
      ),
    );
  return fc
    .record({
      method: at("method", { good: fc.constant<string>(operation.method), bad: otherMethod }),
      path: each("path", parts.path),
      query: each("query", parts.query),
      junk: at("query", { good: fc.constant(""), bad: fc.oneof(fc.constant(""), queryJunk) }),
      key: at("key", parts.key),
      headers: at("headers", { good: fc.constant(undefined), bad: hostileHeaders }),
      body: at("body", parts.body ?? { good: fc.constant(undefined), bad: bodyOfNone }),
    })
    .map(({ method, path, query, junk, key, headers, body }) => ({
      operation: operation.id,
      method,
      target: targetOf(operation, path, [...query.flat(), junk]),
      headers: [...(headers ?? typeOf(body)), ...key],
      body: method === "GET" || method === "HEAD" ? undefined : body,
    }));
}

const otherMethod = fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS");

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

function partsOf(given: Source, { path, parameters, body, takesFile }: ApiOperation) {
  // Few memories have a condition, and it would rarely be one of them.
  const isCondition = path.endsWith("/condition");
  const known = isCondition ? { ...given.known, nodes: given.known.conditional } : given.known;
  const near: Source = { ...given, known };
  const exact: Source = { ...near, isNear: false };
  const named = (where: Parameter["in"]) => parameters.filter((item) => item.in === where);
  return {
    path: named("path").map(
      ({ schema, name }): Part<string> => ({
        good: valueFor(exact, schema, name).map((value) => encoded(asText(value))),
        bad: fc.oneof(
          valueFor(near, schema, name).map((value) => encoded(asText(value).slice(0, 6000))),
          fc.constantFrom(...HOSTILE_SEGMENTS),
          hostileText.map((text) => encoded(text.slice(0, 6000))),
        ),
      }),
    ),
    query: named("query").map((parameter) => queryPart(exact, near, parameter)),
    key: keyPart(exact, named("header")),
    body: takesFile
      ? { good: fc.constant(FILE), bad: fc.constantFrom(FILE, "", "tea", "{}", "[{}]") }
      : body && bodyPart(valueFor(exact, body.schema), valueFor(near, body.schema), body.required),
  };
}

/** A value as it stands in a URL or a header. */
function asText(value: Tree): string {
  if (typeof value === "string") return value;
  return value instanceof Raw ? value.text : toText(value);
}

/** Zero, one or several `name=value`. */
function queryPart(
  exact: Source,
  near: Source,
  { name, schema, required }: Parameter,
): Part<readonly string[]> {
  const isList = schema["type"] === "array";
  // SAFETY: a list in a valid document says of what.
  const one = isList ? (schema["items"] as typeof schema) : schema;
  const pairOf = (source: Source): Arbitrary<string> =>
    valueFor(source, one, name).map((value) =>
      value === null ? "" : `${name}=${encoded(asText(value).slice(0, 6000))}`,
    );
  const pair = pairOf(exact);
  const given = isList ? fc.array(pair, { maxLength: 3 }) : pair.map((text) => [text]);
  // An operator has to name the owner where there is one to name.
  const isNeeded = required || name === "user_id";
  const absent = fc.constant<readonly string[]>([]);
  const text = fc
    .oneof(
      hostileText.map((value) => encoded(value.slice(0, 6000))),
      fc.constantFrom("", "%", "%zz", "%ff", "+", "a%00b", "&", "="),
    )
    .map((value) => `${name}=${value}`);
  const bad = fc.oneof(
    { weight: 4, arbitrary: pairOf(near).map((near) => [near]) },
    { weight: 3, arbitrary: text.map((wrong) => [wrong]) },
    { weight: 1, arbitrary: fc.tuple(pair, text) },
    { weight: 1, arbitrary: fc.tuple(text, pair) },
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

function keyPart(source: Source, headers: readonly Parameter[]): Part<Headers> {
  const none = fc.constant<Headers>([]);
  const [parameter] = headers;
  if (parameter === undefined) return { good: none, bad: fc.constant([["idempotency-key", "x"]]) };
  const { name, schema } = parameter;
  const keyed = (text: string): Headers => [[name, sendable(text).slice(0, 6000)]];
  return {
    good: fc.oneof(none, valueFor(source, schema, name).map(asText).map(keyed)),
    bad: fc
      .oneof(valueFor({ ...source, isNear: true }, schema, name).map(asText), hostileText)
      .map(keyed),
  };
}

function bodyPart(
  exact: Arbitrary<Tree>,
  near: Arbitrary<Tree>,
  isRequired: boolean,
): Part<string | undefined> {
  const text = exact.map(toText);
  const good = isRequired ? text : fc.oneof(text, fc.constantFrom(undefined, "", "null", "{}"));
  const bad = fc.oneof(
    { weight: 12, arbitrary: near.map(toText) },
    { weight: 6, arbitrary: damaged(exact).map(toText) },
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
