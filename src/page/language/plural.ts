import { number } from "../parts/format.ts";

/** `1 memory`, `2 memories`. @param many default: with an s */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}
