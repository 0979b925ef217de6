import { describe, expect, test } from "bun:test";
import { needlesOf } from "../../../src/domain/erasure.ts";

async function found(
  texts: readonly string[],
  bytes: string | Uint8Array,
): Promise<readonly number[]> {
  const places = new Set<number>();
  (await needlesOf(texts)).look(
    typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes,
    places,
  );
  return [...places].sort((a, b) => a - b);
}

describe("needles", () => {
  test("are found wherever they stand, inside of each other and twice in the list too", async () => {
    const texts = ["green", "green tea", "een t", "gray", "green", "tea!"];
    expect(await found(texts, "a green tea")).toEqual([0, 1, 2, 4]);
    expect(await found(texts, "green te")).toEqual([0, 2, 4]);
    expect(await found(texts, "")).toEqual([]);
    expect(await found(["für Ölçek"], "xfür Ölçekx")).toEqual([0]);
    expect(await found(["abc"], "abcabc")).toEqual([]);
    expect((await needlesOf(texts)).longest).toBe(9);
  });

  test("cost the same however many of them begin alike", async () => {
    const texts = Array.from({ length: 20_000 }, (_, n) => `aaaaaaaaaaaaaaa${n}`);
    let reads = 0;
    const bytes = new Proxy(new Uint8Array(10_000).fill(97), {
      get: (target, name) => {
        if (name !== "length") reads += 1;
        return Reflect.get(target, name, target);
      },
    });
    expect(await found(texts, bytes)).toEqual([]);
    expect(reads).toBeLessThan(10_000 * 30);
  });
});
