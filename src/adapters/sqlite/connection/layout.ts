/** The files of a pack: one file, or a database with its two index files beside it. */
export type PackLayout =
  | { readonly kind: "file"; readonly path: string }
  | {
      readonly kind: "directory";
      readonly databasePath: string;
      readonly vectorPath: string;
      /** A folder; the lexical index is the file `lexical.db` in it. */
      readonly lexicalPath: string;
    };

/** The file that holds events, graph and jobs. */
export function mainPath(layout: PackLayout): string {
  return layout.kind === "file" ? layout.path : layout.databasePath;
}

/** The file of the lexical index of a directory pack. */
export function lexicalFile(lexicalPath: string): string {
  return `${lexicalPath}/lexical.db`;
}

/** The files of a pack, main file first. */
export function filesOf(layout: PackLayout): readonly string[] {
  return layout.kind === "file"
    ? [layout.path]
    : [layout.databasePath, layout.vectorPath, lexicalFile(layout.lexicalPath)];
}

/** SQLite's names of the files of a pack on a connection. */
export function schemasOf(layout: PackLayout): readonly string[] {
  return layout.kind === "file" ? ["main"] : ["main", "vector_file", "lexical_file"];
}
