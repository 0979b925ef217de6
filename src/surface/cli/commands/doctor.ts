import { Command } from "commander";
import kleur from "kleur";
import type { Finding } from "../../../doctor/finding.ts";
import type { CliContext } from "../context.ts";
import { configOfPack } from "../default-pack.ts";
import { encryptionKeyOption, formatOption, keyRequest } from "../options.ts";
import type { Format } from "../output.ts";

const EXAMPLES = `
Examples:
  svc doctor                           the configured pack, else ./memory.pack
  svc doctor ./memory.pack
  svc doctor ./memory.pack --format json

Starts the server as an assistant does and speaks to it, where nothing else is wrong; tells which assistants use the pack.
Exits with 1 when a check failed. Reads only; other processes may keep using the pack.`;

type DoctorOptions = { readonly encryptionKey?: string; readonly format: Format };

/** `svc doctor`: checks a pack and what the program needs to work. */
export function doctorCommand(context: CliContext): Command {
  return new Command("doctor")
    .description("check a pack and what the program needs to work")
    .argument("[pack]", "a .pack file, a directory pack or its memory.db")
    .addOption(encryptionKeyOption())
    .addOption(formatOption())
    .addHelpText("after", EXAMPLES)
    .action((path: string | undefined, options: DoctorOptions) => doctor(context, path, options));
}

async function doctor(
  context: CliContext,
  path: string | undefined,
  { encryptionKey, format }: DoctorOptions,
): Promise<void> {
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
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function label(status: Finding["status"]): string {
  if (status === "ok") return kleur.green("[OK]  ");
  return status === "warn" ? kleur.yellow("[WARN]") : kleur.red("[FAIL]");
}
