import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { MODELS, modelComplaints } from "../../src/config/schema-models.ts";

const models = z.strictObject(MODELS);

test("local models are downloaded from the hub, within limits, and run on one thread", () => {
  expect(models.parse({})).toEqual({
    hub_url: "https://huggingface.co",
    download_timeout: 1800,
    download_stall_timeout: 30,
    threads: 1,
  });
});

test.each([{ threads: 0 }, { download_stall_timeout: 0 }, { unknown: 1 }])(
  "settings of local models are refused: %j",
  (given) => {
    expect(models.safeParse(given).success).toBe(false);
  },
);

describe("the hub", () => {
  test("may be any web address", () => {
    expect(modelComplaints({ models: { hub_url: "http://127.0.0.1:8080" } })).toEqual([]);
  });

  test("is refused if it is no address", () => {
    const found = modelComplaints({ models: { hub_url: "ftp://host" } });
    expect(found.map(({ setting }) => setting)).toEqual(["models.hub_url"]);
  });
});
