import { z } from "zod";
import type { JsonObject } from "../../lib/json.ts";

/** A valid answer, or what to tell the model about an invalid one. */
export type Checked = { readonly answer: JsonObject } | { readonly problem: string };

const MAX_PROBLEMS = 5;

/**
 * Checks answers against a JSON Schema. An answer may be in a code fence, as small models write it.
 * @throws Error if the schema itself cannot be read
 */
export function answerForm(schema: JsonObject): (text: string) => Checked {
  const form = z.fromJSONSchema(schema);
  return (text) => {
    const value = parsed(text);
    if (value === undefined) return { problem: "it is not JSON" };
    const result = form.safeParse(value);
    if (!result.success) {
      const issues = result.error.issues.slice(0, MAX_PROBLEMS);
      const lines = issues.map(({ path, message }) => `${path.join(".") || "answer"}: ${message}`);
      return { problem: lines.join("; ") };
    }
    const { data } = result;
    if (typeof data !== "object" || data === null || Array.isArray(data)) {
      return { problem: "it is not a JSON object" };
    }
    // SAFETY: it was read from JSON text and checked to be an object.
    return { answer: data as JsonObject };
  };
}

function parsed(text: string): unknown {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text);
  try {
    return JSON.parse(fenced?.[1] ?? text);
  } catch {
    return undefined;
  }
}
