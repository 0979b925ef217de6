import { EXAMPLE_ID, exampleOf, followed, type Schema, type Schemas } from "./docs-example.ts";
import { flag, html, type Markup } from "./docs-html.ts";

export type Parameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: Schema;
};

/** The request of one operation. */
export type Request = {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
  readonly isPublic: boolean;
};

/**
 * A form for a request, filled with examples. It is hidden until the script shows it, because without the script nothing is sent.
 */
export function tryForm(request: Request, schemas: Schemas): Markup {
  const { method, path, parameters, body, isPublic } = request;
  return html`<form class="try" method="post" hidden data-method="${method.toUpperCase()}" data-path="${path}"${flag("data-secured", !isPublic)}>
<fieldset><legend>Try it</legend>
${parameters.map((parameter) => fieldOf(parameter, schemas))}
${body && bodyField(exampleOf(body, schemas))}
<button>Send</button>
<div class="answer" role="status"></div>
</fieldset></form>`;
}

function fieldOf({ name, in: place, required, schema }: Parameter, schemas: Schemas): Markup {
  const told = `${place}${required ? ", required" : ""}`;
  return html`<label><code>${name}</code><span class="note">${told}</span>
${inputFor(name, place, required, followed(schema, schemas))}</label>`;
}

function inputFor(name: string, place: string, isRequired: boolean, schema: Schema): Markup {
  const { items, enum: members, examples, format } = schema;
  const needed = flag("required", isRequired);
  // SAFETY: a list in a valid document names the schema of its items.
  const choices = items === undefined ? members : (items as Schema)["enum"];
  if (Array.isArray(choices)) {
    const isList = items !== undefined;
    const options = choices.map((value) => html`<option>${String(value)}</option>`);
    return html`<select name="${name}" data-in="${place}"${needed}${flag("multiple", isList)}>
${isList ? undefined : html`<option></option>`}${options}</select>`;
  }
  const isId = format === "uuid" && place !== "header";
  const [example] = Array.isArray(examples) ? examples : [];
  const value = example === undefined ? "" : String(example);
  const hint = isId ? EXAMPLE_ID : String(schema["default"] ?? "");
  return html`<input name="${name}" data-in="${place}" value="${value}" placeholder="${hint}" autocomplete="off" spellcheck="false"${needed}${isId ? html` list="ids"` : undefined}>`;
}

function bodyField(example: unknown): Markup {
  const text = JSON.stringify(example, null, 2);
  const hint = text.includes(EXAMPLE_ID) ? "; put your ids for the zeros" : "";
  return html`<label>Body<span class="note">Ctrl+Enter sends it${hint}</span>
<textarea name="body" data-in="body" rows="${text.split("\n").length + 1}" spellcheck="false">${text}</textarea></label>`;
}
