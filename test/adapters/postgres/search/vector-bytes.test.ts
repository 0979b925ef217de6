import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { loadSqliteVec } from "../../../../src/adapters/native/sqlite-vec.ts";
import {
  cosine,
  readVector,
  writeVector,
} from "../../../../src/adapters/postgres/search/vector-bytes.ts";
import { leftOut } from "../../../left-out.ts";
import { dropDatabase, makeDatabase, NO_POSTGRES, onServer } from "../../../postgres/databases.ts";

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

/** Numbers of 32 bits: all but those that are none, and negative zero, which is written as zero. */
const anyNumbers = fc
  .uint32Array({ minLength: 8, maxLength: 8 })
  .map((bits) =>
    new Float32Array(bits.buffer).map((value) => (Number.isFinite(value) ? value + 0 : 0.1)),
  );

test("a vector as the server sends it is read as it is", () => {
  fc.assert(
    fc.property(anyNumbers, (vector) => {
      const sent = new DataView(new ArrayBuffer(4 + 4 * vector.length));
      for (const [place, value] of vector.entries()) sent.setFloat32(4 + 4 * place, value);
      expect(readVector(new Uint8Array(sent.buffer))).toEqual(vector);
    }),
    { numRuns: 200, seed: 1 },
  );
});

test.skipIf(NO_POSTGRES !== undefined)(
  `the server reads every number of a vector as it is${leftOut(NO_POSTGRES)}`,
  async () => {
    const name = await makeDatabase();
    await onServer("CREATE EXTENSION vector", name);
    const vectors = [
      Float32Array.of(0, -0, 1, -1, 0.1, 1e-45, -1.17549421e-38, 3.40282347e38),
      ...fc.sample(anyNumbers, { numRuns: 500, seed: 1 }),
    ];
    const given = vectors.map((vector) => `('${writeVector(vector)}'::vector)`).join(", ");
    const rows = await onServer(`SELECT vector_send(v) AS sent FROM (VALUES ${given}) g (v)`, name);
    expect(rows.map((row) => readVector(Reflect.get(Object(row), "sent")))).toEqual(
      vectors.map((vector) => vector.map((value) => value + 0)),
    );
    await dropDatabase(name);
  },
);
