/** One member of an object that is made from another value. */
export type Part = {
  readonly to: string;
  /** The member that it is read from; undefined: `make` gets the whole value. */
  readonly from: string | undefined;
  readonly make: (value: never) => unknown;
  /** The same as an expression, for what needs no call. */
  readonly inline: ((expression: string) => string) | undefined;
  /** The value of `from` for which the member is left out. */
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
  const lines = parts.map((part, index) => {
    const { to, from = "whole", omits, inline } = part;
    if (!NAME.test(to) || !NAME.test(from)) throw new Error(`${to} of ${from} is no name`);
    const given = part.from === undefined ? "source" : `source.${from}`;
    const value = inline === undefined ? `make${index}(${given})` : inline(given);
    return { to, value, given, omits, index };
  });
  const first = lines.findIndex(({ omits }) => omits !== undefined);
  const fixed = first === -1 ? lines : lines.slice(0, first);
  const rest = first === -1 ? [] : lines.slice(first);
  const body = [
    `const made = { ${fixed.map(({ to, value }) => `${to}: ${value}`).join(", ")} };`,
    ...rest.map(({ to, value, given, omits, index }) => {
      const test = omits === undefined ? "" : `if (${given} !== omitted${index}) `;
      return `${test}made.${to} = ${value};`;
    }),
    "return made;",
  ];
  const names = lines.flatMap(({ index }) => [`make${index}`, `omitted${index}`]);
  const values = parts.flatMap(({ make, omits }) => [make, omits?.value]);
  // SAFETY: the text is that of a function of one argument, whose result has the declared members.
  const outer = new Function(...names, `return (source) => { ${body.join(" ")} };`) as (
    ...values: readonly unknown[]
  ) => (source: S) => T;
  return outer(...values);
}
