import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript";

export type FlatInput = {
  /** Folder of the project, with its `tsconfig.json`. */
  readonly root: string;
  /** The folder that holds them all; paths below it are kept. Absolute. */
  readonly base: string;
  /** The modules that programs import, absolute. */
  readonly entries: readonly string[];
  /** Folder to write to, absolute. */
  readonly out: string;
  /** A folder of modules whose types are written out into one file. */
  readonly flattened: string;
};

/**
 * Writes declarations of modules that need none of the library's: without comments, and with the types that they take of it in one file.
 * @returns how many files were written
 * @throws Error with the compiler's words when the source cannot be declared; whether its types are right is checked elsewhere
 */
export function writeFlatDeclarations(input: FlatInput): number {
  const { root, base, entries, out, flattened } = input;
  const program = createProgram(input);
  const texts = new Map<string, string>();
  const taken = new Map<string, string>();
  const isFlat = (path: string): boolean => path.startsWith(flattened);
  const take = (path: string): void => {
    if (texts.has(path)) return;
    const text = declarationOf(program, path, root);
    texts.set(path, text);
    for (const [, names = "", from = ""] of text.matchAll(IMPORT)) {
      const other = join(dirname(path), from);
      if (!isFlat(other)) take(other);
      else
        for (const [name] of names.replaceAll(/\btype\b/g, "").matchAll(/\w+/g))
          taken.set(name, other);
    }
  };
  for (const entry of entries) take(entry);
  const write = (target: string, text: string): void => {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  };
  const flat = join(out, FLAT);
  for (const [path, text] of texts) {
    const target = join(out, relative(base, path).replace(/\.ts$/, ".d.ts"));
    const place = relative(dirname(target), flat).replace(/\.d\.ts$/, ".ts");
    const local = text.replaceAll(/(from\s*")(\.[^"]*\.ts)(")/g, (all, before, from, after) =>
      isFlat(join(dirname(path), from)) ? `${before}./${place}${after}` : all,
    );
    const lean = local.replaceAll(/^ +/gm, "");
    write(target, lean.replace(RELATIVE_IMPORT, "$1.js$2"));
  }
  write(flat, flatTypes(program, taken, [...texts.values()].join("")));
  return texts.size;
}

/** The file with the types that are written out. */
const FLAT = "svc.d.ts";
const IMPORT = /(?:{([^{}]*)}\s*from|import\()\s*"(\.[^"]*\.ts)"/g;

/** `from "./a.ts"` and `import("./a.ts")`. */
const RELATIVE_IMPORT = /((?:from|import\()\s*"\.[^"]*)\.ts(")/g;

function createProgram({ root, base, entries, out }: FlatInput): ts.Program {
  const config = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root);
  return ts.createProgram([...entries], {
    ...options,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    removeComments: true,
    stripInternal: true,
    rootDir: base,
    outDir: out,
  });
}

function declarationOf(program: ts.Program, path: string, root: string): string {
  const file = program.getSourceFile(path);
  if (file === undefined) throw new Error(`${relative(root, path)} is no part of the library`);
  let declaration: string | undefined;
  const { diagnostics } = program.emit(file, (_, text) => {
    declaration = text;
  });
  if (declaration !== undefined && diagnostics.length === 0) return declaration;
  const words = ts.formatDiagnostics(diagnostics, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => root,
    getNewLine: () => "\n",
  });
  throw new Error(`${relative(root, path)} cannot be declared\n${words}`);
}

/**
 * Types that a package takes of elsewhere, each as one declaration that stands alone: what they are made of is written out, branded
 * texts are texts, and JSON below the first level is unknown. Of a type of which programs only pick members, only those are declared.
 * @param declarations the declarations that mention them
 */
function flatTypes(
  program: ts.Program,
  names: ReadonlyMap<string, string>,
  declarations: string,
): string {
  const checker = program.getTypeChecker();
  const types = [...names].toSorted().map(([name, path]) => {
    const file = program.getSourceFile(path);
    const module = file && checker.getSymbolAtLocation(file);
    const found = module && checker.getExportsOfModule(module).find((one) => one.name === name);
    if (found === undefined) throw new Error(`${path} exports no ${name}`);
    return [name, checker.getDeclaredTypeOfSymbol(found)] as const;
  });
  // A declaration with picked members alone does not stand for the whole type.
  const isWhole = (name: string): boolean => pickedOf(name, declarations) === undefined;
  const named = new Map(types.flatMap(([name, type]) => (isWhole(name) ? [[type, name]] : [])));
  const writing = { checker, named, within: [] };
  const texts = types.map(([name, type]) => {
    if (type.isClass()) return classOf(type, name, writing);
    const picked = pickedOf(name, declarations);
    return `export type ${name} = ${written(type, { ...writing, picked }, true)};\n`;
  });
  // A union loses its name where another member joins it.
  return texts.reduce((all, text) => {
    const [, name, body] = /^export type (\w+) = (.*);\n$/.exec(text) ?? [];
    if (name === undefined || body === undefined) return all;
    return all.replaceAll(body, name).replace(`export type ${name} = ${name};`, text.trim());
  }, texts.join(""));
}

/** The members that are picked of a type; undefined if it is used as a whole, too. */
function pickedOf(name: string, declarations: string): ReadonlySet<string> | undefined {
  const picks = [
    ...declarations.matchAll(new RegExp(`Pick<${name}, ([^>]*)>|\\b${name}\\[("\\w+")\\]`, "g")),
  ];
  const uses = [...declarations.matchAll(new RegExp(`\\b${name}\\b(?!.* from )`, "g"))];
  if (picks.length < uses.length) return undefined;
  return new Set(picks.flatMap(([, many = "", one = ""]) => `${many}${one}`.match(/\w+/g) ?? []));
}

type Writing = {
  readonly checker: ts.TypeChecker;
  /** Those that have a declaration. */
  readonly named: ReadonlyMap<ts.Type, string>;
  readonly within: readonly ts.Type[];
  readonly picked?: ReadonlySet<string> | undefined;
};

function written(type: ts.Type, writing: Writing, isDeclared = false): string {
  const { checker, named, within } = writing;
  const name = isDeclared ? undefined : named.get(type);
  if (name !== undefined) return name;
  if (within.includes(type)) return "unknown";
  const inner = { checker, named, within: [...within, type] };
  if (type.isUnion() && !(type.flags & ts.TypeFlags.Boolean)) return unionOf(type, inner);
  if (type.isIntersection()) {
    // What brands a text is no part of it.
    const plain = type.types.filter((part) => !isObject(part));
    return (plain.length > 0 ? plain : type.types).map((part) => written(part, inner)).join(" & ");
  }
  if (checker.isArrayType(type) || type.symbol?.name === "ReadonlyArray") {
    // SAFETY: a reference has its arguments.
    const [item] = checker.getTypeArguments(type as ts.TypeReference);
    const text = item === undefined ? "unknown" : written(item, inner);
    return `readonly ${/[|&>]/.test(text) ? `(${text})` : text}[]`;
  }
  return isNamedOnly(type, checker)
    ? nameOf(type, checker)
    : membersOf(type, inner, writing.picked);
}

function isObject({ flags }: ts.Type): boolean {
  return (flags & ts.TypeFlags.Object) !== 0;
}

/** Whether a type is not taken apart. */
function isNamedOnly(type: ts.Type, checker: ts.TypeChecker): boolean {
  if (!isObject(type) || checker.isTupleType(type) || isOfLanguage(type)) return true;
  return type.getCallSignatures().length > 0;
}

function unionOf({ types }: ts.UnionType, inner: Writing): string {
  const parts = types.map((part) => {
    const text = written(part, inner);
    if (text === "true" || text === "false") return "boolean";
    return text.includes("=>") ? `(${text})` : text;
  });
  return parts.includes("unknown") ? "unknown" : [...new Set(parts)].join(" | ");
}

function membersOf(type: ts.Type, inner: Writing, picked: Writing["picked"]): string {
  const { checker } = inner;
  const index = checker
    .getIndexInfosOfType(type)
    .map((info) => `[name: string]: ${written(info.type, inner)}`);
  const members = checker
    .getPropertiesOfType(type)
    .filter(({ name }) => picked?.has(name) ?? true)
    .map((member) => {
      const isOptional = (member.flags & ts.SymbolFlags.Optional) !== 0;
      return `${member.name}${isOptional ? "?" : ""}: ${written(checker.getTypeOfSymbol(member), inner)}`;
    });
  return `Readonly<{ ${[...index, ...members].join("; ")} }>`;
}

function classOf(type: ts.InterfaceType, name: string, writing: Writing): string {
  const { checker } = writing;
  const lineOf = (of: ts.Symbol, isOptional: boolean): string =>
    `${of.name}${isOptional ? "?" : ""}: ${written(checker.getTypeOfSymbol(of), writing)}`;
  const fields = ts.SymbolFlags.Property | ts.SymbolFlags.GetAccessor;
  const members = [...(type.symbol.members?.values() ?? [])]
    .filter(({ flags }) => (flags & fields) !== 0)
    .map((member) => `  readonly ${lineOf(member, false)};\n`);
  const [base] = checker.getBaseTypes(type);
  const made = checker.getTypeOfSymbol(type.symbol);
  const [make] = checker.getSignaturesOfType(made, ts.SignatureKind.Construct);
  const parameters = (make?.parameters ?? []).map((parameter) => {
    const { valueDeclaration: given } = parameter;
    const isOptional = given && ts.isParameter(given) && checker.isOptionalParameter(given);
    return lineOf(parameter, isOptional === true);
  });
  const parent = base === undefined ? "Object" : nameOf(base, checker);
  return `export declare class ${name} extends ${parent} {\n${members.join("")}  constructor(${parameters.join(", ")});\n}\n`;
}

function nameOf(type: ts.Type, checker: ts.TypeChecker): string {
  return checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
}

/** Whether a type is of the language or its runtimes, which every program has. */
function isOfLanguage(type: ts.Type): boolean {
  const [declared] = type.symbol?.declarations ?? [];
  return (
    declared !== undefined &&
    type.isClassOrInterface() &&
    /\/node_modules\//.test(declared.getSourceFile().fileName)
  );
}
