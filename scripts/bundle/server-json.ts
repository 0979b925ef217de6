import { z } from "zod";
import type { Product } from "./manifest.ts";

/** The form of a `server.json`, which the registry names by its date. */
const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
/** Names for examples, reserved by RFC 2606: nobody's, and refused by the registry. */
export const NAMESPACE = "com.example";
export const RELEASE_URL = "https://example.com/svc";

/** A bundle that can be downloaded. */
export type PublishedBundle = {
  /** Its file name. */
  readonly name: string;
  /** 64 hexadecimal digits. */
  readonly sha256: string;
};

export type Publication = {
  /** Reverse DNS form. */
  readonly namespace: string;
  /** The folder of the bundles on the web. */
  readonly releaseUrl: string;
  readonly bundles: readonly PublishedBundle[];
  /** The package of the npm registry that starts the server too; its `mcpName` has to be the name of the server. */
  readonly npmName?: string | undefined;
};

/** The registry's rules for what our `server.json` has. */
const SERVER = z.strictObject({
  $schema: z.literal(SCHEMA),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z
    .string()
    .max(255)
    .regex(/^\d+\.\d+\.\d+(-[\w.-]+)?$/),
  packages: z
    .array(
      z.discriminatedUnion("registryType", [
        z.strictObject({
          registryType: z.literal("npm"),
          identifier: z.string().min(1),
          version: z.string().min(1),
          transport: z.strictObject({ type: z.literal("stdio") }),
          packageArguments: z.array(
            z.strictObject({ type: z.literal("positional"), value: z.string().min(1) }),
          ),
        }),
        z.strictObject({
          registryType: z.literal("mcpb"),
          // The registry wants "mcp" somewhere in the address.
          identifier: z.url({ protocol: /^https$/ }).regex(/mcp/),
          version: z.string().min(1),
          fileSha256: z.string().regex(/^[a-f0-9]{64}$/),
          transport: z.strictObject({ type: z.literal("stdio") }),
        }),
      ]),
    )
    .min(1),
});
export type ServerJson = z.infer<typeof SERVER>;

/** What the registry is told about the server. @throws ZodError when it breaks a rule of the registry */
export function serverJson(product: Product, publication: Publication): ServerJson {
  const { namespace, releaseUrl, bundles, npmName } = publication;
  const { name, version, description } = product;
  return SERVER.parse({
    $schema: SCHEMA,
    name: `${namespace}/${name}`,
    title: `${name} memory`,
    description,
    version,
    packages: [
      ...(npmName === undefined ? [] : [npmPackage(npmName, version)]),
      ...bundles.map((bundle) => ({
        registryType: "mcpb",
        identifier: `${releaseUrl.replace(/\/+$/, "")}/${bundle.name}`,
        version,
        fileSha256: bundle.sha256,
        transport: { type: "stdio" },
      })),
    ],
  });
}

function npmPackage(identifier: string, version: string): object {
  return {
    registryType: "npm",
    identifier,
    version,
    transport: { type: "stdio" },
    packageArguments: [{ type: "positional", value: "mcp" }],
  };
}
