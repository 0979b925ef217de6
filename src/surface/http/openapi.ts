import { OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import { z } from "zod";
import type { HttpBinding, Operation } from "../contract/operation.ts";
import { OPERATIONS } from "../contract/operations.ts";

const errorSchema = z
  .strictObject({
    detail: z.string().meta({ description: "What failed, which value, how to mend it." }),
  })
  .meta({ id: "Error" });

const unavailableSchema = z
  .strictObject({
    detail: z.string(),
    event_id: z.string().optional().meta({ format: "uuid" }),
    reason_code: z.string().optional(),
    accepted: z.literal(true).optional(),
  })
  .meta({
    id: "Unavailable",
    description: "With `accepted`, the source text is safe and its processing is still pending.",
  });

const ERROR_TEXTS: Readonly<Record<number, string>> = {
  400: "What is cited was not in the context of the retrieval, or not with its text",
  401: "No key, or a wrong one",
  403: "The key belongs to another owner",
  404: "Unknown, or of another owner",
  409: "The request key or id was used with other inputs",
  413: "The body is larger than 10 MiB",
  422: "A value breaks a documented rule",
  500: "An unexpected failure; its cause is in the server's log",
  503: "Not ready, busy, or accepted but unfinished",
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
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "svc",
      version,
      description: "A long-term memory for AI assistants that its user owns.",
    },
  });
}

function toRoute(operation: Operation, binding: HttpBinding): RouteConfig {
  const { params, query, headers, body } = binding.request;
  return {
    method: binding.method,
    path: binding.path,
    operationId: operation.name,
    summary: operation.summary,
    description: operation.description,
    security: binding.isPublic ? [] : [{ bearer: [] }],
    request: {
      ...(params && { params }),
      ...(query && { query }),
      ...(headers && { headers }),
      ...(body && {
        body: {
          required: binding.request.bodyIsOptional !== true,
          content: { "application/json": { schema: body } },
        },
      }),
    },
    responses: {
      200: {
        description: "Done",
        content: { "application/json": { schema: binding.response } },
      },
      ...errorResponses(binding),
    },
  };
}

function errorResponses(binding: HttpBinding): RouteConfig["responses"] {
  const common = binding.isPublic ? [] : [401, 403, 422, 500, 503];
  const statuses = [...common, ...binding.statuses, ...(binding.request.body ? [413] : [])];
  return Object.fromEntries(
    statuses
      .sort((a, b) => a - b)
      .map((status) => [
        status,
        {
          description: ERROR_TEXTS[status] ?? "Failed",
          content: {
            "application/json": { schema: status === 503 ? unavailableSchema : errorSchema },
          },
        },
      ]),
  );
}
