import { canonicalJson, isJsonObject, type JsonObject } from "./json.ts";

/** Signatures of JSON, and commitments to texts. */

const ED25519 = "Ed25519";
const HMAC = "HMAC-SHA256";
const NONCE_BYTES = 32;

/** A new private key as text. */
export async function newSigningKey(): Promise<string> {
  const pair = await crypto.subtle.generateKey(ED25519, true, ["sign", "verify"]);
  // SAFETY: a key for signing comes as a pair.
  const { privateKey } = pair as CryptoKeyPair;
  return JSON.stringify(await crypto.subtle.exportKey("jwk", privateKey));
}

export function publicKeyOf(privateKey: string): string {
  // SAFETY: `newSigningKey` made it.
  return (JSON.parse(privateKey) as { readonly x: string }).x;
}

export async function signed(object: JsonObject, privateKey: string): Promise<JsonObject> {
  const key = await crypto.subtle.importKey("jwk", JSON.parse(privateKey), ED25519, false, [
    "sign",
  ]);
  const value = new Uint8Array(await crypto.subtle.sign(ED25519, key, bytesOf(object)));
  const signature = { alg: ED25519, public_key: publicKeyOf(privateKey), value: value.toBase64() };
  return { ...object, signature };
}

/** The public key whose signature of an object is valid; undefined if none is. */
export async function signerOf({ signature, ...rest }: JsonObject): Promise<string | undefined> {
  if (!isJsonObject(signature)) return undefined;
  const { public_key: publicKey, value } = signature;
  if (typeof publicKey !== "string" || typeof value !== "string") return undefined;
  try {
    const jwk = { kty: "OKP", crv: ED25519, x: publicKey };
    const key = await crypto.subtle.importKey("jwk", jwk, ED25519, false, ["verify"]);
    const bytes = Uint8Array.fromBase64(value);
    return (await crypto.subtle.verify(ED25519, key, bytes, bytesOf(rest))) ? publicKey : undefined;
  } catch {
    // It is not a key, or not a signature.
    return undefined;
  }
}

function bytesOf(object: JsonObject): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(canonicalJson(object));
}

/**
 * Commits to texts, so that anyone with the commitment and a text can check that it is one of them. Only the commitment contains the nonce:
 * without it texts cannot be guessed.
 */
export function commitTo(texts: ReadonlyMap<string, string>): JsonObject {
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const values = Array.from(texts, ([id, text]) => [id, macOf(nonce, text)] as const);
  return { alg: HMAC, nonce: nonce.toBase64(), values: Object.fromEntries(values) };
}

/** The ids of a text in a commitment. */
export function committedTo(commitment: unknown, text: string): readonly string[] {
  if (!isJsonObject(commitment)) return [];
  const { nonce, values } = commitment;
  if (typeof nonce !== "string" || !isJsonObject(values)) return [];
  const mac = macOf(Uint8Array.fromBase64(nonce), text);
  return Object.entries(values).flatMap(([id, value]) => (value === mac ? [id] : []));
}

function macOf(nonce: Uint8Array, text: string): string {
  return new Bun.CryptoHasher("sha256", nonce).update(text).digest("base64");
}

/** HMAC-SHA256 of a text, 64 hexadecimal digits. */
export function keyedHash(secret: string, text: string): string {
  return new Bun.CryptoHasher("sha256", secret).update(text).digest("hex");
}
