import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import * as errors from "../../src/domain/errors.ts";
import * as library from "../../src/library.ts";

const SOURCE = join(import.meta.dir, "../../src");

function parse(path: string): ts.SourceFile {
  const text = readFileSync(join(SOURCE, path), "utf8");
  return ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
}

/** Every name that the library exports, types included. */
function exported(): ReadonlySet<string> {
  return new Set(
    parse("library.ts")
      .statements.filter(ts.isExportDeclaration)
      .flatMap(({ exportClause, moduleSpecifier }) => {
        if (exportClause !== undefined && ts.isNamedExports(exportClause)) {
          return exportClause.elements.map(({ name }) => name.text);
        }
        const file = moduleSpecifier?.getText().slice('"./'.length, -1) ?? "";
        return parse(file)
          .statements.filter(ts.isTypeAliasDeclaration)
          .map(({ name }) => name.text);
      }),
  );
}

/** The types of methods in the capabilities of the engine. */
function methodTypes(): ts.TypeAliasDeclaration[] {
  return parse("engine/memory-engine.ts")
    .statements.filter(ts.isImportDeclaration)
    .flatMap(({ moduleSpecifier }) => {
      const file = moduleSpecifier.getText().slice('"./'.length, -1);
      return parse(`engine/${file}`)
        .statements.filter(ts.isTypeAliasDeclaration)
        .filter(({ name }) => name.text.endsWith("Methods"));
    });
}

/** The names of the types that a declaration refers to, apart from those of the language. */
function typesIn(node: ts.Node): Set<string> {
  const names = new Set<string>();
  const visit = (inner: ts.Node): void => {
    if (ts.isTypeReferenceNode(inner)) names.add(inner.typeName.getText());
    ts.forEachChild(inner, visit);
  };
  visit(node);
  return names.difference(new Set(["Promise", "AsyncIterable", "Uint8Array"]));
}

test("the library exports every type that a method of the engine takes or gives", () => {
  const named = methodTypes().flatMap((type) => [...typesIn(type)]);
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((name) => !exported().has(name))).toEqual([]);
});

test("the library exports every class of errors", () => {
  const classes = Object.keys(errors).filter((name) => name.endsWith("Error"));
  expect(classes.length).toBeGreaterThan(15);
  expect(classes.filter((name) => !(name in library))).toEqual([]);
});

test("the library exports every closed set of the interface", () => {
  const sets = parse("domain/enums.ts")
    .statements.filter(ts.isVariableStatement)
    .filter(({ modifiers }) => modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword))
    .flatMap(({ declarationList }) =>
      declarationList.declarations.map(({ name }) => name.getText()),
    );
  expect(sets).toContain("NODE_TYPES");
  expect(sets.filter((name) => !(name in library))).toEqual([]);
});

test("other runtimes find every name, so that they come to hear what is needed", () => {
  const stub = parse("requires-bun.js");
  const names = stub.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) =>
      declarationList.declarations.flatMap(({ name }) =>
        ts.isObjectBindingPattern(name)
          ? name.elements.map((element) => element.name.getText())
          : [],
      ),
    );
  expect(names).toEqual(Object.keys(library).sort());
});
