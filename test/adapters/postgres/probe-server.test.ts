import { afterAll, describe, expect, test } from "bun:test";
import { probeServer } from "../../../src/adapters/postgres/connection/probe-server.ts";
import { leftOut } from "../../left-out.ts";
import { databaseUrl, NO_POSTGRES, onServer } from "../../postgres/databases.ts";
import { behindPooler, closePoolers } from "../../postgres/pooler.ts";

afterAll(closePoolers);

const look = async (url: string): Promise<boolean> =>
  (await probeServer({ url, poolSize: 2, statementTimeoutMs: 60_000 })).isDirect;

describe.skipIf(NO_POSTGRES !== undefined)(
  `whether statements may be prepared${leftOut(NO_POSTGRES)}`,
  () => {
    test("a connection to the server itself is direct", async () => {
      expect(await look(databaseUrl("postgres"))).toBe(true);
    });

    test("one that loses its settings on the way is not", async () => {
      expect(await look(await behindPooler(databaseUrl("postgres")))).toBe(false);
    });

    test("a limit that the server gives everybody does not look like one of ours", async () => {
      await onServer("ALTER ROLE svc SET statement_timeout = 7000");
      try {
        expect(await look(await behindPooler(databaseUrl("postgres")))).toBe(false);
        expect(await look(databaseUrl("postgres"))).toBe(true);
      } finally {
        await onServer("ALTER ROLE svc RESET statement_timeout");
      }
    });
  },
);
