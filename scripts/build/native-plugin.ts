import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BunPlugin, PluginBuilder } from "bun";
import { loadTokens } from "../../src/adapters/tokens/cl100k-tokens.ts";
import { packTokens } from "../../src/adapters/tokens/token-list.ts";
import { EMBEDDING_MODELS, type EmbeddingModel } from "../../src/domain/embedding-models.ts";
import { compressContent, compressFile } from "./compress.ts";
import { type NativeFile, nativeFiles, type Target } from "./targets.ts";

/** The folders below `src/adapters` that hold a `worker.ts`. */
const WORKER_FOLDERS = ["embedding", "rerank", "sqlite/rewrite"] as const;

/** The workers' entry points, which belong into every executable beside its own. */
export function workerEntries(root: string): readonly string[] {
  return WORKER_FOLDERS.map((folder) => join(root, "src/adapters", folder, "worker.ts"));
}

/**
 * Puts native libraries and models into the executable, compressed, and teaches the packages to find them there.
 * Every replacement throws when the text it looks for has gone: a new release of a package must not break silently.
 */
export async function nativePlugin(
  root: string,
  target: Target,
  chosen: readonly EmbeddingModel[] = EMBEDDING_MODELS,
): Promise<BunPlugin> {
  const models = await Promise.all(chosen.map((model) => modelFiles(root, model)));
  const files = [...(await nativeFiles(root, target)), ...models.flat()];
  const embedded = await embeddedModule(root, files);
  const tokens = await tokensModule(root);
  return {
    name: "svc-native",
    setup: (build) => {
      build.onLoad({ filter: /[\\/]adapters[\\/]native[\\/]embedded\.ts$/ }, () => ({
        contents: embedded,
        loader: "js",
      }));
      keepEnglish(build);
      build.onLoad({ filter: /[\\/]adapters[\\/]tokens[\\/]cl100k-tokens\.ts$/ }, () => ({
        contents: tokens,
        loader: "js",
      }));
      placeWorkers(build, target);
    },
  };
}

/** The module that takes the place of `src/adapters/native/embedded.ts`. */
async function embeddedModule(root: string, files: readonly NativeFile[]): Promise<string> {
  const compressed = await Promise.all(files.map(({ source }) => compressFile(root, source)));
  const children = [
    await childProgram(root, "footage", "src/adapters/footage/child.ts"),
    await childProgram(root, "document", "src/adapters/sources/document-child.ts"),
  ];
  const imports = compressed.map(
    ({ path }, i) => `import f${i} from ${JSON.stringify(path)} with { type: "file" };`,
  );
  const entries = files.map(({ key, group, name }, i) => {
    const fields = JSON.stringify({ group, name, sha256: compressed[i]?.sha256 }).slice(1, -1);
    return `  ${JSON.stringify(key)}: { asset: f${i}, ${fields} },`;
  });
  return [
    ...imports,
    ...children.map(
      ({ path }, i) => `import child${i} from ${JSON.stringify(path)} with { type: "file" };`,
    ),
    "export const EMBEDDED = {",
    ...entries,
    ...children.map(({ kind, place }, i) => {
      const fields = JSON.stringify(place).slice(1, -1);
      return `  "${kind}-child": { asset: child${i}, ${fields} },`;
    }),
    "};",
    "",
  ].join("\n");
}

/** The program of a process that reads files of others, as one file: it runs outside of the executable's own modules. */
async function childProgram(root: string, kind: string, module: string) {
  const { outputs } = await Bun.build({
    entrypoints: [join(root, module)],
    target: "bun",
    minify: true,
  });
  const text = await outputs[0]?.text();
  if (text === undefined) throw new Error(`the process of ${module} was not bundled`);
  const { path, sha256 } = await compressContent(root, Buffer.from(text));
  return {
    path,
    kind,
    place: { sha256, group: `${kind}-${sha256.slice(0, 12)}`, name: "child.js" },
  };
}

/** The module that takes the place of `src/adapters/tokens/cl100k-tokens.ts`. As code the tokens would take seven times the space. */
async function tokensModule(root: string): Promise<string> {
  const { path } = await compressContent(root, packTokens(await loadTokens()));
  return [
    'import { readFileSync } from "node:fs";',
    `import { unpackTokens } from ${JSON.stringify(join(root, "src/adapters/tokens/token-list.ts"))};`,
    `import asset from ${JSON.stringify(path)} with { type: "file" };`,
    "export const loadTokens = async () => unpackTokens(Bun.zstdDecompressSync(readFileSync(asset)));",
    "",
  ].join("\n");
}

async function modelFiles(root: string, model: EmbeddingModel): Promise<readonly NativeFile[]> {
  const folder = join(root, "src/adapters/embedding/models", model.name);
  await verifySums(folder, model.name);
  const weights = await sha256OfFile(join(folder, "onnx/model_quantized.onnx"));
  return model.files.map((name) => ({
    key: `model/${model.name}/${name}`,
    source: join(folder, name),
    group: `model-${weights.slice(0, 12)}/${model.name}`,
    name,
  }));
}

async function verifySums(folder: string, model: string): Promise<void> {
  const sums = readFileSync(join(folder, "SHA256SUMS"), "utf8").trim().split("\n");
  for (const line of sums) {
    const [sum, name = ""] = line.split(/\s+/);
    if (sum !== (await sha256OfFile(join(folder, name)))) {
      throw new Error(`${model}/${name} differs from SHA256SUMS; restore it from version control`);
    }
  }
}

async function sha256OfFile(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  hash.update(await Bun.file(path).arrayBuffer());
  return hash.digest("hex");
}

/** zod's messages in 50 languages would be loaded at every start. Ours are English. */
function keepEnglish(build: PluginBuilder): void {
  build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
    contents: 'export { default as en } from "./en.js";',
    loader: "js",
  }));
}

function placeWorkers(build: PluginBuilder, target: Target): void {
  const inside = target.startsWith("windows") ? "file:///B:/~BUN/root" : "file:///$bunfs/root";
  // Inside the executable a worker lies beside the other modules, under the name of its entry point.
  for (const folder of WORKER_FOLDERS) {
    const path = folder.replaceAll("/", "[\\\\/]");
    patch(build, new RegExp(`[\\\\/]adapters[\\\\/]${path}[\\\\/]worker-url\\.ts$`), [
      [
        'new URL("./worker.ts", import.meta.url)',
        `new URL("${inside}/adapters/${folder}/worker.js")`,
      ],
    ]);
  }
}

function patch(
  build: PluginBuilder,
  filter: RegExp,
  replacements: readonly (readonly [string, string])[],
): void {
  build.onLoad({ filter }, async ({ path }) => {
    let contents = await Bun.file(path).text();
    for (const [from, to] of replacements) {
      if (!contents.includes(from)) throw new Error(`pattern missing in ${path}: ${from}`);
      contents = contents.replace(from, () => to);
    }
    return { contents, loader: path.endsWith(".ts") ? "ts" : "js" };
  });
}
