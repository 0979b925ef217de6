import { expect, test } from "bun:test";
import { loadConfig } from "../../src/config/load.ts";

const load = (environment: Readonly<Record<string, string>>) =>
  loadConfig({ environment, file: null }).config.models;

test("local models are downloaded from the hub, within limits, and run on one thread", () => {
  expect(load({})).toEqual({
    hub_url: "https://huggingface.co",
    download_timeout: 1800,
    download_stall_timeout: 30,
    threads: 1,
  });
  expect(load({ SVC_MODELS__HUB_URL: "http://127.0.0.1:8080" }).hub_url).toEndWith(":8080");
});

test.each([
  ["SVC_MODELS__THREADS", "0"],
  ["SVC_MODELS__DOWNLOAD_STALL_TIMEOUT", "0"],
  ["SVC_MODELS__HUB_URL", "ftp://host"],
])("settings of local models are refused: %s=%s", (name, value) => {
  expect(() => load({ [name]: value })).toThrow(name);
});
