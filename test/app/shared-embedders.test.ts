import { expect, test } from "bun:test";
import { createSharedEmbedders } from "../../src/app/workspace/workspace.ts";
import { loadConfig } from "../../src/config/load.ts";
import { DEFAULT_MODEL } from "../../src/domain/embedding-models.ts";
import { REAL_MODEL } from "../engine/engines.ts";

test("a model that could not be made for one pack is made for the next", async () => {
  const { config } = loadConfig({ environment: {}, file: null });
  let tries = 0;
  const shared = createSharedEmbedders(async () => {
    tries += 1;
    if (tries === 1) throw new Error("the disk is full");
    return { ...REAL_MODEL, close: async () => {} };
  });
  const make = async () => await shared.make(config, DEFAULT_MODEL, () => {});
  await expect(make()).rejects.toThrow("the disk is full");
  const [one, other] = [await make(), await make()];
  expect(one.identity).toEqual(other.identity);
  expect(tries).toBe(2);
  await shared.close();
});
