/** What other runtimes get in place of the library: the store is Bun's SQLite. */
throw new Error(
  "svc runs on Bun 1.4.5 or newer, since its store is Bun's SQLite; run this program with: bun <file>. From other runtimes use the HTTP interface of: svc serve",
);
