import { z } from "zod";
import { LIMITS, parseId } from "../../../domain/arguments.ts";
import {
  EPISTEMIC_TYPES,
  parseMember,
  parseRole,
  ROLES,
  type Role,
  SOURCE_TYPES,
} from "../../../domain/enums.ts";
import { invalid, SvcError } from "../../../domain/errors.ts";
import { parseInstantInput } from "../../../domain/lifecycle.ts";
import { parseSpeaker } from "../../../domain/speaker.ts";
import { uuidV5 } from "../../../lib/hashing.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { type Caller, optionalOwner, requireOwner } from "./caller.ts";
import {
  type Described,
  type Field,
  field,
  httpField,
  optional,
  overHttp,
  parsed,
  RETRY_HEADER,
  required,
  toolField,
} from "./request.ts";
import { REFUSAL } from "./wire-issues.ts";

/** The building blocks of requests: schemas of values, then members. */

type Meta = z.core.GlobalMeta;

/** Text checked by a rule of the domain, whose own message explains a rejection. */
function textBy(rule: (value: string) => unknown): z.ZodString {
  return z.string().superRefine((value, context) => {
    try {
      rule(value);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      // The schema supplies the path; the rule's message begins with its own name for the field.
      context.addIssue({
        code: "custom",
        message: error.message.slice(error.message.indexOf(": ") + 2),
        params: { [REFUSAL]: error.code },
      });
    }
  });
}

/** ISO 8601 with an explicit offset. */
export const instantIn = textBy((value) => parseInstantInput(value, "instant")).meta({
  format: "date-time",
});
/** Accepted in any notation; parsed by the operation, which names the field. */
export const uuidIn = z.string().meta({ format: "uuid" });

export const sourceType = z.enum(SOURCE_TYPES);
/** For a new memory: `deprecated` only results from a change of state. */
export const newEpistemicType = z.enum(EPISTEMIC_TYPES).exclude(["deprecated"]);

/** Described as a closed set, checked by the engine: a wrong value is then a result, not a schema violation. */
export function textOf(members: readonly string[]): z.ZodString {
  return z.string().meta({ enum: [...members] });
}

/** Read case-insensitively. */
export const role = textBy(parseRole).meta({ enum: [...ROLES] });
export const speaker = textBy(parseSpeaker).meta({
  minLength: 1,
  maxLength: LIMITS.speakerMaxChars,
  description: "Name of the person who said it; never indexed as a word.",
});
/** Incoming metadata, passed on unchanged: `z.record` makes a copy, which loses a key called `__proto__`. */
export const metadataIn =
  // SAFETY: the rule accepts only objects and null.
  z
    .unknown()
    .superRefine((value, context) => {
      if (typeof value === "object" && !Array.isArray(value)) return;
      context.addIssue({ code: "invalid_type", expected: "record", input: value });
    })
    .meta({ type: ["object", "null"], additionalProperties: {} })
    .optional() as unknown as z.ZodOptional<z.ZodNullable<z.ZodType<Record<string, unknown>>>>;
export const unit = z.number().min(0).max(1);
export const count = z.int().min(0);

/** Free text of a caller: not blank, of at most this many characters. @param isTrimmed whether surrounding blanks count */
export function boundedText(maxChars: number, isTrimmed = true): z.ZodString {
  return z
    .string()
    .superRefine((value, context) => {
      const trimmed = value.trim();
      const length = [...(isTrimmed ? trimmed : value)].length;
      if (trimmed === "") context.addIssue({ code: "custom", message: "is blank" });
      if (length > maxChars) {
        const message = `has ${length} characters; at most ${maxChars} are allowed`;
        context.addIssue({ code: "custom", message });
      }
    })
    .meta({ minLength: 1, maxLength: maxChars });
}

const userIdIn = z
  .string()
  .nullish()
  .meta({
    description: "Owner of the memories; not needed on a connection that is bound to one owner.",
    examples: ["ada"],
  });

const owned = <T>(http: z.ZodType, ownerOf: (caller: Caller, given?: string | null) => T) => ({
  http,
  // SAFETY: the value has passed its schema.
  read: (given: unknown, _name: string, caller: Caller) => ownerOf(caller, given as string | null),
});

/** The owner of a request, required from an operator. */
export const owner: Field<string> = {
  ...owned(userIdIn, requireOwner),
  tool: userIdIn,
};

/** The same in a query. */
export const ownerInQuery: Field<string> = {
  ...owner,
  http: z
    .string()
    .optional()
    .meta({
      description: "Owner of the memories; not needed with a key that belongs to one owner.",
      examples: ["ada"],
    }),
};

/** An owner that an operator may omit. */
export const anyOwner: Field<string | undefined> = {
  ...owned(
    z.string().nullish().meta({ description: "Absent: all owners, for an operator." }),
    optionalOwner,
  ),
  tool: z.string().nullish().meta({ description: "Absent: all owners." }),
  isOpen: true,
};

/** An owner in a query that an operator may omit. */
export const anyOwnerInQuery: Field<string | undefined> = owned(
  z.string().optional().meta({ description: "Absent: all owners, for an operator." }),
  optionalOwner,
);

export const sessionIdIn = z
  .string()
  .nullish()
  .meta({ description: "Conversation to which this belongs." });
export const sessionId = field(sessionIdIn, z.string().nullish());

const roleText = { description: "Who said it.", default: "user" };

export const roleField: Field<Role | undefined> = parsed(
  field(role.optional().meta(roleText), textOf(ROLES).nullish().meta(roleText)),
  parseRole,
);

export const speakerField = field(
  speaker.nullish(),
  z.string().nullish().meta({ description: "Name of who said it." }),
);

export function id(http?: Described, tool?: Described): Field<Uuid> {
  return parsed(required(uuidIn, http, tool), parseId);
}

/** The same, not required. */
export function optionalId(http?: Described, tool?: Described): Field<Uuid | undefined> {
  return parsed(optional(uuidIn, http, tool), parseId);
}

const KEY_CHARS = 255;

/** The id that makes a retry safe: over HTTP a header with any text, which stands for an id. */
export function retryId(header: string, argument: string): Field<Uuid | undefined> {
  const own = optionalId({}, argument);
  return overHttp(RETRY_HEADER, {
    ...own,
    http: z.string().min(1).max(KEY_CHARS).optional().meta({ description: header }),
    read: (given, name, caller) =>
      name === RETRY_HEADER && typeof given === "string" && !isId(given)
        ? idOfKey(given)
        : own.read(given, name, caller),
  });
}

function isId(text: string): boolean {
  try {
    return parseId(text, RETRY_HEADER) !== "";
  } catch {
    return false;
  }
}

/** @throws SvcError invalid_argument */
function idOfKey(key: string): Uuid {
  if (key.trim() !== "" && key.length <= KEY_CHARS) return uuidV5("url", `svc:retry-key:v1:${key}`);
  throw invalid(RETRY_HEADER, `must have 1 to ${KEY_CHARS} characters`);
}

/** A member of a closed set. Over HTTP the schema checks it; for tools the operation does. */
export function choice<const T extends string>(
  members: readonly T[],
  http: Meta = {},
  tool: Meta = http,
): Field<T | undefined> {
  return parsed(
    field(z.enum(members).nullish().meta(http), textOf(members).nullish().meta(tool)),
    (value, name) => parseMember(members, value, name),
  );
}

/** The same in a query. */
export function choiceInQuery<const T extends string>(
  members: readonly T[],
  http: Meta = {},
): Field<T | undefined> {
  return {
    ...choice(members),
    http: z.enum(members).optional().meta(http),
    fromText: (text, name) => parseMember(members, text, name),
  };
}

/** Members of a closed set in a query; the parameter is repeated for each. */
export function choicesInQuery<const T extends string>(
  members: readonly T[],
  description: string,
): Field<readonly T[] | undefined> {
  const schema = z.array(z.enum(members)).optional().meta({ description });
  return {
    ...httpField(schema),
    fromText: (text, name) => parseMember(members, text, name),
    isRepeated: true,
  };
}

/** Texts in a query; the parameter is repeated for each. */
export function textsInQuery(description: string): Field<readonly string[] | undefined> {
  const schema = z.array(z.string()).optional().meta({ description });
  return { ...httpField(schema), isRepeated: true };
}

/** `true` or `false` in a query. */
export function flagInQuery(description: string): Field<boolean | undefined> {
  return {
    ...httpField(z.boolean().optional().meta({ description })),
    fromText: (text, name) => {
      if (text === "true" || text === "false") return text === "true";
      throw invalid(name, `${JSON.stringify(text.slice(0, 80))} is neither true nor false`);
    },
  };
}

export function instantInQuery(description: string): Field<string | undefined> {
  return httpField(instantIn.optional().meta({ description }));
}

/** The id in a query after which a page begins. */
export function afterId(argument: Described = {}): Field<Uuid | undefined> {
  return {
    ...optionalId({}, argument),
    http: uuidIn.optional().meta({ description: "Begin behind this id." }),
    fromText: parseId,
  };
}

/** Where a page by time begins. */
export const cursor = httpField(
  z.string().optional().meta({ description: "next_cursor of the page before." }),
);

/** Where the shown part of a long text begins for a tool, in UTF-16 units; HTTP returns all of it. */
export const offset = toolField(count.nullish().meta({ default: 0 }));

/** A whole number in a query: entries on a page, or steps. */
export function wholeNumber(range: readonly [number, number], preset: number): Field<number> {
  const [minimum, maximum] = range;
  return {
    http: z.int().min(minimum).max(maximum).optional().meta({ default: preset }),
    tool: z.int().nullish().meta({ minimum, maximum, default: preset }),
    fromText: (text, name) => readNumber(text, range, name),
    // SAFETY: a number has passed its schema, or was parsed from a text.
    read: (value) => (value ?? preset) as number,
  };
}

/** @throws SvcError invalid_argument */
function readNumber(text: string, [min, max]: readonly [number, number], name: string): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw invalid(
    name,
    `${JSON.stringify(text.slice(0, 80))} is not an integer from ${min} to ${max}`,
  );
}

/** A text of the query, which may be left out. */
export const textInQuery = (description: string) =>
  httpField(z.string().optional().meta({ description }));
