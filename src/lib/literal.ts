/** One member of an object that is made from another value. */
export type Part = {
  readonly to: string;
  /** What it is made from: a member of the value, or what a function gets of it. */
  readonly from: string | ((source: never) => unknown);
  readonly make: (value: never) => unknown;
  /** The same as an expression, for what needs no call. */
  readonly inline: ((expression: string) => string) | undefined;
  /** What it is made from where the member is left out. */
  readonly omits: { readonly value: unknown } | undefined;
};

const NAME = /^[A-Za-z_]\w*$/;

/**
 * A function that makes an object with these members, in their order. It is compiled by its first call to a literal, as a
 * person would write it: ten times as fast as members that are set one after the other. Names come from declarations alone.
 */
export function literalMaker<S, T>(parts: readonly Part[]): (source: S) => T {
  let made: ((source: S) => T) | undefined;
  return (source) => {
    made ??= compile(parts);
    return made(source);
  };
}

function compile<S, T>(parts: readonly Part[]): (source: S) => T {
  const members = parts.map(({ to, from, omits, inline }, index) => {
    if (!NAME.test(to) || (typeof from === "string" && !NAME.test(from))) {
      throw new Error(`${to} of ${from} is no name`);
    }
    const given = typeof from === "string" ? `source.${from}` : `get${index}(source)`;
    const made = (value: string): string => inline?.(value) ?? `make${index}(${value})`;
    return { to, given, made, omits, index };
  });
  const first = members.findIndex(({ omits }) => omits !== undefined);
  const fixed = first === -1 ? members : members.slice(0, first);
  const rest = first === -1 ? [] : members.slice(first);
  const body = [
    `const made = { ${fixed.map(({ to, given, made }) => `${to}: ${made(given)}`).join(", ")} };`,
    ...rest.map(({ to, given, made, omits, index }) => {
      if (omits === undefined) return `made.${to} = ${made(given)};`;
      const own = `given${index}`;
      return `const ${own} = ${given}; if (${own} !== omitted${index}) made.${to} = ${made(own)};`;
    }),
    "return made;",
  ];
  const names = members.flatMap(({ index }) => [`make${index}`, `get${index}`, `omitted${index}`]);
  const values = parts.flatMap(({ make, from, omits }) => [make, from, omits?.value]);
  // SAFETY: the text is that of a function of one argument, whose result has the declared members.
  const outer = new Function(...names, `return (source) => { ${body.join(" ")} };`) as (
    ...values: readonly unknown[]
  ) => (source: S) => T;
  return outer(...values);
}
