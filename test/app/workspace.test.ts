/** Many memories under names, over packs and over schemas of a database: who holds them, and what each keeps. */

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { MemoryWorkspace, WorkspaceOptions } from "../../src/app/workspace/workspace.ts";
import { leftOut } from "../left-out.ts";
import { NO_POSTGRES } from "../postgres/databases.ts";
import { until } from "../until.ts";
import { DATABASE_GROUND, FOLDER_GROUND } from "./workspace-grounds.ts";

// The model is loaded by the first text of each workspace.
setDefaultTimeout(120_000);

const GROUNDS = [
  ["a folder", FOLDER_GROUND, undefined],
  ["a database", DATABASE_GROUND, NO_POSTGRES],
] as const;

for (const [kind, ground, lacking] of GROUNDS) {
  describe.skipIf(lacking !== undefined)(`in ${kind}${leftOut(lacking)}`, () => {
    const opened: MemoryWorkspace[] = [];
    beforeEach(() => ground.make());
    afterEach(async () => {
      for (const workspace of opened.splice(0)) await workspace.close().catch(() => undefined);
      await ground.remove();
    });

    async function open(options: WorkspaceOptions = {}): Promise<MemoryWorkspace> {
      const workspace = await ground.open(options);
      opened.push(workspace);
      return workspace;
    }

    describe("namespaces", () => {
      test("keep apart what is stored under one owner, and are listed by name", async () => {
        const workspace = await open();
        await using work = await workspace.namespace("work");
        await using home = await workspace.namespace("home/garden");
        await work.store({ content: "The release is on Friday", userId: "anna" });
        await home.store({ content: "The roses need water", userId: "anna" });

        const found = await home.retrieve({ query: "release Friday", userId: "anna" });

        expect(found.results.map(({ node }) => node.content)).toEqual(["The roses need water"]);
        expect(await workspace.listNamespaces()).toEqual([home.namespace, work.namespace]);
        expect(await ground.has(work.namespace.id)).toBeTrue();
      });

      test("are found again by another workspace of the folder, once the first is closed", async () => {
        const first = await open();
        const { namespace, store, release } = await first.namespace("work");
        await store({ content: "The release is on Friday", userId: "anna" });
        await release();
        await first.close();

        await using again = await (await open()).namespace("work", { create: false });

        expect(again.namespace).toEqual(namespace);
        expect((await again.stats()).nodeCount).toBe(1);
      });

      test("are not made unless they may be", async () => {
        const workspace = await open();
        await expect(workspace.namespace("work", { create: false })).rejects.toMatchObject({
          code: "not_found",
          data: { kind: "namespace", id: "work" },
        });
        expect(await workspace.listNamespaces()).toEqual([]);
      });

      test.each(["", " work", "work\n", "a\u0000b", "\ud800", "n".repeat(513)])(
        "have no name like %j",
        async (name) => {
          const workspace = await open();
          await expect(workspace.namespace(name)).rejects.toMatchObject({
            code: "invalid_argument",
            field: "name",
          });
        },
      );
    });

    describe("a lease", () => {
      test("of a namespace that is held shares its pack, and ends alone", async () => {
        const workspace = await open();
        const first = await workspace.namespace("work");
        await using second = await workspace.namespace("work");
        await first.ingestFast({ content: "tea", userId: "anna" });
        const { stats } = first;
        await first.release();
        await expect(stats()).rejects.toMatchObject({ code: "workspace_closed" });
        expect((await second.stats()).eventCount).toBe(1);
      });

      test("offers nothing that would end the engine for others", async () => {
        await using lease = await (await open()).namespace("work");
        for (const name of ["close", "lock", "unlock"]) expect(name in lease).toBeFalse();
      });

      test("is released once its calls and walks have ended", async () => {
        const lease = await (await open()).namespace("work");
        for (const content of ["tea", "milk"]) await lease.store({ content, userId: "anna" });
        const walk = lease.iterNodes({ userId: "anna" })[Symbol.asyncIterator]();
        await walk.next();
        let isReleased = false;
        const released = lease.release().then(() => {
          isReleased = true;
        });
        await Bun.sleep(20);
        expect(isReleased).toBeFalse();
        await walk.return?.();
        await released;
      });
    });

    describe("open namespaces", () => {
      test("are as many as may be: the one released longest ago makes room", async () => {
        const workspace = await open({ maxOpen: 2 });
        const [a, b] = [await workspace.namespace("a"), await workspace.namespace("b")];
        await b.release();
        await a.release();
        const c = await workspace.namespace("c");
        for (const [lease, isOpen] of [
          [a, true],
          [b, false],
          [c, true],
        ] as const) {
          await ground.becomes(lease.namespace.id, isOpen);
        }
        await c.release();
      });

      test("that are all in use make others wait until one is released", async () => {
        const workspace = await open({ maxOpen: 1 });
        const a = await workspace.namespace("a");
        let isGiven = false;
        const waiting = workspace.namespace("b").then((lease) => {
          isGiven = true;
          return lease;
        });
        await Bun.sleep(20);
        expect(isGiven).toBeFalse();
        await a.release();
        await (await waiting).release();
      });

      test("that are held by who waits refuse the wait, and the end of the workspace, which then goes on", async () => {
        const workspace = await open({ maxOpen: 1, waitMs: 50 });
        const held = await workspace.namespace("a");
        const full = {
          name: "WorkspaceError",
          code: "workspace_full",
          data: { namespaces: ["a"] },
        };
        await expect(workspace.namespace("b")).rejects.toMatchObject(full);
        await expect(workspace.close()).rejects.toMatchObject(full);
        expect((await held.stats()).nodeCount).toBe(0);
        await held.release();
        await (await workspace.namespace("b")).release();
        await workspace.close();
      });

      test("that are used make others wait for as long as that takes", async () => {
        const workspace = await open({ maxOpen: 1, waitMs: 50 });
        const held = await workspace.namespace("a");
        for (const content of ["tea", "milk"]) await held.store({ content, userId: "anna" });
        const walk = held.iterNodes({ userId: "anna" })[Symbol.asyncIterator]();
        await walk.next();
        const waiting = workspace.namespace("b");
        await Bun.sleep(150);
        await walk.return?.();
        await held.release();
        await (await waiting).release();
      });

      test("are given in the order in which they were asked for, so that a busy one starves nobody", async () => {
        const workspace = await open({ maxOpen: 1 });
        let isDone = false;
        // Between them, somebody holds the namespace at any time.
        const use = async (): Promise<void> => {
          while (!isDone) {
            const lease = await workspace.namespace("busy");
            await Bun.sleep(20);
            await lease.release();
          }
        };
        const users = [use()];
        await Bun.sleep(10);
        users.push(use());
        await Bun.sleep(30);
        const other = await workspace.namespace("other");
        isDone = true;
        await other.release();
        await Promise.all(users);
      });

      test("can be asked for by who holds them, while others wait", async () => {
        const workspace = await open({ maxOpen: 1 });
        const held = await workspace.namespace("a");
        const waiting = workspace.namespace("b");
        const again = await workspace.namespace("a");
        await again.release();
        await held.release();
        await (await waiting).release();
      });

      test("are closed with the workspace, once all are released; nothing works afterwards", async () => {
        const workspace = await open();
        const lease = await workspace.namespace("work");
        const closed = workspace.close();
        await expect(workspace.namespace("work")).rejects.toMatchObject({
          code: "workspace_closed",
        });
        await lease.ingestFast({ content: "tea", userId: "anna" });
        await lease.release();
        await closed;
        await expect(workspace.listNamespaces()).rejects.toMatchObject({
          code: "workspace_closed",
        });
        await ground.becomes(lease.namespace.id, false);
      });

      test("are no longer given to who waits for one when the workspace closes", async () => {
        const workspace = await open({ maxOpen: 1 });
        const a = await workspace.namespace("a");
        const waiting = workspace.namespace("b").catch((error: unknown) => error);
        await until(async () => (await workspace.listNamespaces()).length === 2);
        const closed = workspace.close();
        await a.release();
        expect(await waiting).toMatchObject({ code: "workspace_closed" });
        await closed;
        expect(await ground.has(a.namespace.id)).toBeTrue();
      });

      test("are not given to who asks just before the workspace closes, nor does that break the registry", async () => {
        const workspace = await open();
        const asked = workspace.namespace("a").catch((error: unknown) => error);
        await workspace.close();
        expect(await asked).toMatchObject({ code: "workspace_closed" });
      });

      test.each([0, -1, 1.5, Number.NaN])("cannot be %p", async (maxOpen) => {
        await expect(open({ maxOpen })).rejects.toMatchObject({
          code: "invalid_argument",
          field: "maxOpen",
        });
      });
    });

    describe("a question to several namespaces", () => {
      test("is answered by all, their scores and budgets weighted", async () => {
        const workspace = await open();
        for (const name of ["work", "home"]) {
          await using lease = await workspace.namespace(name);
          await lease.store({ content: `Anna prefers tea at ${name}`, userId: "anna" });
        }

        const answer = await workspace.retrieve({
          query: "Which drink does Anna prefer?",
          userId: "anna",
          namespaces: { home: 1, work: 3 },
          tokenBudget: 4000,
        });

        expect(answer.results.map(({ namespace }) => namespace)).toEqual(["work", "home"]);
        const [work, home] = answer.results;
        expect(work?.score).toBe(3 * (work?.candidate.compositeScore ?? Number.NaN));
        expect(home?.score).toBe(home?.candidate.compositeScore ?? Number.NaN);
        expect([...answer.responses.keys()]).toEqual(["home", "work"]);
        expect(answer.responses.get("work")?.bundle.tokenBudget).toBe(3000);
        expect(answer.responses.get("home")?.bundle.renderedContext).toContain("tea at home");
      });

      test("needs namespaces that exist, and weights above 0", async () => {
        const workspace = await open();
        await (await workspace.namespace("work")).release();
        const question = { query: "tea", userId: "anna" };
        const invalid = { code: "invalid_argument", field: "namespaces" };
        await expect(workspace.retrieve({ ...question, namespaces: {} })).rejects.toMatchObject(
          invalid,
        );
        for (const weight of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
          const namespaces = { work: weight };
          await expect(workspace.retrieve({ ...question, namespaces })).rejects.toMatchObject(
            invalid,
          );
        }
        const namespaces = { elsewhere: 1 };
        await expect(workspace.retrieve({ ...question, namespaces })).rejects.toMatchObject({
          code: "not_found",
        });
      });
    });

    test("whose memories were exchanged is noticed", async () => {
      const first = await open();
      const [a, b] = [await first.namespace("a"), await first.namespace("b")];
      await a.release();
      await b.release();
      await first.close();
      await ground.exchange(a.namespace.id, b.namespace.id);

      await expect((await open()).namespace("a")).rejects.toMatchObject({
        code: "namespace_mismatch",
        data: {
          path: ground.placeOf(a.namespace.id),
          expected: a.namespace.id,
          found: b.namespace.id,
        },
      });
    });

    test("whose memory of a namespace is gone is noticed, and no new one takes its place", async () => {
      const first = await open();
      const { namespace, release } = await first.namespace("a");
      await release();
      await first.close();
      await ground.lose(namespace.id);

      await expect((await open()).namespace("a")).rejects.toMatchObject({
        code: "workspace_damaged",
        data: { path: ground.placeOf(namespace.id) },
      });
      expect(await ground.has(namespace.id)).toBeFalse();
    });
  });
}
