import { visit } from "jsonc-parser";

/** The first name that an object of a JSON text has twice; readers differ in which of the two they take. */
export function doubledName(text: string): string | undefined {
  const names: Set<string>[] = [];
  let doubled: string | undefined;
  visit(text, {
    onObjectBegin: () => void names.push(new Set()),
    onObjectEnd: () => void names.pop(),
    onObjectProperty: (name) => {
      const known = names.at(-1);
      if (known?.has(name)) doubled ??= name;
      known?.add(name);
    },
  });
  return doubled;
}
