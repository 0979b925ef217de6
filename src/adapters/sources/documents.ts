import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { EMBEDDED } from "../native/embedded.ts";
import { unpack } from "../native/extract.ts";
import type { DocumentPage } from "./document-child.ts";
import type { SourceFile } from "./files.ts";
import { partsOf, pieces, type Section, sectionsOf, timeOf } from "./notes.ts";
import { PieceError } from "./pieces.ts";
import type { Head, Made, ReadContext, SourceRow } from "./values.ts";

/** Documents that a library reads, in a process of its own that may take neither long nor much memory. */

const LIMITS = { fileBytes: 256 * 1024 ** 2, ms: 300_000, memoryBytes: 2 * 1024 ** 3 };
/** Milliseconds between two looks at the memory. */
const LOOK_MS = 200;

const KINDS = ["docx", "pptx", "xlsx"] as const;

/** What a file is, by its first bytes or by the parts in it. */
function kindOf({ bytes, office }: Head): string | undefined {
  if (Buffer.from(bytes.subarray(0, 5)).toString("latin1") === "%PDF-") return "pdf";
  return KINDS.find((kind) => kind === office);
}

export const DOCUMENTS: readonly SourceRow[] = ["pdf", ...KINDS].map((kind) => ({
  name: "documents",
  title: kind === "pdf" ? "PDF document" : `Office document (${kind})`,
  isLossless: false,
  isOfPlace: true,
  recognises: (head) => kindOf(head) === kind,
  read: (file, context) => readDocument(kind, file, context),
}));

async function* readDocument(
  kind: string,
  file: SourceFile,
  context: ReadContext,
): AsyncGenerator<Made> {
  if (file.size > LIMITS.fileBytes) throw new PieceError(`it has ${file.size} bytes`);
  const pages = await askChild(kind, await file.onDisk(), context);
  context.onBytes(file.size);
  const sections = pages.flatMap(({ text, page, heading }): readonly Section[] => {
    if (page === undefined) return sectionsOf(text);
    if (text.trim() === "") return [];
    return pieces(text, heading === undefined ? [] : [heading]).map((one) => ({ ...one, page }));
  });
  if (sections.every(({ text }) => text.trim() === "")) {
    throw new PieceError("it has no text, perhaps only pictures of it");
  }
  yield* partsOf(file, context, { sections, when: timeOf({}, file, context), front: {} });
}

/** @throws PieceError; the reason of the signal */
async function askChild(
  kind: string,
  path: string,
  { signal, environment }: Pick<ReadContext, "signal" | "environment">,
): Promise<readonly DocumentPage[]> {
  signal.throwIfAborted();
  const env: Record<string, string> = { BUN_BE_BUN: "1", LC_ALL: "C" };
  for (const name of ["TMPDIR", "TEMP", "TMP", "SystemRoot"]) {
    const value = environment[name];
    if (value !== undefined) env[name] = value;
  }
  const child = Bun.spawn([process.execPath, "--no-env-file", childPath(), kind, path], {
    ...{ env, cwd: "/", stdin: "ignore", stdout: "pipe", stderr: "ignore" },
    ...{ timeout: LIMITS.ms, killSignal: "SIGKILL", signal },
  });
  const look = setInterval(() => {
    if (memoryOf(child.pid) > LIMITS.memoryBytes) child.kill("SIGKILL");
  }, LOOK_MS);
  try {
    const text = await new Response(child.stdout).text();
    const code = await child.exited;
    signal.throwIfAborted();
    // SAFETY: our own process wrote it.
    if (code === 0) return JSON.parse(text) as readonly DocumentPage[];
    throw new PieceError(
      child.signalCode === null
        ? "its text cannot be read: it is damaged, or has a password"
        : "reading it takes too long or too much memory",
    );
  } finally {
    clearInterval(look);
    child.kill("SIGKILL");
  }
}

/** From source the module; in the executable a bundle of it, unpacked and verified. */
function childPath(): string {
  const bundle = EMBEDDED["document-child"];
  return bundle === undefined
    ? fileURLToPath(new URL("./document-child.ts", import.meta.url))
    : unpack(bundle);
}

/** Bytes of memory; 0 where the system does not tell it as a file. */
function memoryOf(pid: number): number {
  try {
    const [, pages = "0"] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ");
    return Number(pages) * 4096;
  } catch {
    return 0;
  }
}
