import { describe, expect, test } from "bun:test";
import { assertBindAllowed, isLoopbackHost } from "../../../src/surface/listener/bind.ts";

const resolvesTo =
  (...addresses: string[]) =>
  () =>
    Promise.resolve(addresses);

describe("loopback", () => {
  test.each([
    { host: "127.0.0.1", expected: true },
    { host: "127.8.9.10", expected: true },
    { host: "::1", expected: true },
    { host: "[::1]", expected: true },
    { host: "0:0:0:0:0:0:0:1", expected: true },
    { host: "::ffff:127.0.0.1", expected: true },
    { host: "::FFFF:7f01:0203", expected: true },
    { host: "0.0.0.0", expected: false },
    { host: "::", expected: false },
    { host: "", expected: false },
    { host: "10.0.0.1", expected: false },
    { host: "::ffff:10.0.0.1", expected: false },
    { host: "128.0.0.1", expected: false },
    { host: "127.1", expected: false },
    { host: "memory.example", expected: false },
  ])("$host: $expected", async ({ host, expected }) => {
    expect(await isLoopbackHost(host, resolvesTo("127.0.0.1"))).toBe(expected);
  });

  test("localhost only when all its addresses are", async () => {
    expect(await isLoopbackHost("LocalHost", resolvesTo("127.0.0.1", "::1"))).toBe(true);
    expect(await isLoopbackHost("localhost", resolvesTo("127.0.0.1", "10.0.0.1"))).toBe(false);
    expect(await isLoopbackHost("localhost", resolvesTo())).toBe(false);
  });
});

describe("permits", () => {
  const request = { host: "0.0.0.0", hasCredentials: false, allowUnauthenticated: false };

  test("the network needs credentials", async () => {
    await expect(assertBindAllowed(request)).rejects.toMatchObject({
      code: "unauthenticated_bind",
      message: expect.stringContaining("0.0.0.0"),
      data: { host: "0.0.0.0" },
    });
  });

  test("credentials or the explicit flag allow it with a warning", async () => {
    const keyed = await assertBindAllowed({ ...request, hasCredentials: true });
    expect(keyed).toMatchObject({ isLoopback: false, warning: expect.stringContaining("TLS") });
    const open = await assertBindAllowed({ ...request, allowUnauthenticated: true });
    expect(open.warning).toContain("without credentials");
  });

  test("loopback needs nothing", async () => {
    const permit = await assertBindAllowed({ ...request, host: "127.0.0.1" });
    expect(permit).toEqual({ isLoopback: true, warning: undefined });
  });
});
