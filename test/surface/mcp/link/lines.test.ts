import { expect, test } from "bun:test";
import fc from "fast-check";
import { LineReader } from "../../../../src/surface/mcp/link/lines.ts";
import { processorMs } from "../../../processor-time.ts";

const bytes = (text: string): Buffer => Buffer.from(text);

test("any text cut anywhere, in the middle of a character too, comes back as its lines", () => {
  const line = fc
    .string({ unit: "binary" })
    .map((text) => text.replaceAll("\n", ""))
    .filter((text) => text.isWellFormed());
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat()), (lines, cuts) => {
      const whole = bytes(lines.map((text) => `${text}\n`).join(""));
      const borders = cuts.map((cut) => cut % (whole.byteLength + 1)).sort((a, b) => a - b);
      const reader = new LineReader();
      const read = [0, ...borders].flatMap((from, index) =>
        reader.read(whole.subarray(from, borders[index] ?? whole.byteLength)),
      );
      expect(read).toEqual(lines);
      expect(reader.rest().byteLength).toBe(0);
    }),
    { numRuns: 40 },
  );
});

test("a carriage return stays with its line", () => {
  expect(new LineReader().read(bytes('{"id":1}\r\n\r\n'))).toEqual(['{"id":1}\r', "\r"]);
});

test("what is kept of a chunk does not change when the stream uses its buffer again", () => {
  const reader = new LineReader();
  const buffer = bytes("first ");
  reader.read(buffer);
  buffer.fill(0x2a);
  expect(reader.read(bytes("half\n"))).toEqual(["first half"]);
});

test("the rest after the last line is handed out once", () => {
  const reader = new LineReader();
  reader.read(bytes("a\nbc"));
  expect(Buffer.from(reader.rest()).toString()).toBe("bc");
  expect(reader.read(bytes("d\n"))).toEqual(["d"]);
});

test("a line longer than allowed is refused, in one piece or many; one as long is read", () => {
  expect(() => new LineReader(4).read(bytes("12345\n"))).toThrow("longer than 4 bytes");
  const reader = new LineReader(4);
  expect(reader.read(bytes("12"))).toEqual([]);
  expect(reader.read(bytes("34\n1234\n"))).toEqual(["1234", "1234"]);
  reader.read(bytes("12"));
  expect(() => reader.read(bytes("345"))).toThrow("longer than 4 bytes");
});

test("a message of 16 MB in pieces of 64 KB is read in well under a second", () => {
  const reader = new LineReader();
  const piece = Buffer.alloc(65_536, 0x61);
  const before = processorMs();
  for (let count = 0; count < 256; count += 1) reader.read(piece);
  const [line] = reader.read(bytes("\n"));
  expect(line?.length).toBe(16 * 1024 * 1024);
  expect(processorMs() - before).toBeLessThan(5000);
});
