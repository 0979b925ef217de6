/** The setting `api.allowed_hosts`, from the environment to the answer. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { loadConfig } from "../../../src/config/load.ts";
import { createDesk, type Desk } from "./run-svc.ts";

setDefaultTimeout(120_000);

let desk: Desk;
beforeAll(() => {
  desk = createDesk();
});
afterAll(() => desk.remove());

const load = (hosts: string) =>
  loadConfig({ environment: { SVC_API_ALLOWED_HOSTS: hosts }, folder: desk.folder }).config;

test("names and addresses are read without regard to case", () => {
  const hosts = '["Memory.Example", "192.168.1.5", "[fd00::1]", "my_host-2"]';
  expect(load(hosts).api.allowed_hosts).toEqual([
    "memory.example",
    "192.168.1.5",
    "[fd00::1]",
    "my_host-2",
  ]);
});

test.each(["https://memory.example", "memory.example:443", "memory.example/", "*", "", "fd00::1"])(
  "%p is no host name",
  (host) => {
    expect(() => load(JSON.stringify([host]))).toThrow("SVC_API_ALLOWED_HOSTS: expected JSON list");
  },
);

test("a server on a loopback address answers to the names that it was given, and to no others", async () => {
  const child = desk.start(["serve", "--db-path", "m.pack", "--port", "0"], {
    SVC_API_ALLOWED_HOSTS: '["memory.example"]',
  });
  let log = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stderr) {
    log += decoder.decode(chunk, { stream: true });
    if (log.includes("http://")) break;
  }
  const url = /http:\/\/\S+/.exec(log)?.[0];
  const status = async (host: string) =>
    (await fetch(`${url}/v1/stats`, { headers: { host } })).status;
  expect(await status("memory.example")).toBe(200);
  expect(await status("evil.test")).toBe(421);
  child.kill("SIGTERM");
  await child.exited;
});
