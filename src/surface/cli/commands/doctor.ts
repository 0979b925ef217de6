import { InvalidArgumentError, Option } from "commander";
import kleur from "kleur";
import type { Config } from "../../../config/schema.ts";
import type { Finding } from "../../../doctor/checks.ts";
import { examinationOf } from "../../contract/core/examination.ts";
import {
  configOfPack,
  keyRequest,
  loadedFor,
  PACK_ARGUMENT,
  type PackOptions,
  packCommand,
} from "../options.ts";

type DoctorOptions = PackOptions & {
  readonly verifyExtraction?: true;
  readonly providerTimeout: number;
};

const MAX_SECONDS = 3600;

export const doctorCommand = packCommand(
  {
    name: "doctor",
    description: "check a pack and what the program needs to work",
    arguments: [["[pack]", PACK_ARGUMENT]],
    options: [
      new Option(
        "--verify-extraction",
        "ask the providers of extraction and embedding for their models; no text is sent",
      ),
      new Option("--provider-timeout <seconds>", "time for each answer of a provider")
        .argParser(seconds)
        .default(10),
    ],
    examples: `
Examples:
  svc doctor                           the configured pack, else ./memory.pack
  svc doctor ./memory.pack
  svc doctor ./memory.pack --format json
  svc doctor --verify-extraction       also ask the providers whether they have the models of the settings

If nothing else is wrong, starts and tests the server as an assistant does; shows which assistants use the pack.
Exits with 1 when a check failed. Reads only; other processes may keep using the pack.`,
  },
  async (context, path: string | undefined, options: DoctorOptions) => {
    const { encryptionKey, format, verifyExtraction = false, providerTimeout } = options;
    const config = configOfPack(context, path);
    // A progress spinner would write over a prompt.
    const request = keyRequest(encryptionKey);
    const stopProgress =
      request.ask === undefined ? await context.output.progress("examining") : () => {};
    const { diagnose } = await import("../../../doctor/diagnose.ts");
    const { checkShadowing } = await import("../../../doctor/checks.ts");
    const examined = async () => [
      ...(await diagnose(config, path !== undefined, request)),
      ...checkShadowing(loadedFor(path).shadowing),
      ...(verifyExtraction ? await verified(config, providerTimeout) : []),
    ];
    const checks = await examined().finally(stopProgress);
    const examination = examinationOf(checks);
    if (!examination.ok) context.fail();
    if (format === "json") return context.output.json(examination);
    for (const { name, status, message } of checks) {
      context.output.line(`${label(status)} ${name}: ${message}`);
    }
    context.output.line();
    context.output.line(
      `${examination.passed}/${checks.length} passed, ${counted(examination.warnings, "warning")}, ${counted(examination.failures, "failure")}`,
    );
  },
);

async function verified(config: Config, timeoutSeconds: number): Promise<readonly Finding[]> {
  const { verifyModels } = await import("../../../doctor/verify-models.ts");
  return await verifyModels(config, timeoutSeconds * 1000);
}

/** Reads a time for commander. */
function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value > 0 && value <= MAX_SECONDS) return value;
  throw new InvalidArgumentError(
    `${JSON.stringify(text)} is not a number above 0 and up to ${MAX_SECONDS}.`,
  );
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function label(status: Finding["status"]): string {
  if (status === "ok") return kleur.green("[OK]  ");
  return status === "warn" ? kleur.yellow("[WARN]") : kleur.red("[FAIL]");
}
