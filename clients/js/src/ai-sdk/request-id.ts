/**
 * A UUID (version 8) that is the same for the same parts: a repeated call stores nothing a second time.
 * @param parts JSON values; the first names what is identified
 */
export async function requestIdOf(...parts: readonly unknown[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(parts));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).slice(0, 16);
  const version = (digest[6] ?? 0) & 0x0f;
  const variant = (digest[8] ?? 0) & 0x3f;
  digest[6] = version | 0x80;
  digest[8] = variant | 0x80;
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
