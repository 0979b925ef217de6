import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";

export type DeclarationsInput = {
  /** Folder of the project, with its `tsconfig.json`. */
  readonly root: string;
  /** The folder that holds them all; paths below it are kept. Absolute. */
  readonly base: string;
  /** The modules that programs import, absolute. */
  readonly entries: readonly string[];
  /** Folder to write to, absolute. */
  readonly out: string;
};

/**
 * Writes the declarations of modules and of every module that they mention, and no others. They work in programs that
 * forbid the ending `.ts` in imports.
 * @returns how many files were written
 * @throws Error with the compiler's words when the source cannot be declared; whether its types are right is checked elsewhere
 */
export function writeDeclarations(input: DeclarationsInput): number {
  const { base, entries, out } = input;
  const made = mkdtempSync(join(tmpdir(), "svc-declarations-"));
  const written = new Set<string>();
  const write = (path: string): void => {
    const place = relative(base, path).replace(/\.ts$/, ".d.ts");
    if (written.has(place)) return;
    written.add(place);
    const text = readFileSync(join(made, place), "utf8");
    mkdirSync(dirname(join(out, place)), { recursive: true });
    writeFileSync(join(out, place), text.replace(RELATIVE_IMPORT, "$1.js$2"));
    for (const [, from = ""] of text.matchAll(/(?:from|import\()\s*"(\.[^"]*\.ts)"/g)) {
      write(join(dirname(path), from));
    }
  };
  try {
    declareAll(input, made);
    for (const entry of entries) write(entry);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return written.size;
}

/** `from "./a.ts"` and `import("./a.ts")`. */
const RELATIVE_IMPORT = /((?:from|import\()\s*"\.[^"]*)\.ts(")/g;

/** Has the compiler declare the modules and all that they import. */
function declareAll({ root, base, entries }: DeclarationsInput, outDir: string): void {
  const project = join(outDir, "tsconfig.json");
  const compilerOptions = {
    ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, incremental: false },
    ...{ noCheck: true, rootDir: base, outDir },
    typeRoots: [join(root, "node_modules/@types")],
  };
  const own = { extends: join(root, "tsconfig.json"), files: entries, include: [] };
  writeFileSync(project, JSON.stringify({ ...own, compilerOptions }));
  const compiler = join(root, "node_modules/typescript-native/bin/tsc");
  const command = [process.execPath, compiler, "--pretty", "false", "-p", project];
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: root });
  if (exitCode !== 0) throw new Error(`it cannot be declared\n${stdout}${stderr}`);
}
