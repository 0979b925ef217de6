import { Command } from "commander";
import { type AuditedSetting, auditConfig } from "../../../config/audit.ts";
import type { CliContext } from "../context.ts";
import { configWithoutKey, formatOption } from "../options.ts";
import { type Format, oneLine, shortened, table } from "../output.ts";

const EXAMPLES = `
Examples:
  svc config-audit
  SVC_PACKING__EPISODE_CONTEXT_TOP_K=3 svc config-audit --format json

Provisional settings have values that may still change. dormant: what would use the value is turned off; JSON says by what.
All settings: docs/settings.md.`;

/** `svc config-audit`: the provisional settings and what this configuration makes of them. */
export function configAuditCommand(context: CliContext): Command {
  return new Command("config-audit")
    .description("list the settings whose values are provisional, and which of them take effect")
    .addOption(formatOption())
    .addHelpText("after", EXAMPLES)
    .action(({ format }: { readonly format: Format }) => {
      const { output } = context;
      const settings = auditConfig(configWithoutKey(context, undefined));
      const effective = settings.filter((setting) => setting.effective).length;
      const customized = settings.filter((setting) => setting.customized).length;
      if (format === "json") {
        output.json({
          schema_version: "hypothesis-audit-v1",
          hypothesis_count: settings.length,
          effective_count: effective,
          customized_count: customized,
          settings: settings.map(toJson),
        });
        return;
      }
      const rows = settings.map((setting) => [
        setting.path,
        setting.effective ? "effective" : "dormant",
        setting.customized ? "yes" : "no",
        shortened(oneLine(shownValue(setting.value))),
        setting.environmentVariable,
      ]);
      const headings = ["SETTING", "STATE", "CUSTOM", "VALUE", "ENVIRONMENT"];
      for (const line of table(headings, rows)) output.line(line);
      output.line();
      output.line(`${settings.length} settings, ${effective} effective, ${customized} customized`);
    });
}

function shownValue(value: unknown): string {
  if (value === null) return "unset";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function toJson(setting: AuditedSetting): Record<string, unknown> {
  return {
    path: setting.path,
    environment_variable: setting.environmentVariable,
    value: setting.value,
    default: setting.default,
    customized: setting.customized,
    effective: setting.effective,
    activation_condition: setting.activationCondition ?? null,
    description: setting.description,
  };
}
