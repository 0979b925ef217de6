import { createHash } from "node:crypto";
import { followed, type Schema, type Schemas } from "./docs-example.ts";
import { type Parameter, tryForm } from "./docs-form.ts";
import { html, joined, Markup } from "./docs-html.ts";
import { SCRIPT } from "./docs-script.ts";
import { STYLE } from "./docs-style.ts";

type Content = { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> };
type Entry = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>;
};

/** The parts of the OpenAPI document that the page shows. */
type Document = {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Entry>>>>;
  readonly components: { readonly schemas: Schemas };
};

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64");

/** The page is self-contained: it contacts no other server, and no other script or style runs in it. */
export const DOCS_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hashOf(STYLE)}'`,
  `script-src 'sha256-${hashOf(SCRIPT)}'`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * The documentation page: every operation with its fields and a form to try it, then every shape. It works offline, and without
 * scripts except for the forms.
 */
export function docsPage(document: object): string {
  // SAFETY: `buildOpenApi` makes documents of this form.
  const { info, tags, paths, components } = document as Document;
  const { schemas } = components;
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, entry]) => ({ path, method, entry })),
  );
  const groups = tags.map(({ name, description }) => {
    const ofGroup = entries.filter(({ entry }) => entry.tags.includes(name));
    return html`<section id="${name}"><h3>${name}</h3><p>${description}</p>
${ofGroup.map(({ path, method, entry }) => operation(path, method, entry, schemas))}</section>`;
  });
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} ${info.version}</title><style>${new Markup(STYLE)}</style></head>
<body><main>
<h1>${info.title} <small>${info.version}</small></h1>
<p>${info.description} This page comes from <a href="openapi.json">openapi.json</a>.</p>
<div id="access" hidden><label>Key<span class="note">Needed only when the server was started with keys. It stays in this field until you leave the page.</span>
<input id="key" type="password" autocomplete="off" spellcheck="false"></label></div>
<noscript><p>To try operations here, the page needs its script.</p></noscript>
<datalist id="ids"></datalist>
<h2>Operations</h2>
<nav>${joined(
    tags.map(({ name }) => html`<a href="#${name}">${name}</a>`),
    " · ",
  )}</nav>
${groups}
<h2>Shapes</h2>
${Object.entries(schemas).map(([name, schema]) => shape(name, schema))}
</main><script>${new Markup(SCRIPT)}</script></body>
</html>
`.text;
}

function operation(path: string, method: string, entry: Entry, schemas: Schemas): Markup {
  const { parameters = [], requestBody, responses, summary, description, security } = entry;
  const body = schemaOf(requestBody);
  const answers = Object.entries(responses).map(
    ([status, answer]) => html`<tr><td>${status}</td><td>${answer.description}</td>
<td>${typeOf(schemaOf(answer))}</td></tr>`,
  );
  return html`<details id="${entry.operationId}"><summary><span class="method ${method}">${method.toUpperCase()}</span><span class="path">${path}</span><span class="note">${summary}</span></summary>
<div class="body"><p>${description}</p>
${tryForm({ method, path, parameters, body, isPublic: security.length === 0 }, schemas)}
${
  parameters.length > 0
    ? html`<h4>Parameters</h4>
<table>${parameters.map(({ name, schema, required, in: place }) => row(name, schema, required, place))}</table>`
    : undefined
}
${body && html`<h4>Body: ${typeOf(body)}</h4>${fields(followed(body, schemas))}`}
<h4>Answers</h4><table>${answers}</table></div></details>
`;
}

function shape(name: string, schema: Schema): Markup {
  const { description } = schema;
  return html`<details><summary>${name}</summary><div class="body" id="${name}">
${typeof description === "string" ? html`<p>${description}</p>` : undefined}${schema["properties"] === undefined ? typeOf(schema) : fields(schema)}</div></details>
`;
}

function fields({ properties, required }: Schema): Markup {
  const needed = Array.isArray(required) ? required : [];
  // SAFETY: the members of an object are schemas.
  const members = Object.entries((properties ?? {}) as Schemas);
  return html`<table>${members.map(([name, member]) => row(name, member, needed.includes(name), ""))}</table>`;
}

function row(name: string, schema: Schema, isRequired: boolean, place: string): Markup {
  const marks = [place, isRequired ? "required" : ""].filter((mark) => mark !== "");
  const { description } = schema;
  const told = [typeof description === "string" ? description : "", limitsOf(schema)];
  return html`<tr><td><code>${name}</code><span class="note">${marks.join(", ")}</span></td>
<td>${typeOf(schema)}</td><td>${told.filter((text) => text !== "").join(" - ")}</td></tr>`;
}

const LIMITS = ["default", "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength"];

function limitsOf(schema: Schema): string {
  return LIMITS.filter((key) => schema[key] !== undefined)
    .map((key) => `${key} ${JSON.stringify(schema[key])}`)
    .join(", ");
}

/** A type in a few words; a named shape becomes a link. */
function typeOf(schema: Schema | undefined): Markup {
  if (schema === undefined) return html``;
  const { $ref, enum: members, anyOf, items, type = "any", format } = schema;
  if (typeof $ref === "string") {
    const name = $ref.slice($ref.lastIndexOf("/") + 1);
    return html`<a href="#${name}">${name}</a>`;
  }
  if (schema["const"] !== undefined) return html`${JSON.stringify(schema["const"])}`;
  if (Array.isArray(members))
    return html`${members.map((value) => JSON.stringify(value)).join(" | ")}`;
  if (Array.isArray(anyOf)) return joined(anyOf.map(typeOf), " | ");
  const kind = [type].flat().join(" | ");
  // SAFETY: a list in a valid document names the schema of its items.
  if (items !== undefined) return html`list of ${typeOf(items as Schema)}`;
  return html`${typeof format === "string" ? `${kind} (${format})` : kind}`;
}

function schemaOf(part: Content | undefined): Schema | undefined {
  return Object.values(part?.content ?? {})[0]?.schema;
}
