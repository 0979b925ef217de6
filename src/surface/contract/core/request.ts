import { z } from "zod";
import { invalid } from "../../../domain/errors.ts";
import { type CamelCase, camelCase } from "../../../lib/text.ts";
import type { Caller } from "./caller.ts";
import { knownIn, parseWire } from "./wire-issues.ts";

/** One member of a request, for every surface that takes it. */
export type Field<T = unknown> = {
  /** Its schema over HTTP. Absent: HTTP does not take it. */
  readonly http?: z.ZodType | undefined;
  /** Its schema as an argument of a tool. Absent: tools do not take it. */
  readonly tool?: z.ZodType | undefined;
  /** Its name over HTTP, if different. */
  readonly httpName?: string | undefined;
  /** Parses a query text, which no schema checks. @throws SvcError invalid_argument */
  readonly fromText?: ((text: string, name: string) => unknown) | undefined;
  /** Whether an operator may omit it: for an owner. */
  readonly isOpen?: boolean | undefined;
  /** Whether a query may contain it several times. */
  readonly isRepeated?: boolean | undefined;
  /**
   * Converts a value that has passed its schema for the operation; the name is the caller's.
   * @throws SvcError invalid_argument for what schemas leave to the operation
   */
  readonly read: (value: unknown, name: string, caller: Caller) => T;
};

/** The members of a request by their tool names. */
export type Fields = Readonly<Record<string, Field>>;

/** An operation's input: the members of its request in camel case. Null counts as absent. */
export type InputOf<F extends Fields> = {
  readonly [K in keyof F & string as CamelCase<K>]: F[K] extends Field<infer T> ? T : never;
};

/** A member passed to the operation unchanged. @param tool the schema of its argument, if different */
export function field<H extends z.ZodType, A extends z.ZodType = H>(
  http: H,
  tool?: A,
): Field<Exclude<z.infer<H> | z.infer<A>, null>> {
  // SAFETY: the value has passed one of the two schemas.
  return { http, tool: tool ?? http, read: (value) => (value ?? undefined) as never };
}

/** The notes of a member: a description, or more. */
export type Described = string | z.core.GlobalMeta;

function metaOf(told: Described): z.core.GlobalMeta {
  return typeof told === "string" ? { description: told } : told;
}

/** A required member. @param tool the notes of the argument, if different */
export function required<S extends z.ZodType>(
  schema: S,
  http: Described = {},
  tool: Described = http,
) {
  return field(schema.meta(metaOf(http)), schema.meta(metaOf(tool)));
}

/** A member that may be absent or null. */
export function optional<S extends z.ZodType>(
  schema: S,
  http: Described = {},
  tool: Described = http,
) {
  return required(schema.nullish(), http, tool);
}

/** A member with a default. HTTP rejects null, tools treat it as absent. */
export function withDefault<S extends z.ZodType>(
  schema: S,
  preset: z.infer<S>,
  http: Described = {},
  tool: Described = http,
) {
  return field(
    schema.optional().meta({ ...metaOf(http), default: preset }),
    schema.nullish().meta({ ...metaOf(tool), default: preset }),
  );
}

/** A member that only HTTP takes. */
export function httpField<H extends z.ZodType>(http: H): Field<Exclude<z.infer<H>, null>> {
  return { ...field(http), tool: undefined };
}

/** An argument of a tool that HTTP does not take. */
export function toolField<A extends z.ZodType>(tool: A): Field<Exclude<z.infer<A>, null>> {
  return { ...field(tool), http: undefined };
}

/** The same member, converted for the operation by a rule. @param parse not called for an absent value */
export function parsed<V, T>(
  given: Field<V>,
  parse: (value: NonNullable<V>, name: string) => T,
): Field<T | Extract<V, undefined>> {
  return {
    ...given,
    read: (value, name, caller) => {
      const own = given.read(value, name, caller);
      // SAFETY: an absent value is undefined, which only optional members allow.
      return own === undefined ? (undefined as Extract<V, undefined>) : parse(own as never, name);
    },
  };
}

/** The same member under another name over HTTP. */
export function overHttp<F extends Field>(httpName: string, named: F): F {
  return { ...named, httpName };
}

/** The parts of an HTTP request, unchecked. The last value of a repeated query parameter counts. */
export type HttpParts = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Every value of repeatable query parameters, in order. */
  readonly queryLists: Readonly<Record<string, readonly string[]>>;
  readonly idempotencyKey: string | undefined;
  readonly body: unknown;
};

export type HttpRequest = {
  readonly params?: z.ZodObject | undefined;
  readonly query?: z.ZodObject | undefined;
  readonly headers?: z.ZodObject | undefined;
  readonly body?: z.ZodObject | undefined;
};

type Shape = Readonly<Record<string, z.ZodType>>;
/** A request that has passed its schemas, its members by name. */
export type Wire = Readonly<Record<string, unknown>>;

/** How members are arranged in a body. */
export type Body = {
  readonly schema: (shape: Shape) => z.ZodObject;
  /** The members side by side. @throws SvcError invalid_argument */
  readonly flatten?: (body: Wire) => Wire;
};

/** A body with its members side by side. */
function plainBody(id: string): Body {
  return { schema: (shape) => z.strictObject(shape).meta({ id }) };
}

/** The header that makes a retry safe. */
export const RETRY_HEADER = "Idempotency-Key";

/** In the query of every route that refers to an object by id: the owner it must belong to. */
export const OWNER_PARAMETER = "user_id";
const ownerOfIds = z
  .string()
  .optional()
  .meta({ description: "Only what belongs to this owner. Absent: all owners, for an operator." });
const NAMES_THINGS = /_ids?$/;

/**
 * The HTTP side of a request: path parameters by name, the retry header, and the rest in query or body. `read` throws SvcError
 * invalid_argument, also for an unknown query parameter.
 */
export function httpRequest(
  fields: Fields,
  path: string,
  body?: Body | string,
): {
  readonly request: HttpRequest;
  readonly takesOwner: boolean;
  readonly read: (parts: HttpParts) => Wire;
} {
  const members = Object.entries(fields).flatMap(
    ([key, { http, httpName: name = key, ...other }]) =>
      http === undefined ? [] : [{ name, schema: http, ...other }],
  );
  const isParam = (name: string): boolean => path.includes(`{${name}}`);
  const shapeOf = (among: typeof members): Shape | undefined =>
    among.length === 0
      ? undefined
      : Object.fromEntries(among.map(({ name, schema }) => [name, schema]));
  const params = shapeOf(members.filter(({ name }) => isParam(name)));
  const headers = shapeOf(members.filter(({ name }) => name === RETRY_HEADER));
  const others = members.filter(({ name }) => !isParam(name) && name !== RETRY_HEADER);
  const { schema, flatten = (given: Wire) => given } =
    (typeof body === "string" ? plainBody(body) : body) ?? {};
  const bodySchema = schema?.(shapeOf(others) ?? {});
  const query = bodySchema === undefined ? others : [];
  const takesOwner =
    !members.some(({ name }) => name === OWNER_PARAMETER) &&
    members.some(({ name }) => NAMES_THINGS.test(name));
  const queryShape = { ...shapeOf(query), ...(takesOwner && { [OWNER_PARAMETER]: ownerOfIds }) };
  const known = Object.keys(queryShape);
  return {
    takesOwner,
    request: {
      params: params && z.object(params),
      query: known.length === 0 ? undefined : z.object(queryShape),
      headers: headers && z.object(headers),
      body: bodySchema,
    },
    read: (parts) => {
      requireKnown(parts.query, known);
      return {
        ...parts.params,
        ...(bodySchema && flatten(parseWire(bodySchema, parts.body, "body"))),
        ...Object.fromEntries(query.map((member) => [member.name, fromQuery(member, parts)])),
        [RETRY_HEADER]: parts.idempotencyKey,
      };
    },
  };
}

/** @throws SvcError invalid_argument */
function requireKnown(query: HttpParts["query"], known: readonly string[]): void {
  const unknown = Object.keys(query).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw invalid(
    unknown.slice(0, 80),
    `is not a known query parameter; ${knownIn(known, "query parameters")}`,
  );
}

function fromQuery(
  {
    name,
    isRepeated,
    fromText = (text) => text,
  }: Pick<Field, "fromText" | "isRepeated"> & {
    readonly name: string;
  },
  { query, queryLists }: HttpParts,
): unknown {
  if (isRepeated) return queryLists[name]?.map((text) => fromText(text, name));
  const text = query[name];
  return text === undefined ? undefined : fromText(text, name);
}

/** The arguments of a tool. @param order their names in list order, if different */
export function toolSchema(fields: Fields, order: readonly string[] = []): z.ZodObject {
  const shape = Object.entries(fields).flatMap(([name, { tool }]) =>
    tool === undefined ? [] : [[name, tool] as const],
  );
  const place = ([name]: (typeof shape)[number]): number =>
    order.includes(name) ? order.indexOf(name) : order.length;
  return z.strictObject(Object.fromEntries(shape.toSorted((a, b) => place(a) - place(b))));
}

/**
 * Converts a request to the operation's input, reading members in declaration order.
 * @throws SvcError invalid_argument; forbidden for an owner other than the caller's
 */
export function inputReader<F extends Fields>(
  fields: F,
  surface: "http" | "tool",
): (wire: Wire, caller: Caller) => InputOf<F> {
  const members = Object.entries(fields)
    .filter(([, member]) => member[surface] !== undefined)
    .map(([key, { read, httpName = key }]) => ({
      name: surface === "http" ? httpName : key,
      key: camelCase(key),
      read,
    }));
  return (wire, caller) => {
    const input: Record<string, unknown> = {};
    for (const { name, key, read } of members) {
      const value = read(wire[name], name, caller);
      if (value !== undefined) input[key] = value;
    }
    // SAFETY: every member was read by its own field; members this surface does not support may be absent.
    return input as InputOf<F>;
  };
}
