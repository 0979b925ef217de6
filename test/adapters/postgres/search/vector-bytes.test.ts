import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { loadSqliteVec } from "../../../../src/adapters/native/sqlite-vec.ts";
import {
  cosine,
  readVector,
  writeVector,
} from "../../../../src/adapters/postgres/search/vector-bytes.ts";

const vectorOf = (length: number): fc.Arbitrary<Float32Array<ArrayBuffer>> =>
  fc
    .array(fc.integer({ min: -1_000_000, max: 1_000_000 }), {
      minLength: length,
      maxLength: length,
    })
    .filter((numbers) => numbers.some((value) => value !== 0))
    .map((numbers) => {
      const size = Math.hypot(...numbers);
      return Float32Array.from(numbers, (value) => value / size);
    });

test("the cosine of two vectors is that of the vector index of a pack, bit for bit", () => {
  const database = new Database(":memory:");
  try {
    database.loadExtension(loadSqliteVec());
    const query = database.query<{ score: number }, [Float32Array, Float32Array]>(
      "SELECT 1.0 - vec_distance_cosine(?, ?) AS score",
    );
    for (const length of [8, 13, 384]) {
      fc.assert(
        fc.property(vectorOf(length), vectorOf(length), (one, other) => {
          expect(cosine(one, other)).toBe(query.get(one, other)?.score ?? Number.NaN);
        }),
        { numRuns: 200, seed: 1 },
      );
    }
  } finally {
    database.close();
  }
});

test("a vector is read back as it was written", () => {
  fc.assert(
    fc.property(vectorOf(8), (vector) => {
      expect(Float32Array.from(JSON.parse(writeVector(vector)))).toEqual(vector);
      const sent = new DataView(new ArrayBuffer(4 + 4 * vector.length));
      for (const [place, value] of vector.entries()) sent.setFloat32(4 + 4 * place, value);
      expect(readVector(new Uint8Array(sent.buffer))).toEqual(vector);
    }),
    { numRuns: 200, seed: 1 },
  );
});
