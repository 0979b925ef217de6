import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  readVector,
  writeVector,
} from "../../../../src/adapters/postgres/connection/insert-many.ts";
import { leftOut } from "../../../left-out.ts";
import { dropDatabase, makeDatabase, NO_POSTGRES, onServer } from "../../../postgres/databases.ts";

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
