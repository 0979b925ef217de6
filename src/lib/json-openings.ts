const BRACKET = 0x5b;
const BRACE = 0x7b;

/**
 * How many lists and objects a piece of JSON opens, those within texts included: as objects they take up to a hundred times the bytes
 * that they have as text.
 */
export function openingsIn(piece: Uint8Array): number {
  let openings = 0;
  for (const byte of piece) if (byte === BRACKET || byte === BRACE) openings += 1;
  return openings;
}
