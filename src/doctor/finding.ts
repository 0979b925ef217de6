/** One finding about a pack or its surroundings. */
export type Finding = {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  /** What was found and, unless it is fine, what to do. */
  readonly message: string;
};
