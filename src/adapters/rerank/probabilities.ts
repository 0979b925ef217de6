/** Positions of the three labels in a model's output. */
export type LabelOrder = {
  readonly entailment: number;
  readonly contradiction: number;
  readonly neutral: number;
};

/** 1 / (1 + e^-x), for both signs without overflow. */
export function sigmoid(x: number): number {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
}

/** e^x of each, divided by their sum. */
export function softmax(logits: readonly number[]): number[] {
  const max = Math.max(...logits);
  const powers = logits.map((logit) => Math.exp(logit - max));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/**
 * Finds entailment, contradiction and neutral among a model's labels, whatever their order and case.
 * @param labels the model's `id2label`: position to name.
 * @throws RangeError when they are not exactly these three.
 */
export function labelOrder(labels: Readonly<Record<string, string>>): LabelOrder {
  const at = (stem: string): number => {
    const found = Object.entries(labels).filter(([, name]) => name.toLowerCase().startsWith(stem));
    return found.length === 1 ? Number(found[0]?.[0]) : -1;
  };
  const order = {
    entailment: at("entail"),
    contradiction: at("contradict"),
    neutral: at("neutral"),
  };
  const places = new Set(Object.values(order));
  if (Object.keys(labels).length !== 3 || !places.isSubsetOf(new Set([0, 1, 2]))) {
    const names = Object.values(labels).join(", ");
    throw new RangeError(
      `its labels are ${names === "" ? "not named" : names}, not entailment, contradiction and neutral`,
    );
  }
  return order;
}
