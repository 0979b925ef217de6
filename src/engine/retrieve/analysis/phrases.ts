/** Source of a pattern for whole words, joined by `|`, with any white space between them; for the flags `iu`. */
export function phrase(alternatives: string): string {
  return String.raw`(?<![\p{L}\p{N}_])(?:${alternatives.replaceAll(" ", String.raw`\s+`)})(?![\p{L}\p{N}_])`;
}

/** Matches a text that contains one of the phrases, separated by commas: whole words, any case, any white space between them. */
export function phrases(list: string): RegExp {
  return new RegExp(phrase(list.split(", ").join("|")), "iu");
}
