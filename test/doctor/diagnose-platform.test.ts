import { expect, test } from "bun:test";
import { checkPlatform, thisMachine } from "../../src/doctor/diagnose.ts";

const FAST = ["aes", "avx2", "fpu"];

test.each([
  {
    machine: { platform: "linux-x64", kernel: "6.1", abilities: FAST },
    message: "linux-x64, kernel 6.1",
  },
  {
    machine: { platform: "windows-x64", kernel: "10.0", abilities: undefined },
    message:
      "windows-x64, kernel 10.0; a preview; the rights of its folder decide who may read a pack",
  },
  {
    machine: { platform: "darwin-arm64", kernel: "23.0.0", abilities: undefined },
    message: "darwin-arm64, kernel 23.0.0; vectors differ slightly from those of x64",
  },
])("$machine.platform is fine, with its limits", ({ machine, message }) => {
  expect(checkPlatform(machine)).toEqual({ name: "platform", status: "ok", message });
});

test.each([
  { platform: "linux-x64", abilities: ["aes"], told: "no AVX2" },
  { platform: "linux-x64", abilities: ["avx2"], told: "no AES instructions" },
  { platform: "linux-arm64", abilities: ["asimd"], told: "no AES instructions" },
])("$platform with $abilities only is told: $told", ({ platform, abilities, told }) => {
  const { status, message } = checkPlatform({ platform, kernel: "6.1", abilities });
  expect(status).toBe("warn");
  expect(message).toContain(told);
});

test("an arm64 processor is not asked for the registers of x64", () => {
  expect(checkPlatform({ platform: "linux-arm64", kernel: "6.1", abilities: ["aes"] }).status).toBe(
    "ok",
  );
});

test("macOS 13 cannot load the model", () => {
  const { status, message } = checkPlatform({
    platform: "darwin-arm64",
    kernel: "22.6.0",
    abilities: undefined,
  });
  expect(status).toBe("fail");
  expect(message).toContain("macOS 14 or newer");
});

test("this machine is one of those", () => {
  expect(thisMachine().platform).toMatch(/^(linux|darwin|windows)-(x64|arm64)$/);
});
