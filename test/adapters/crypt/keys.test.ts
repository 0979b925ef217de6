import { expect, test } from "bun:test";
import {
  deriveFileKeys,
  deriveMasterKey,
  keyCheckValue,
  parseKey,
  wipe,
} from "../../../src/adapters/crypt/keys.ts";
import { failure } from "../sqlite/folder.ts";

const RAW = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const RAW_HEX = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const SALT = new Uint8Array(16).fill(5);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

test.each([
  ["44 characters of base64", RAW],
  ["a raw key with a prefix", `raw_key:${RAW}`],
  ["a raw key without padding", `raw_key:${RAW.slice(0, -1)}`],
  ["a raw key with a line feed at its end", `${RAW}\n`],
])("%s gives its master key", async (_name, text) => {
  expect(hex(await deriveMasterKey(text, SALT))).toBe(RAW_HEX);
});

test("a passphrase gives each pack another key, and a raw key the same one", async () => {
  const other = new Uint8Array(16).fill(6);
  const salted = await deriveMasterKey("correct horse battery staple", SALT);
  // hashlib.pbkdf2_hmac("sha256", passphrase, b"svc-pack-passphrase-v2" + b"\x05" * 16, 600_000)
  expect(hex(salted)).toBe("2dc3e3bcdcf973d94e292c6a8228a36196a734e82ae7d39fd6fef4e04a1007a8");
  expect(hex(await deriveMasterKey("passphrase:correct horse battery staple", SALT))).toBe(
    hex(salted),
  );
  expect(hex(await deriveMasterKey("correct horse battery staple", other))).not.toBe(hex(salted));
  expect(hex(await deriveMasterKey(`raw_key:${RAW}`, other))).toBe(RAW_HEX);
});

test("a raw key given as a passphrase is a passphrase", () => {
  expect(parseKey(`passphrase:${RAW}`)).toEqual({ kind: "passphrase", text: RAW });
});

test("44 characters that are no key are a passphrase", () => {
  const text = "an ordinary sentence of forty-four letters !";
  expect(parseKey(text)).toEqual({ kind: "passphrase", text });
});

test.each([
  ["a letter with its mark apart", "Zu\u0308rich 2026", "Z\u00fcrich 2026"],
  ["blanks at the ends", " \tpw\n", "pw"],
  ["a blank behind the prefix", "passphrase: pw", "pw"],
  ["digits of full width", "pin １２３４", "pin 1234"],
  ["an ideographic space", "東\u3000京\u3000", "東 京"],
  ["a ligature", "o\ufb03ce", "office"],
])("a passphrase with %s is the one without", (_name, text, canonical) => {
  expect(parseKey(text)).toEqual({ kind: "passphrase", text: canonical });
});

test("blanks within a passphrase count, and one of blanks alone is itself", () => {
  expect(parseKey("a  b")).toEqual({ kind: "passphrase", text: "a  b" });
  expect(parseKey("  ")).toEqual({ kind: "passphrase", text: "  " });
});

test.each([
  { name: "an empty text", text: "" },
  { name: "a raw key of another length", text: `raw_key:${RAW.slice(4)}` },
  { name: "a raw key that is no base64", text: "raw_key:secret-but-not-a-key" },
  { name: "an empty passphrase", text: "passphrase:" },
])("$name is refused without showing it", async ({ text }) => {
  const { code, message, data } = await failure(deriveMasterKey(text, SALT));
  expect([code, data]).toEqual(["invalid_config", { setting: "encryption_key" }]);
  expect(message).not.toContain("secret");
  expect(message).not.toContain(RAW.slice(4));
});

test("each file and each use has keys of its own", () => {
  const master = new Uint8Array(32).fill(1);
  const one = deriveFileKeys(master, new Uint8Array(16).fill(1));
  const two = deriveFileKeys(master, new Uint8Array(16).fill(2));
  const keys = [one.page, one.log, one.check, two.page, two.log, two.check].map(hex);
  expect(new Set(keys).size).toBe(6);
  expect(keyCheckValue(one)).toHaveLength(4);
  expect(keyCheckValue(one)).not.toEqual(keyCheckValue(two));
});

test("wiped keys are zeros", () => {
  const key = new Uint8Array(32).fill(9);
  wipe(key);
  expect(key).toEqual(new Uint8Array(32));
});
