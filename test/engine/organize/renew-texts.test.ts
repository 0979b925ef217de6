import { expect, test } from "bun:test";
import type { Store } from "../../../src/ports/store/store.ts";
import { makeFormer } from "../../adapters/sqlite/former-texts.ts";
import { until } from "../../until.ts";
import { useEngines } from "../engines.ts";

const { open, newPack } = useEngines();

test("an engine indexes the texts of an earlier version again beside its calls, once", async () => {
  const pack = newPack();
  const first = await open({ pack });
  await first.engine.store({ userId: "ada", content: "Ihre Häuser sind alt" });
  await first.engine.close();
  makeFormer(pack);
  let steps = 0;
  const counting = (store: Store) => ({
    renewTexts: () => {
      steps += 1;
      return store.renewTexts();
    },
  });

  const second = await open({ pack, alter: counting });
  await until(async () => steps === 1 && !(await second.store.hasFormerTexts()));
  await second.engine.close();
  const third = await open({ pack, alter: counting });
  await third.engine.store({ userId: "ada", content: "Green tea" });
  await third.engine.close();

  expect(steps).toBe(1);
});
