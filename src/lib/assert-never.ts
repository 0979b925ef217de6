/** Ends a switch over a closed set: it does not compile while a case is missing. */
export function assertNever(value: never): never {
  throw new Error(`unreachable case: ${JSON.stringify(value)}`);
}
