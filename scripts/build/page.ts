import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { BunPlugin } from "bun";
import type { InspectorFile } from "../../src/surface/http/inspector-files.ts";
import { buildOpenApi } from "../../src/surface/http/openapi.ts";

/** Where the page lies on a server. */
const PUBLIC_PATH = "/inspect/";
/** Below the root; not in version control, since it follows from the operations. */
const CLIENT = "src/page/client";
/** The description that a client is of, in its folder. */
const INPUT = "openapi.json";
const GENERATOR = "node_modules/@hey-api/openapi-ts/bin/run.js";

/** Packages whose code is in the page, and so in every executable. */
export const PAGE_PACKAGES = [
  "preact",
  "@preact/signals",
  "@preact/signals-core",
  "d3-force",
  "d3-dispatch",
  "d3-quadtree",
  "d3-timer",
] as const;

/** A file of the page as the bundler makes it. */
export type PageFile = {
  /** Below `/inspect/`; empty for the page itself. */
  readonly name: string;
  readonly type: string;
  readonly content: Uint8Array<ArrayBuffer>;
};

/**
 * Makes the client of our HTTP interface with which the page asks, unless it is of the present operations already.
 * @throws Error with the generator's words
 */
export async function generateClient(root: string): Promise<void> {
  const document = JSON.stringify(buildOpenApi("0"));
  const folder = join(root, CLIENT);
  if (isOf(folder, document)) return;
  // Made elsewhere on the same disk and put into its place whole: another process may build or check the page at the same time.
  const making = join(root, `.page-client-${process.pid}`);
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  mkdirSync(dirname(folder), { recursive: true });
  const input = join(making, INPUT);
  writeFileSync(input, document);
  const options = ["--client", "@hey-api/client-fetch", "--silent", "--no-log-file"];
  const output = join(making, "client");
  const command = [GENERATOR, "--input", input, "--output", output, ...options];
  const child = Bun.spawnSync([process.execPath, ...command], { cwd: root });
  if (!child.success) throw new Error(`the client was not generated:\n${child.stderr}`);
  renameSync(input, join(output, INPUT));
  if (existsSync(folder) && !isOf(folder, document)) renameSync(folder, join(making, "before"));
  try {
    renameSync(output, folder);
  } catch (error) {
    // The other process was first.
    if (!isOf(folder, document)) throw error;
  }
  rmSync(making, { recursive: true, force: true });
}

/** Whether a folder holds the client of a description. */
function isOf(folder: string, document: string): boolean {
  const input = join(folder, INPUT);
  return existsSync(input) && readFileSync(input, "utf8") === document;
}

/** The page asks, and follows no stream: what the generated client has for that stays out, a kilobyte. */
const WITHOUT_STREAMS: BunPlugin = {
  name: "svc-page-without-streams",
  setup: (build) => {
    build.onLoad({ filter: /[\\/]serverSentEvents\.gen\.ts$/ }, () => ({
      contents: "export const createSseClient = undefined;",
      loader: "js",
    }));
  },
};

/**
 * Bundles the page. Equal source gives equal bytes and equal names.
 * @throws AggregateError saying what could not be bundled
 */
export async function buildPage(root: string): Promise<readonly PageFile[]> {
  await generateClient(root);
  const { outputs } = await Bun.build({
    entrypoints: [join(root, "src/page/page.html")],
    root: join(root, "src/page"),
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    publicPath: PUBLIC_PATH,
    naming: { entry: "[name].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
    tsconfig: join(root, "src/page/tsconfig.json"),
    plugins: [WITHOUT_STREAMS],
  });
  const files = await Promise.all(
    outputs.map(async (output) => ({
      name: output.path.endsWith(".html") ? "" : output.path.replace(/^\.\//, ""),
      type: output.type,
      content: new Uint8Array(await output.arrayBuffer()),
    })),
  );
  return files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Puts the page into the place of `src/surface/http/inspector-files.ts`. */
export async function pagePlugin(root: string): Promise<BunPlugin> {
  const files = await buildPage(root);
  const entries = files.map(({ name, type, content }) => [name, embedded(type, content)]);
  const contents = `export const INSPECTOR_FILES = ${JSON.stringify(Object.fromEntries(entries))};`;
  return {
    name: "svc-page",
    setup: (build) => {
      build.onLoad({ filter: /[\\/]surface[\\/]http[\\/]inspector-files\.ts$/ }, () => ({
        contents,
        loader: "js",
      }));
    },
  };
}

/** A file as the server keeps it. */
export function embedded(type: string, content: Uint8Array<ArrayBuffer>): InspectorFile {
  const gzip = gzipSync(content, { level: 9 }).toString("base64");
  const hash = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  return { type, etag: `"${hash.slice(0, 32)}"`, gzip };
}
