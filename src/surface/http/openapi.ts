import { OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import { z } from "zod";
import { ERROR_CATALOGUE } from "../../domain/errors.ts";
import { type HttpBinding, type Operation, TAGS } from "../contract/core/operation.ts";
import { OPERATIONS } from "../contract/core/operations.ts";
import { schemaOf } from "../contract/core/schema-of.ts";
import { REFUSAL_CODES } from "../listener/answers.ts";
import { OTHER_TYPE, SHOWN_TYPES } from "./blob-answer.ts";
import { exampleOf, type Schema, type Schemas } from "./docs-page.ts";

type ResponseConfig = Exclude<RouteConfig["responses"][number], { readonly $ref: string }>;

const codeSchema = z
  .enum([...Object.keys(ERROR_CATALOGUE), ...REFUSAL_CODES])
  .meta({ id: "ErrorCode", description: "What to branch on; docs/errors.md explains each." });

const errorShape = {
  detail: z.string().meta({ description: "What failed, which value, how to mend it." }),
  code: codeSchema,
};
const errorSchema = z.strictObject(errorShape).meta({ id: "Error" });

const unavailableSchema = z
  .strictObject({
    ...errorShape,
    event_id: z.string().optional().meta({ format: "uuid" }),
    reason_code: z.string().optional(),
    accepted: z.literal(true).optional(),
  })
  .meta({
    id: "Unavailable",
    description: "With `accepted`, the source text is safe and its processing is still pending.",
  });

const ERROR_TEXTS: Readonly<Record<number | "default", string>> = {
  400: "What is cited was not in the context of the retrieval, or not with its text",
  401: "No key, or a wrong one",
  403: "The key belongs to another owner",
  404: "Unknown, or of another owner",
  409: "The request key or id was used with other inputs",
  413: "The body is larger than 10 MiB",
  422: "A value breaks a documented rule",
  500: "An unexpected failure; its cause is in the server's log",
  503: "Not ready, busy, or accepted but unfinished",
  default:
    "Refused or failed for another documented reason: a full disk, a foreign page or host, a body that took too long",
};

/** The OpenAPI 3.1 document of every route, from the schemas that check the requests. */
export function buildOpenApi(version: string): object {
  const app = new OpenAPIHono();
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description: "Needed only when the server was started with keys.",
  });
  for (const operation of OPERATIONS) {
    if (operation.http !== undefined) {
      app.openAPIRegistry.registerPath(toRoute(operation, operation.http));
    }
  }
  const document = withoutDefaults(
    app.getOpenAPI31Document({
      openapi: "3.1.0",
      info: {
        title: "svc",
        version,
        description: "A long-term memory for AI assistants that its user owns.",
      },
      servers: [{ url: "/", description: "Where this document came from." }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    }),
  );
  addExamples(document);
  return document;
}

/** Adds an example to each body and each required parameter. */
function addExamples(document: object): void {
  // SAFETY: the document is of this form.
  const { paths, components } = document as Document;
  for (const { parameters = [], requestBody } of Object.values(paths).flatMap(Object.values)) {
    for (const part of [...parameters, ...Object.values(requestBody?.content ?? {})]) {
      if (part.required !== false)
        Object.assign(part, { example: exampleOf(part.schema, components.schemas) });
    }
  }
}

type Exampled = { readonly schema: Schema; readonly required?: boolean };
type Document = {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly parameters?: readonly Exampled[];
            readonly requestBody?: { readonly content: Readonly<Record<string, Exampled>> };
          }
        >
      >
    >
  >;
  readonly components: { readonly schemas: Schemas };
};

/**
 * Fields of bodies with their default in words and as `x-default`: client generators make a field with a `default` required in
 * every request.
 */
function withoutDefaults(document: { readonly components?: object | undefined }): object {
  return { ...document, components: saidInWords(document.components) };
}

function saidInWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(saidInWords);
  if (typeof value !== "object" || value === null) return value;
  const { default: preset, ...rest }: Record<string, unknown> = { ...value };
  const said = Object.fromEntries(
    Object.entries(rest).map(([name, part]) => [name, saidInWords(part)]),
  );
  // A field may itself be called `default`; its value is then a schema.
  if (preset === undefined) return said;
  if (typeof preset === "object" && preset !== null && !Array.isArray(preset)) {
    return { ...said, default: saidInWords(preset) };
  }
  const text = `Default ${JSON.stringify(preset)}.`;
  const { description } = said;
  return {
    ...said,
    description: typeof description === "string" ? `${description} ${text}` : text,
    "x-default": preset,
  };
}

const FILE = { "application/octet-stream": { schema: z.string().meta({ format: "binary" }) } };

function toRoute(operation: Operation, binding: HttpBinding): RouteConfig {
  const { params, query, headers, body } = binding.request;
  return {
    method: binding.method,
    path: binding.path,
    operationId: operation.name,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    security: binding.isPublic ? [] : [{ bearer: [] }],
    request: {
      ...(params && { params }),
      ...(query && { query }),
      ...(headers && { headers }),
      ...(binding.takesFile && { body: { required: true, content: FILE } }),
      ...(body && {
        body: {
          required: binding.bodyIsOptional !== true,
          content: { "application/json": { schema: body } },
        },
      }),
    },
    responses: {
      200: {
        description: "Done",
        content: contentOf(binding),
      },
      ...errorResponses(binding),
    },
  };
}

function contentOf({ response }: HttpBinding): NonNullable<ResponseConfig["content"]> {
  const schema = schemaOf(response);
  if (response.shape.kind !== "bytes") return { "application/json": { schema } };
  return Object.fromEntries([...SHOWN_TYPES, OTHER_TYPE].map((type) => [type, { schema }]));
}

function errorResponses(binding: HttpBinding): RouteConfig["responses"] {
  const common = binding.isPublic ? [] : [401, 403, 422, 500, 503];
  const statuses = [...common, ...(binding.statuses ?? []), ...(binding.request.body ? [413] : [])];
  const documented = [...new Set(statuses)].sort((a, b) => a - b);
  return {
    ...Object.fromEntries(documented.map((status) => [status, errorResponse(status)])),
    default: errorResponse("default"),
  };
}

function errorResponse(status: number | "default"): RouteConfig["responses"][number] {
  return {
    description: ERROR_TEXTS[status] ?? "Failed",
    content: { "application/json": { schema: status === 503 ? unavailableSchema : errorSchema } },
  };
}
