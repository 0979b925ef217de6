/** JSON as text that no JavaScript value could become: repeated keys, numbers beyond all bounds, words that are no JSON. */

/** Text that stands in a document as it is. */
export class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** An object by its entries, so that any key may stand in it, and any number of times. */
export class Entries {
  readonly pairs: readonly (readonly [string, Tree])[];
  constructor(pairs: readonly (readonly [string, Tree])[]) {
    this.pairs = pairs;
  }
}

export type Tree = null | boolean | number | string | Raw | Entries | readonly Tree[];

/** The text of a document; numbers and texts as `JSON.stringify` writes them. */
export function toText(tree: Tree): string {
  if (tree instanceof Raw) return tree.text;
  if (tree instanceof Entries) {
    return `{${tree.pairs.map(([key, value]) => `${JSON.stringify(key)}:${toText(value)}`).join(",")}}`;
  }
  if (Array.isArray(tree)) return `[${tree.map(toText).join(",")}]`;
  return JSON.stringify(tree);
}

/** How many values a document holds, itself included. */
export function countOf(tree: Tree): number {
  return 1 + partsOf(tree).reduce<number>((count, part) => count + countOf(part), 0);
}

function partsOf(tree: Tree): readonly Tree[] {
  if (tree instanceof Entries) return tree.pairs.map(([, value]) => value);
  return isList(tree) ? tree : [];
}

function isList(tree: Tree): tree is readonly Tree[] {
  return Array.isArray(tree);
}

/** The document with its `index`th value, counted from the outside in, replaced. */
export function withChange(tree: Tree, index: number, change: (part: Tree) => Tree): Tree {
  if (index === 0) return change(tree);
  let left = index - 1;
  const inside = (part: Tree): Tree => {
    const count = countOf(part);
    const mine = left;
    left -= count;
    return mine >= 0 && mine < count ? withChange(part, mine, change) : part;
  };
  if (tree instanceof Entries) {
    return new Entries(tree.pairs.map(([key, value]) => [key, inside(value)] as const));
  }
  return isList(tree) ? tree.map(inside) : tree;
}
