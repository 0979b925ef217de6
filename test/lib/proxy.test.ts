import { describe, expect, test } from "bun:test";
import { proxyFor, proxyName } from "../../src/adapters/network/reach.ts";

const PROXIED = { HTTP_PROXY: "http://gate:3128", HTTPS_PROXY: "http://secure:3128" };

describe("a proxy of the environment", () => {
  test.each([
    "http://localhost:11434/v1",
    "http://LOCALHOST./v1",
    "http://models.localhost/v1",
    "http://127.0.0.1/v1",
    "http://127.9.8.7/v1",
    "http://2130706433/v1",
    "http://0.0.0.0:1/v1",
    "http://[::1]:8080/v1",
    "http://[::ffff:127.0.0.1]/v1",
    "http://[::ffff:10.1.2.3]/v1",
    "https://10.0.0.4/v1",
    "https://172.16.0.1/v1",
    "https://172.31.255.1/v1",
    "https://192.168.1.20/v1",
    "https://169.254.7.7/v1",
    "https://[fc00::1]/v1",
    "https://[fd12:3456::1]/v1",
    "https://[fe80::1]/v1",
    "http://studio.local:1234/v1",
    "http://host.docker.internal:11434/v1",
    "http://ollama:11434/v1",
  ])("gets nothing that is for %s", (address) => {
    expect(proxyFor(address, PROXIED)).toBeUndefined();
    expect(proxyFor(address, { ALL_PROXY: "http://gate:3128" })).toBeUndefined();
  });

  test.each([
    "http://example.com/v1",
    "http://172.32.0.1/v1",
    "http://11.0.0.1/v1",
    "http://10.example.com/v1",
    "http://localhost.example.com/v1",
    "http://fd.example.com/v1",
    "http://[2001:db8::1]/v1",
    "http://[::ffff:8.8.8.8]/v1",
  ])("takes what is for %s", (address) => {
    expect(proxyFor(address, PROXIED)).toBe("http://gate:3128");
  });

  test("is that of the scheme, in small letters first, and else the one for all", () => {
    expect(proxyFor("https://example.com", PROXIED)).toBe("http://secure:3128");
    expect(proxyFor("http://example.com", { ...PROXIED, http_proxy: "other:1" })).toBe(
      "http://other:1",
    );
    expect(proxyFor("https://example.com", { all_proxy: "http://all:1" })).toBe("http://all:1");
    expect(proxyFor("https://example.com", { HTTP_PROXY: "http://gate:1" })).toBeUndefined();
    expect(proxyFor("http://example.com", { http_proxy: "", HTTP_PROXY: "" })).toBeUndefined();
    expect(proxyFor("no address", PROXIED)).toBeUndefined();
  });

  test.each([
    ["*", true],
    ["example.com", true],
    [".example.com, other", true],
    ["*.example.com", true],
    ["api.example.com:443", true],
    ["api.example.com:80", false],
    ["ample.com", false],
    ["", false],
  ])("is left out by NO_PROXY %p: %p", (list, isExempt) => {
    const found = proxyFor("https://api.example.com/v1", { ...PROXIED, NO_PROXY: list });
    expect(found === undefined).toBe(isExempt);
  });

  test("is named without its credentials", () => {
    expect(proxyName("http://user:secret@gate:3128")).toBe("gate:3128");
  });
});
