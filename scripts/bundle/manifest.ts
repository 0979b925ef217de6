import { z } from "zod";
import { toolsOf } from "../../src/surface/mcp/tool-list.ts";
import type { Target } from "../build/targets.ts";

/** Version of the manifest's form, as the MCPB specification counts. */
const FORM = "0.3";
/** Where the program lies in a bundle. */
export function entryPointOf(target: Target): string {
  return target.startsWith("windows") ? "server/svc.exe" : "server/svc";
}

/** A text that an assistant puts in when it installs or starts a bundle. */
function placeholder(name: string): string {
  return `\${${name}}`;
}

/** What is known about the product, from `package.json`. */
export type Product = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
};

/** The rules of the specification for what a manifest of a program has. */
const MANIFEST = z.strictObject({
  manifest_version: z.literal(FORM),
  name: z.string().min(1),
  display_name: z.string().min(1),
  version: z.string().regex(/^\d+\.\d+\.\d+(-[\w.-]+)?$/),
  description: z.string().min(1),
  author: z.strictObject({ name: z.string().min(1) }),
  license: z.string().min(1),
  keywords: z.array(z.string()),
  server: z.strictObject({
    type: z.literal("binary"),
    entry_point: z.enum(["server/svc", "server/svc.exe"]),
    mcp_config: z.strictObject({
      command: z.string().startsWith(placeholder("__dirname")),
      args: z.array(z.string()),
      env: z.record(z.string(), z.string()),
    }),
  }),
  tools: z.array(z.strictObject({ name: z.string(), description: z.string() })).min(1),
  prompts_generated: z.boolean(),
  compatibility: z.strictObject({ platforms: z.array(z.enum(["darwin", "linux", "win32"])) }),
  user_config: z.record(
    z.string(),
    z.strictObject({
      type: z.enum(["string", "number", "boolean", "directory", "file"]),
      title: z.string(),
      description: z.string(),
      required: z.boolean(),
      default: z.string(),
    }),
  ),
});
export type Manifest = z.infer<typeof MANIFEST>;

/** The manifest of the bundle for a platform. @throws ZodError when it breaks a rule of the specification */
export function manifestOf(product: Product, target: Target): Manifest {
  const { name, version, description, license } = product;
  const [system] = target.split("-");
  const platform = system === "windows" ? "win32" : system;
  return MANIFEST.parse({
    manifest_version: FORM,
    name,
    display_name: `${name} memory`,
    version,
    description,
    author: { name },
    license,
    keywords: ["memory", "long-term memory", "local", "encrypted"],
    server: {
      type: "binary",
      entry_point: entryPointOf(target),
      mcp_config: {
        command: `${placeholder("__dirname")}/${entryPointOf(target)}`,
        args: ["mcp", "--db-path", placeholder("user_config.pack")],
        env: {},
      },
    },
    tools: toolsOf("full").map(({ tool, title }) => ({ name: tool, description: title })),
    prompts_generated: true,
    compatibility: { platforms: [platform] },
    user_config: {
      pack: {
        type: "string",
        title: "Pack",
        description:
          "The file that holds the memories. When it is missing, it is made, encrypted, and its key is kept on this machine: copy the key with svc key export.",
        required: true,
        default: `${placeholder("HOME")}/memory.pack`,
      },
    },
  });
}
