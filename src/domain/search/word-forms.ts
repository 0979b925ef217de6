/** The keys of the documents that contain a word, ascending, and the weighted frequency in each. */
export type Postings = { readonly keys: Float64Array; readonly frequencies: Float32Array };

/** The documents that contain any form of a word, by ascending key, each as often as it contains the form that it has most. */
export function anyOf(forms: readonly Postings[]): Postings {
  const [first = EMPTY, ...others] = forms.filter(({ keys }) => keys.length > 0);
  return others.reduce(either, first);
}

/** The documents that contain a form whose occurrences count less. */
export function weighted({ keys, frequencies }: Postings, weight: number): Postings {
  return { keys, frequencies: weight === 1 ? frequencies : frequencies.map((one) => one * weight) };
}

const EMPTY: Postings = { keys: new Float64Array(0), frequencies: new Float32Array(0) };

function either(one: Postings, other: Postings): Postings {
  const keys = new Float64Array(one.keys.length + other.keys.length);
  const frequencies = new Float32Array(keys.length);
  let [left, right, count] = [0, 0, 0];
  while (left < one.keys.length || right < other.keys.length) {
    const leftKey = one.keys[left] ?? Number.POSITIVE_INFINITY;
    const rightKey = other.keys[right] ?? Number.POSITIVE_INFINITY;
    const inLeft = leftKey <= rightKey ? (one.frequencies[left++] ?? 0) : 0;
    const inRight = rightKey <= leftKey ? (other.frequencies[right++] ?? 0) : 0;
    keys[count] = Math.min(leftKey, rightKey);
    frequencies[count] = Math.max(inLeft, inRight);
    count += 1;
  }
  return { keys: keys.slice(0, count), frequencies: frequencies.slice(0, count) };
}
