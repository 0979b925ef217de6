import { createHash } from "node:crypto";

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre, .path { font-family: ui-monospace, monospace; font-size: 13px; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .6rem 0; }
summary { cursor: pointer; padding: .6rem .8rem; }
.body { padding: 0 .8rem .8rem; }
.method { display: inline-block; min-width: 3.2rem; font-weight: 700; text-transform: uppercase; font-size: 12px; }
.get { color: #2563eb; } .post { color: #15803d; } .put { color: #b45309; }
.note { opacity: .75; margin-left: .6rem; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; border-top: 1px solid var(--line); padding: .3rem .5rem .3rem 0; }
pre { background: var(--soft); padding: .6rem; border-radius: 6px; overflow: auto; }
h1 small { font-weight: 400; opacity: .6; } h4 { margin: .8rem 0 .3rem; }
`;

// Plain DOM calls only: text from the document is never read as markup.
const SCRIPT = `
const root = document.getElementById("api");
const make = (name, text, kind) => {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  if (kind) node.className = kind;
  return node;
};
const typeOf = (schema) => {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const many = schema.anyOf || schema.oneOf;
  if (many) return many.map(typeOf).join(" | ");
  const kind = [].concat(schema.type || "any").join(" | ");
  if (schema.items) return "list of " + typeOf(schema.items);
  return schema.format ? kind + " (" + schema.format + ")" : kind;
};
const limits = (schema) => ["default", "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength"]
  .filter((key) => schema[key] !== undefined).map((key) => key + " " + JSON.stringify(schema[key])).join(", ");
const rows = (list) => {
  const table = make("table");
  for (const [name, schema, required, place] of list) {
    const row = table.appendChild(make("tr"));
    const first = row.appendChild(make("td"));
    first.append(make("code", name), make("span", [place, required ? "required" : ""].filter(Boolean).join(", "), "note"));
    row.append(make("td", typeOf(schema)), make("td", [schema.description, limits(schema)].filter(Boolean).join(" - ")));
  }
  return table;
};
const fields = (schema) => rows(Object.entries(schema.properties || {})
  .map(([name, field]) => [name, field, (schema.required || []).includes(name), ""]));
const jsonOf = (part) => part && part.content && part.content["application/json"] && part.content["application/json"].schema;
const resolve = (api, schema) => schema && schema.$ref ? api.components.schemas[schema.$ref.split("/").pop()] : schema;
const operation = (api, path, method, entry) => {
  const box = make("details");
  const head = box.appendChild(make("summary"));
  head.append(make("span", method, "method " + method), make("span", path, "path"), make("span", entry.summary, "note"));
  const body = box.appendChild(make("div", undefined, "body"));
  body.append(make("p", entry.description));
  const parameters = (entry.parameters || []).map((item) => [item.name, item.schema || {}, item.required, item.in]);
  if (parameters.length) body.append(make("h4", "Parameters"), rows(parameters));
  const input = jsonOf(entry.requestBody);
  if (input) body.append(make("h4", "Body: " + typeOf(input)), fields(resolve(api, input)));
  body.append(make("h4", "Answers"));
  const answers = body.appendChild(make("table"));
  for (const [status, answer] of Object.entries(entry.responses)) {
    const row = answers.appendChild(make("tr"));
    row.append(make("td", status), make("td", answer.description), make("td", typeOf(jsonOf(answer))));
  }
  return box;
};
fetch("openapi.json").then((answer) => answer.json()).then((api) => {
  document.title = api.info.title + " " + api.info.version;
  const title = root.appendChild(make("h1", api.info.title + " "));
  title.append(make("small", api.info.version));
  root.append(make("p", api.info.description), make("h2", "Operations"));
  for (const [path, methods] of Object.entries(api.paths))
    for (const [method, entry] of Object.entries(methods)) root.append(operation(api, path, method, entry));
  root.append(make("h2", "Shapes"));
  for (const [name, schema] of Object.entries(api.components.schemas)) {
    const box = root.appendChild(make("details"));
    box.append(make("summary", name));
    const body = box.appendChild(make("div", undefined, "body"));
    if (schema.description) body.append(make("p", schema.description));
    body.append(fields(schema));
  }
}).catch((error) => root.append(make("pre", "The API description could not be loaded: " + error)));
`;

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64");

/** Everything is in the page: no other server is asked for anything, and no other script or style runs in it. */
export const DOCS_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hashOf(STYLE)}'`,
  `script-src 'sha256-${hashOf(SCRIPT)}'`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The documentation page: shows `openapi.json`, works without a network. */
export const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>API</title><style>${STYLE}</style></head>
<body><main id="api"></main><noscript>The API description is at <a href="openapi.json">openapi.json</a>.</noscript>
<script>${SCRIPT}</script></body>
</html>
`;
