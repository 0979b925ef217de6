import { invalid } from "../../../domain/errors.ts";
import { copyJson, type Json, type JsonObject } from "../../../lib/json.ts";
import { compareCodePoints } from "../../../lib/text.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { VisibleBinding } from "../api.ts";
import { jsonLine } from "./json-line.ts";

/** A place in the arguments of a call whose text is bound. */
export type BoundPlace = {
  /** RFC 6901, for example `/files/0`. */
  readonly jsonPointer: string;
  readonly presentation: string;
  readonly lookup: string;
  readonly kind: string;
  /** The memories that contain the binding, in ascending order. */
  readonly sourceNodeIds: readonly Uuid[];
  /** The names of the bindings in those memories, in ascending order. */
  readonly sourceReferences: readonly string[];
};

export type BindingUse = BoundPlace & { readonly operation: "replaced" | "already_lookup" };

export type ResolvedArguments = {
  /** A copy with complete forms in place of short ones. */
  readonly arguments: JsonObject;
  /** In the order of the arguments. */
  readonly replacements: readonly BoundPlace[];
  /** The replacements, and the places that had a complete form already. */
  readonly bindingUses: readonly BindingUse[];
};

/**
 * Puts complete forms into the arguments of a tool call where a language model wrote the short form from its context. Only a text
 * that equals a short form is replaced, never a part of a text and never a key. Pure.
 * @param bindings `valueBindings` of the retrieval whose context the model saw
 * @param args a JSON object
 * @throws SvcError invalid_argument if `args` is not such an object; if a short form has two complete forms or two kinds; or
 *   if one text is the short form of one binding and the complete form of another
 */
export function resolveArguments(
  bindings: readonly VisibleBinding[],
  args: Readonly<Record<string, unknown>>,
): ResolvedArguments {
  const bound = indexed(bindings);
  const uses: BindingUse[] = [];
  const resolve = (value: Json, pointer: string): Json => {
    if (typeof value === "string") return resolveText(value, pointer);
    if (Array.isArray(value)) {
      return value.map((item: Json, index) => resolve(item, `${pointer}/${index}`));
    }
    return isObject(value) ? members(value, pointer) : value;
  };
  const resolveText = (text: string, jsonPointer: string): string => {
    const short = bound.byPresentation.get(text);
    if (short !== undefined) {
      uses.push({ jsonPointer, ...short, operation: "replaced" });
      return short.lookup;
    }
    for (const complete of bound.byLookup.get(text) ?? []) {
      uses.push({ jsonPointer, ...complete, operation: "already_lookup" });
    }
    return text;
  };
  const members = (value: JsonObject, pointer: string): JsonObject =>
    Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        key,
        resolve(member, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`),
      ]),
    );
  return {
    arguments: members(parseArguments(args), ""),
    replacements: uses
      .filter(({ operation }) => operation === "replaced")
      .map(({ operation: _, ...place }) => place),
    bindingUses: uses,
  };
}

/** The bindings as text for a prompt: a line that names the fields, and the list as JSON on the next. Empty without any. Pure. */
export function renderValueBindings(bindings: readonly VisibleBinding[]): string {
  if (bindings.length === 0) return "";
  const list = bindings.map((binding) => ({
    context_ref: binding.contextRef,
    kind: binding.kind,
    lookup: binding.lookup,
    lookup_authority: binding.lookupAuthority,
    node_id: binding.nodeId,
    presentation: binding.presentation,
    reference: binding.reference,
  }));
  return [
    "Value bindings (use lookup where an argument needs what presentation stands for; context_ref and node_id name the memory, reference and kind the binding, lookup_authority who vouches for it):",
    jsonLine(list),
  ].join("\n");
}

type BoundText = Omit<BoundPlace, "jsonPointer">;

/** The bindings by their short and by their complete form. */
function indexed(bindings: readonly VisibleBinding[]): {
  readonly byPresentation: ReadonlyMap<string, BoundText>;
  readonly byLookup: ReadonlyMap<string, readonly BoundText[]>;
} {
  const byPresentation = new Map<string, BoundText>();
  for (const binding of bindings) {
    const known = byPresentation.get(binding.presentation);
    if (known !== undefined && !isSame(known, binding)) {
      throw ambiguous("one short form has two complete forms or two kinds", binding);
    }
    byPresentation.set(binding.presentation, {
      presentation: binding.presentation,
      lookup: binding.lookup,
      kind: binding.kind,
      sourceNodeIds: withOne(known?.sourceNodeIds ?? [], binding.nodeId),
      sourceReferences: withOne(known?.sourceReferences ?? [], binding.reference),
    });
  }
  const byLookup = new Map<string, readonly BoundText[]>();
  for (const entry of byPresentation.values()) {
    byLookup.set(entry.lookup, [...(byLookup.get(entry.lookup) ?? []), entry]);
  }
  const both = bindings.find(({ presentation }) => byLookup.has(presentation));
  if (both !== undefined) {
    throw ambiguous("a short form is the complete form of another binding", both);
  }
  return { byPresentation, byLookup };
}

function isSame(known: BoundText, { lookup, kind }: VisibleBinding): boolean {
  return known.lookup === lookup && known.kind === kind;
}

function withOne<T extends string>(list: readonly T[], item: T): readonly T[] {
  return list.includes(item) ? list : [...list, item].sort(compareCodePoints);
}

function ambiguous(what: string, { nodeId, reference }: VisibleBinding) {
  return invalid("value_bindings", `${what}; see the binding ${reference} of the memory ${nodeId}`);
}

function parseArguments(args: unknown): JsonObject {
  const copied = copyJson(args);
  if ("problem" in copied) {
    const { path, reason } = copied.problem;
    throw invalid(path === "" ? "arguments" : `arguments.${path}`, reason);
  }
  if (!isObject(copied.json)) throw invalid("arguments", "must be a JSON object");
  return copied.json;
}

function isObject(json: Json): json is JsonObject {
  return json !== null && typeof json === "object" && !Array.isArray(json);
}
