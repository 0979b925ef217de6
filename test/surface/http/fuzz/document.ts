/** The published OpenAPI document, as somebody reads it who knows nothing else of the server. */

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { buildOpenApi } from "../../../../src/surface/http/openapi.ts";

export type Schema = Readonly<Record<string, unknown>>;
export type Method = "GET" | "POST" | "PUT";

export type Parameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: Schema;
};

/** One operation of the document. */
export type ApiOperation = {
  readonly id: string;
  readonly method: Method;
  /** With `{name}` for path parameters. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly schema: Schema; readonly required: boolean } | undefined;
  /** Whether the body is a file as it is. */
  readonly takesFile: boolean;
  /** Those that it declares by number. */
  readonly statuses: ReadonlySet<number>;
};

export type ApiDocument = {
  readonly raw: object;
  readonly operations: readonly ApiOperation[];
  /** Those that it names. */
  readonly schemas: Readonly<Record<string, Schema>>;
  /** A schema with its first reference followed. */
  resolve(schema: Schema): Schema;
};

type RawOperation = {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    /** A file has another type. */
    readonly content: { readonly "application/json"?: { readonly schema: Schema } };
  };
  readonly responses: Readonly<Record<string, unknown>>;
};
type RawDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

const PREFIX = "#/components/schemas/";

export function readDocument(raw: object): ApiDocument {
  // SAFETY: openapi.test.ts validates the document by the schema of OpenAPI 3.1.
  const { paths, components } = raw as RawDocument;
  return {
    raw,
    schemas: components.schemas,
    operations: Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => readOperation(path, method, operation)),
    ),
    resolve: (schema) => {
      const { $ref } = schema;
      if (typeof $ref !== "string") return schema;
      const found = components.schemas[$ref.slice(PREFIX.length)];
      if (found === undefined) throw new Error(`the document has no ${$ref}`);
      return found;
    },
  };
}

function readOperation(path: string, method: string, operation: RawOperation): ApiOperation {
  const { requestBody, responses } = operation;
  const schema = requestBody?.content["application/json"]?.schema;
  return {
    id: operation.operationId,
    // SAFETY: the document has no other methods; a new one shows as an operation that is never reached.
    method: method.toUpperCase() as Method,
    path,
    parameters: operation.parameters ?? [],
    body: schema && { schema, required: requestBody?.required === true },
    takesFile: requestBody !== undefined && schema === undefined,
    statuses: new Set(
      Object.keys(responses)
        .filter((name) => name !== "default")
        .map(Number),
    ),
  };
}

/** The document that the server of this source publishes. */
export const DOCUMENT = readDocument(buildOpenApi("9.9.9"));

/** The operations at a path, whatever their method. Fixed paths win over those with parameters. */
export function operationsAt(document: ApiDocument, pathname: string): readonly ApiOperation[] {
  const fixed = document.operations.filter(({ path }) => path === pathname);
  if (fixed.length > 0) return fixed;
  return document.operations.filter(({ path }) =>
    new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
  );
}

/** Says in what an answer differs from what the document declares; undefined when in nothing. */
export type AnswerCheck = (
  operation: ApiOperation,
  status: number,
  json: unknown,
) => string | undefined;

/** Checks answers by the document alone. Schemas are compiled when they are first needed. */
export function createAnswerCheck(document: ApiDocument): AnswerCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats(ajv);
  ajv.addFormat("decimal", /^-?\d+(?:\.\d+)?$/);
  ajv.addSchema(document.raw, "api");
  const compiled = new Map<string, ValidateFunction>();

  const validatorOf = (pointer: string): ValidateFunction => {
    const known = compiled.get(pointer);
    if (known !== undefined) return known;
    const fresh = ajv.compile({ $ref: `api#${pointer}` });
    compiled.set(pointer, fresh);
    return fresh;
  };

  return (operation, status, json) => {
    if (!operation.statuses.has(status)) return `${operation.id} does not declare ${status}`;
    const path = operation.path.replaceAll("~", "~0").replaceAll("/", "~1");
    const where = `/paths/${path}/${operation.method.toLowerCase()}/responses/${status}`;
    const validate = validatorOf(`${encodeURI(where)}/content/application~1json/schema`);
    if (validate(json)) return undefined;
    const errors = validate.errors?.map(
      ({ instancePath, message, params }) =>
        `${instancePath} ${message} ${JSON.stringify(params).slice(0, 200)}`,
    );
    return `${operation.id} ${status}: ${errors?.slice(0, 5).join("; ")}`;
  };
}
