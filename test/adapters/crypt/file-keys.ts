import {
  CRYPT_LIBRARY,
  loadInto,
  openSqlite,
  ownLibraryPath,
} from "../../../src/adapters/native/load-library.ts";

/** Number of keys still in memory, over all threads. */
export function countFileKeys(): number {
  const database = openSqlite(":memory:");
  try {
    loadInto(database, { ...CRYPT_LIBRARY, path: ownLibraryPath(CRYPT_LIBRARY) });
    return (
      database.query<{ value: number }, []>("SELECT svccrypt_key_count() AS value").get()?.value ??
      0
    );
  } finally {
    database.close();
  }
}
