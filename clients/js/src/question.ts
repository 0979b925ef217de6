/** Whether a text consists of questions alone: it states nothing, and as a memory it would answer the next question like it. */
export function isQuestion(text: string): boolean {
  const sentences = text.trim().split(/(?<=[.!?。！？؟])\s+|\n+/u);
  const ends = /[?？؟]["'”’»)\]]*\s*$/u;
  return sentences.every((sentence) => sentence.trim() === "" || ends.test(sentence));
}
