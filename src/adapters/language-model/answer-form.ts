import { z } from "zod";
import type { JsonObject } from "../../lib/json.ts";
import { objectsIn, readAnswer } from "../../lib/json-answer.ts";

/** A valid answer, or what to tell the model about an invalid one. */
export type Checked = { readonly answer: JsonObject } | { readonly problem: string };

const MAX_PROBLEMS = 5;

/**
 * Checks answers against a JSON Schema. Around the object there may be thoughts, prose, a code fence or an envelope, as small models
 * write them.
 * @throws Error if the schema itself cannot be read
 */
export function answerForm(schema: JsonObject): (text: string) => Checked {
  const form = z.fromJSONSchema(schema);
  return (text) => {
    const answer = readAnswer(text, ({ json }) =>
      form.safeParse(json).success ? json : undefined,
    );
    if (answer !== undefined) return { answer };
    const [first, ...more] = objectsIn(text);
    if (first === undefined) return { problem: "it is not one JSON object" };
    if (more.length > 0) return { problem: "it has several JSON objects" };
    const issues = form.safeParse(first.json).error?.issues.slice(0, MAX_PROBLEMS) ?? [];
    const lines = issues.map(({ path, message }) => `${path.join(".") || "answer"}: ${message}`);
    return { problem: lines.join("; ") };
  };
}
