import { SvcError } from "../../../../src/domain/errors.ts";
import { isSvcError } from "../memory.ts";

/** What could not be done, while the call to the model goes on. */
export type MemoryFailure = { readonly step: "retrieve" | "store"; readonly error: unknown };

/** Told of each failure. If it throws, the call fails with what it throws. */
export type OnMemoryFailure = (failure: MemoryFailure) => void;

/** A process warning of type `svc` with the reason, without texts of memories. */
export function warnOf({ step, error }: MemoryFailure): void {
  const reason = isSvcError(error) ? error.message : "an unexpected error";
  const what = step === "retrieve" ? "memories could not be read" : "a turn could not be stored";
  process.emitWarning(`${what}: ${reason}`, "svc");
}

/** @throws SvcError storage_unavailable after `timeoutMs`; the work itself is not undone */
export async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new SvcError("storage_unavailable", `the memory did not answer within ${timeoutMs} ms`),
      );
    }, timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
