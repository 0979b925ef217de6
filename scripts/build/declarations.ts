import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript";

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
export function writeDeclarations({ root, base, entries, out }: DeclarationsInput): number {
  const program = createProgram({ root, base, entries, out });
  const written = new Set<string>();
  const write = (path: string): void => {
    if (written.has(path)) return;
    written.add(path);
    const text = declarationOf(program, path, root);
    const target = join(out, relative(base, path).replace(/\.ts$/, ".d.ts"));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text.replace(RELATIVE_IMPORT, "$1.js$2"));
    for (const [, from = ""] of text.matchAll(/(?:from|import\()\s*"(\.[^"]*\.ts)"/g)) {
      write(join(dirname(path), from));
    }
  };
  for (const entry of entries) write(entry);
  return written.size;
}

/** `from "./a.ts"` and `import("./a.ts")`. */
const RELATIVE_IMPORT = /((?:from|import\()\s*"\.[^"]*)\.ts(")/g;

function createProgram({ root, base, entries, out }: DeclarationsInput): ts.Program {
  const config = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root);
  return ts.createProgram([...entries], {
    ...options,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: base,
    outDir: out,
  });
}

function declarationOf(program: ts.Program, path: string, root: string): string {
  const file = program.getSourceFile(path);
  if (file === undefined) throw new Error(`${relative(root, path)} is no part of the library`);
  let declaration: string | undefined;
  const { diagnostics } = program.emit(file, (_, text) => {
    declaration = text;
  });
  if (declaration !== undefined && diagnostics.length === 0) return declaration;
  const words = ts.formatDiagnostics(diagnostics, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => root,
    getNewLine: () => "\n",
  });
  throw new Error(`${relative(root, path)} cannot be declared\n${words}`);
}
