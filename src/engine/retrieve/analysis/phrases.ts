/** Source of a pattern for whole words, joined by `|`, with any blanks between them; for the flags `iu`. */
export function phrase(alternatives: string): string {
  return String.raw`(?<![\p{L}\p{N}_])(?:${alternatives.replaceAll(" ", String.raw`\s+`)})(?![\p{L}\p{N}_])`;
}

/** Whether a text holds one of the phrases, separated by commas: whole words, any case, any blanks between them. */
export function phrases(list: string): RegExp {
  return new RegExp(phrase(list.split(", ").join("|")), "iu");
}
