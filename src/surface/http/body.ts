import { invalid, SvcError } from "../../domain/errors.ts";

/** Bytes of the largest request body: 10 MiB. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/**
 * Reads a JSON body.
 * @throws SvcError too_large, or invalid_argument for a wrong content type, bad UTF-8 or bad JSON
 */
export async function readJsonBody(request: Request): Promise<unknown> {
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > MAX_BODY_BYTES) throw tooLarge();
  requireJsonType(request.headers.get("content-type"));
  const text = decode(await readBytes(request, declared));
  if (text.trim() === "") throw invalid("body", "is empty; it must be a JSON object");
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SvcError("invalid_argument", `body: is not valid JSON: ${problemOf(cause)}`, {
      field: "body",
    });
  }
}

function requireJsonType(contentType: string | null): void {
  const type = contentType?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/json") return;
  const shown = type === undefined || type === "" ? "missing" : JSON.stringify(type.slice(0, 80));
  throw invalid("Content-Type", `${shown}; it must be application/json`);
}

async function readBytes(request: Request, declared: number): Promise<Uint8Array> {
  // A declared length was checked and cannot be exceeded: the server cuts the body there.
  if (Number.isFinite(declared)) return await request.bytes();
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw invalid("body", "is not valid UTF-8");
  }
}

/** The parser's own words without its name; they quote at most one token. */
function problemOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return message.replace(/^JSON Parse error: /, "").slice(0, 120);
}

function tooLarge(): SvcError {
  return new SvcError(
    "too_large",
    `The request body is larger than ${MAX_BODY_BYTES} bytes (10 MiB); split it into several requests`,
    { max_bytes: MAX_BODY_BYTES },
  );
}
