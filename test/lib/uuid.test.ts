import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { uuidV5, uuidV7 } from "../../src/lib/hashing.ts";
import { asUuid, parseUuid } from "../../src/lib/uuid.ts";

const CANONICAL = "0190a8b0-1c2d-7e3f-8a4b-5c6d7e8f9a0b";
const HEX = CANONICAL.replaceAll("-", "");
const NAMESPACE_URL = "6ba7b811-9dad-11d1-80b4-00c04fd430c8";

/** RFC 9562 section 5.5, from SHA-1 directly. */
function v5(namespace: string, name: string): string {
  const hash = createHash("sha1")
    .update(Buffer.from(namespace.replaceAll("-", ""), "hex"))
    .update(name)
    .digest();
  hash[6] = (hash[6]! & 0x0f) | 0x50;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  const hex = hash.toString("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20, 32),
  ].join("-");
}

describe("parseUuid", () => {
  test.each([
    { name: "the canonical form", text: CANONICAL },
    { name: "upper case", text: CANONICAL.toUpperCase() },
    { name: "no hyphens", text: HEX },
    { name: "braces", text: `{${CANONICAL}}` },
    { name: "braces without hyphens", text: `{${HEX}}` },
    { name: "a URN", text: `urn:uuid:${CANONICAL}` },
    { name: "a URN in upper case", text: `URN:UUID:${CANONICAL.toUpperCase()}` },
    { name: "blanks around", text: ` ${CANONICAL}\n` },
  ])("reads $name", ({ text }) => {
    expect(parseUuid(text)).toBe(asUuid(CANONICAL));
  });

  test.each([
    "",
    "not-a-uuid",
    CANONICAL.slice(1),
    `${CANONICAL}0`,
    `{${CANONICAL}`,
    `${CANONICAL}}`,
    CANONICAL.replace("a", "g"),
    `-${HEX}`,
    `${HEX.slice(0, 4)}-${HEX.slice(4)}`,
    CANONICAL.replace("-", " "),
  ])("refuses %j", (text) => {
    expect(parseUuid(text)).toBeUndefined();
  });

  test("gives one text for every spelling of one identifier", () => {
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        const spellings = [
          id,
          id.toUpperCase(),
          id.replaceAll("-", ""),
          `{${id}}`,
          `urn:uuid:${id}`,
        ];
        expect(new Set(spellings.map(parseUuid))).toEqual(new Set([asUuid(id)]));
      }),
    );
  });
});

describe("uuidV5", () => {
  test("matches a published example", () => {
    const dns = asUuid("6ba7b810-9dad-11d1-80b4-00c04fd430c8");
    expect(uuidV5(dns, "python.org")).toBe(asUuid("886313e1-3b8a-5372-9b90-0c9aee199e5d"));
  });

  test("is SHA-1 over namespace and UTF-8 name", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.string({ unit: "grapheme" }), (namespace, name) => {
        expect(uuidV5(asUuid(namespace), name)).toBe(asUuid(v5(namespace, name)));
        expect(uuidV5("url", name)).toBe(asUuid(v5(NAMESPACE_URL, name)));
      }),
    );
  });
});

describe("uuidV7", () => {
  test("gives ascending, distinct identifiers of version 7", () => {
    const ids = Array.from({ length: 10_000 }, uuidV7);
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
