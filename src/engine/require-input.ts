import { invalid } from "../domain/errors.ts";
import type { Lifetime } from "./lifetime.ts";
import type { MemoryEngine } from "./memory-engine.ts";

/** The methods whose first argument has to be an object with members. */
type InputMethod = {
  [M in keyof MemoryEngine]: Parameters<MemoryEngine[M]> extends readonly [infer A, ...unknown[]]
    ? undefined extends A
      ? never
      : A extends string | readonly unknown[]
        ? never
        : M
    : never;
}[keyof MemoryEngine];

/** Those whose second argument has to be one, behind an id. */
type SecondInputMethod = "evaluateCondition";

/** The place of the input among the arguments. */
const INPUT_PLACES: Readonly<Record<InputMethod, 0> & Record<SecondInputMethod, 1>> = {
  aggregateAssertions: 0,
  aggregateQuantities: 0,
  aggregateQuantitiesFromText: 0,
  browse: 0,
  consolidateKnowledge: 0,
  evaluateCondition: 1,
  facets: 0,
  feedback: 0,
  forget: 0,
  getAssertionState: 0,
  getEvents: 0,
  ingest: 0,
  ingestBatch: 0,
  ingestFast: 0,
  ingestFastMany: 0,
  iterNodes: 0,
  listAnswerCitations: 0,
  listChanges: 0,
  listContradictions: 0,
  listEntities: 0,
  listEvents: 0,
  listRetrievals: 0,
  listSessions: 0,
  moveOwner: 0,
  observe: 0,
  observeSource: 0,
  processExtractions: 0,
  recordAnswerCitations: 0,
  retrieve: 0,
  scanNodes: 0,
  store: 0,
  storeWithReceipt: 0,
  timeline: 0,
};

/** What messages call the input; others call it input. */
const NAMES: Readonly<Partial<Record<string, string>>> = {
  aggregateAssertions: "query",
  aggregateQuantities: "query",
} satisfies Partial<Record<InputMethod, string>>;

/** An engine whose methods refuse to be called without their input, as they refuse any other wrong argument. */
export function requireInputs(engine: MemoryEngine, life: Lifetime): MemoryEngine {
  const refuse = (name: string): Promise<never> =>
    life.use(async () => {
      throw invalid(NAMES[name] ?? "input", "must be an object");
    });
  async function* refuseWalk(name: string): AsyncGenerator<never> {
    yield await refuse(name);
  }
  const checked = Object.entries(INPUT_PLACES).map(([name, place]) => {
    const method = Reflect.get(engine, name);
    const refuseCall = name === "iterNodes" ? refuseWalk : refuse;
    return [
      name,
      (...args: readonly unknown[]) => (isObject(args[place]) ? method(...args) : refuseCall(name)),
    ];
  });
  return { ...engine, ...Object.fromEntries(checked) };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
