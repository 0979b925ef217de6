import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { uuidV7 } from "../../src/lib/hashing.ts";
import { asUuid, createUuidSet, type Uuid } from "../../src/lib/uuid.ts";
import { processorMs } from "../processor-time.ts";

const NIL = asUuid("00000000-0000-0000-0000-000000000000");
const MAX = asUuid("ffffffff-ffff-ffff-ffff-ffffffffffff");

/** Identifiers of any digits, many of them alike in most places. */
const id = fc
  .oneof(
    fc.stringMatching(/^[0-9a-f]{32}$/),
    fc.stringMatching(/^[0-9a-f]{2}$/).map((tail) => tail.padStart(32, "0")),
    fc.stringMatching(/^[0-9a-f]$/).map((head) => head.padEnd(32, "0")),
    fc.constantFrom(NIL.replaceAll("-", ""), MAX.replaceAll("-", "")),
  )
  .map((hex) =>
    asUuid(
      `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`,
    ),
  );

function filled(ids: Iterable<Uuid>) {
  const set = createUuidSet();
  for (const each of ids) set.add(each);
  return set;
}

describe("a set of identifiers", () => {
  test("has what a set of texts has", () => {
    fc.assert(
      fc.property(fc.array(id, { maxLength: 300 }), fc.nat(20), (ids, count) => {
        const set = filled(ids);
        const texts = [...new Set(ids)].sort();
        expect(set.size()).toBe(texts.length);
        expect(set.smallest(count)).toEqual(texts.slice(0, count));
        expect(set.smallest(texts.length)).toEqual(texts);
      }),
      { numRuns: 300 },
    );
  });

  test.each([0, 1, 8, 9, 10, 16, 17, 1000])("of %d has each once", (size) => {
    const ids = Array.from({ length: size }, () => uuidV7());
    const set = filled([...ids, ...ids]);
    expect(set.size()).toBe(size);
    expect(set.smallest(5)).toEqual([...ids].sort().slice(0, 5));
  });

  test("takes the identifier of zeros for one like any other", () => {
    const ids = [NIL, MAX, ...Array.from({ length: 20 }, () => uuidV7()), NIL];
    expect(filled(ids).size()).toBe(22);
    expect(filled(ids).smallest(1)).toEqual([NIL]);
    expect(filled(ids.slice(1, -1)).smallest(22)).not.toContain(NIL);
  });

  test("of a hundred thousand in a row is made and read in a moment", () => {
    const begun = processorMs();
    const set = createUuidSet();
    for (let serial = 0; serial < 100_000; serial += 1) {
      set.add(asUuid(`01900000-0000-7000-8000-${serial.toString(16).padStart(12, "0")}`));
    }
    expect(set.size()).toBe(100_000);
    expect(set.smallest(2)).toEqual([
      asUuid("01900000-0000-7000-8000-000000000000"),
      asUuid("01900000-0000-7000-8000-000000000001"),
    ]);
    expect(processorMs() - begun).toBeLessThan(5000);
  });
});
