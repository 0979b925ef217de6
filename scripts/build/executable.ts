import { join } from "node:path";
import type { EmbeddingModel } from "../../src/domain/embedding-models.ts";
import { nativePlugin, workerEntries } from "./native-plugin.ts";
import { pagePlugin } from "./page.ts";
import type { Target } from "./targets.ts";

/** What is built, from where to where. */
export type ExecutableInput = {
  /** Folder of the project. */
  readonly root: string;
  /** First entry point, absolute. */
  readonly main: string;
  readonly target: Target;
  /** The embedding models to put in. Default: all. */
  readonly models?: readonly EmbeddingModel[] | undefined;
  /** The file to write, absolute; for Windows it ends in `.exe`. */
  readonly outfile: string;
  /** Bun for the target. Default: the one that runs this. */
  readonly runtime?: string | undefined;
};

/**
 * Compiles one self-contained executable. Equal inputs and names give equal bytes.
 * @throws AggregateError or Error saying what could not be bundled.
 */
export async function buildExecutable(input: ExecutableInput): Promise<void> {
  const { root, main, target, models, outfile, runtime } = input;
  await Bun.build({
    entrypoints: [main, ...workerEntries(root)],
    root: join(root, "src"),
    compile: {
      target: `bun-${target}`,
      outfile,
      ...(runtime === undefined ? {} : { executablePath: runtime }),
      // The working directory belongs to the user: nothing in it may change what the program does.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
    format: "esm",
    // Without splitting, modules behind `await import` would be parsed at every start.
    splitting: true,
    minify: true,
    bytecode: true,
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [await nativePlugin(root, target, models), await pagePlugin(root)],
  });
}
