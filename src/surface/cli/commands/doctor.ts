import kleur from "kleur";
import type { Finding } from "../../../doctor/finding.ts";
import { configOfPack } from "../default-pack.ts";
import { keyRequest } from "../options.ts";
import { PACK_ARGUMENT, type PackOptions, packCommand } from "../pack-command.ts";

const EXAMPLES = `
Examples:
  svc doctor                           the configured pack, else ./memory.pack
  svc doctor ./memory.pack
  svc doctor ./memory.pack --format json

Starts the server as an assistant does and speaks to it, where nothing else is wrong; tells which assistants use the pack.
Exits with 1 when a check failed. Reads only; other processes may keep using the pack.`;

/** `svc doctor`: checks a pack and what the program needs to work. */
export const doctorCommand = packCommand(
  {
    name: "doctor",
    description: "check a pack and what the program needs to work",
    arguments: [["[pack]", PACK_ARGUMENT]],
    examples: EXAMPLES,
  },
  async (context, path: string | undefined, { encryptionKey, format }: PackOptions) => {
    const config = configOfPack(context, path);
    // A progress spinner would write over a prompt.
    const request = keyRequest(encryptionKey);
    const stopProgress =
      request.ask === undefined ? await context.output.progress("examining") : () => {};
    const { diagnose } = await import("../../../doctor/diagnose.ts");
    const checks = await diagnose(config, path !== undefined, request).finally(stopProgress);
    const counts = {
      passed: checks.filter((check) => check.status === "ok").length,
      warnings: checks.filter((check) => check.status === "warn").length,
      failures: checks.filter((check) => check.status === "fail").length,
    };
    if (counts.failures > 0) context.fail();
    if (format === "json")
      return context.output.json({ ok: counts.failures === 0, ...counts, checks });
    for (const { name, status, message } of checks) {
      context.output.line(`${label(status)} ${name}: ${message}`);
    }
    context.output.line();
    context.output.line(
      `${counts.passed}/${checks.length} passed, ${counted(counts.warnings, "warning")}, ${counted(counts.failures, "failure")}`,
    );
  },
);

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function label(status: Finding["status"]): string {
  if (status === "ok") return kleur.green("[OK]  ");
  return status === "warn" ? kleur.yellow("[WARN]") : kleur.red("[FAIL]");
}
