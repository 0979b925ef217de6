import fc from "fast-check";

/** How a generated file is laid out. */
type Layout = {
  readonly lineEnding: string;
  readonly indent: string;
  readonly hasTrailingCommas: boolean;
  readonly mark: string;
  readonly tail: string;
  /** Drawn once for each gap, in turn. */
  readonly comments: readonly string[];
};

const LAYOUTS: fc.Arbitrary<Layout> = fc.record({
  lineEnding: fc.constantFrom("\n", "\r\n", ""),
  indent: fc.constantFrom("", " ", "  ", "    ", "\t"),
  hasTrailingCommas: fc.boolean(),
  mark: fc.constantFrom("", "\uFEFF"),
  tail: fc.constantFrom("", "\n", "\r\n", "\n// end\n"),
  comments: fc.array(fc.constantFrom("", "", "", "/* , } */", '// "m": {},', "/* é 😀 */"), {
    minLength: 1,
    maxLength: 6,
  }),
});

/** Names with quotes, backslashes, other scripts and the names of parsers' own members. */
const KEYS = fc.oneof(
  fc.constantFrom(
    "a",
    "env",
    "servers",
    "x y",
    'q"uote',
    "back\\slash",
    "ключ",
    "😀",
    "constructor",
  ),
  fc.string({ maxLength: 6 }),
);
const SCALARS = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.integer(),
  fc.constantFrom("// no comment", "/* none */", "a,b}", true, false, null, 1.5e10),
);

/** Texts of JSON files as people write them: comments, trailing commas, tabs, any line ending, with or without `section`. */
export function jsonTexts(section: string): fc.Arbitrary<string> {
  const value = fc.oneof(
    SCALARS,
    fc.array(SCALARS, { maxLength: 3 }),
    fc.dictionary(KEYS, SCALARS, { maxKeys: 3 }),
  );
  const members = fc.uniqueArray(fc.tuple(KEYS, value), {
    maxLength: 4,
    selector: ([key]) => key,
  });
  return fc
    .tuple(LAYOUTS, members, fc.option(members), fc.nat(4))
    .map(([layout, root, entries, at]) => {
      const others = root.filter(([key]) => key !== section);
      const own = entries === null ? [] : [[section, Object.fromEntries(entries)] as const];
      const all = [...others.slice(0, at), ...own, ...others.slice(at)];
      return layout.mark + print(Object.fromEntries(all), layout) + layout.tail;
    });
}

function print(root: object, layout: Layout): string {
  let drawn = 0;
  const { lineEnding, indent, hasTrailingCommas, comments } = layout;
  const gap = (depth: number): string => {
    const comment = comments[drawn++ % comments.length] ?? "";
    // A comment to the end of the line needs one.
    const shown = lineEnding === "" && comment.startsWith("//") ? "" : comment;
    return `${shown === "" ? "" : ` ${shown}`}${lineEnding}${lineEnding === "" ? "" : indent.repeat(depth)}`;
  };
  const write = (value: unknown, depth: number): string => {
    if (Array.isArray(value)) return JSON.stringify(value);
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    const members = Object.entries(value).map(
      ([key, member]) => `${JSON.stringify(key)}: ${write(member, depth + 1)}`,
    );
    if (members.length === 0) return depth % 2 === 0 ? "{}" : `{${gap(depth)}}`;
    const body = members.map((member, index) => {
      const isLast = index === members.length - 1;
      return `${gap(depth + 1)}${member}${isLast && !hasTrailingCommas ? "" : ","}`;
    });
    return `{${body.join("")}${gap(depth)}}`;
  };
  return write(root, 0);
}

const TOML_LINES = [
  'model = "gpt"',
  "approval = 'never'",
  "[profiles.fast]",
  'reason = """',
  "[mcp_servers.memory]",
  '"""',
];

/** Texts of TOML files with tables, arrays of tables, comments and strings that look like headers. */
export function tomlTexts(): fc.Arbitrary<string> {
  const lead = fc.constantFrom("", 'model = "gpt"\n', "# top\n\nmodel = 'x' # why\n");
  const table = fc.constantFrom(
    '[mcp_servers.docs]\ncommand = "npx"\nargs = [\n  "-y", # yes\n  "[mcp_servers.memory]",\n]\n',
    "[mcp_servers.docs.env]\nTOKEN = 'secret'\n",
    `[profiles.fast]\n${TOML_LINES.slice(3).join("\n")}\nnote = "after"\n`,
    "[[rules]]\nallow = [1, 2]\n\n[[rules]]\nallow = []\n",
    '["quoted name"."and another"]\nx = 1979-05-27T07:32:00Z\n',
    "# a lonely comment\n",
  );
  return fc
    .tuple(lead, fc.uniqueArray(table, { maxLength: 5 }), fc.boolean(), fc.boolean(), fc.boolean())
    .map(([start, tables, isSpaced, isWindows, hasMark]) => {
      const text = [start, ...tables].filter((part) => part !== "").join(isSpaced ? "\n" : "");
      return (hasMark ? "\uFEFF" : "") + (isWindows ? text.replaceAll("\n", "\r\n") : text);
    });
}

/** Texts of YAML files with comments, lists, blocks of text and strings that look like entries, in lines and in braces. */
export function yamlTexts(): fc.Arbitrary<string> {
  const lead = fc.constantFrom("", "# top\n", "---\n", "GOOSE_MODEL: x # why\n");
  const tail = fc.constantFrom("", "last: [a, b]\n", "# lonely\nlast:\n- a\n- b: c\n");
  const entry = fc.constantFrom(
    "developer:\n  type: builtin # mine\n  enabled: true\n",
    "docs:\n  cmd: npx\n  args:\n  - -y\n  - 'memory: {}'\n\n",
    "note:\n  text: |\n    memory:\n      cmd: none\n\n    end\n",
    '"two words": {cmd: x, args: []}\n# about nothing\n',
  );
  const indented = (text: string, by: number): string =>
    text.replaceAll(/^(?=.)/gm, " ".repeat(by));
  const section = fc.oneof(
    fc.constantFrom(
      "",
      "extensions:\n",
      "extensions: {}\n",
      "extensions: # none\n",
      "extensions: ~\n",
      "extensions: { } # none\n",
    ),
    fc
      .tuple(fc.uniqueArray(entry, { minLength: 1, maxLength: 3 }), fc.constantFrom(1, 2, 4))
      .map(([entries, by]) => `extensions:\n${indented(entries.join(""), by)}`),
  );
  return fc
    .tuple(lead, section, tail, fc.boolean(), fc.boolean(), fc.boolean())
    .map(([start, own, end, isWindows, hasMark, isOpen]) => {
      const text = isOpen ? (start + own + end).replace(/\n+$/, "") : start + own + end;
      return (hasMark ? "\uFEFF" : "") + (isWindows ? text.replaceAll("\n", "\r\n") : text);
    });
}
