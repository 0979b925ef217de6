import type { Complaint } from "./complaint.ts";
import type { Config } from "./schema.ts";

type Settings = Pick<
  Config,
  | "extraction_batch_target_tokens"
  | "enable_windowed_extraction"
  | "extraction_window_turns"
  | "enable_extraction_corrections"
>;

const BATCH_TARGET_TOKENS = 2048;

/** Tokens of messages that are sent together; 0: each is sent alone. */
export function batchTargetTokens(config: Settings): number {
  const unset = sendsAlone(config) === undefined ? BATCH_TARGET_TOKENS : 0;
  return config.extraction_batch_target_tokens ?? unset;
}

/** Errors among the settings of extraction. */
export function extractionComplaints(config: Settings): readonly Complaint[] {
  const alone = sendsAlone(config);
  const complaints: Complaint[] = [];
  if (alone !== undefined && batchTargetTokens(config) > 0) {
    const reason = `cannot be combined with ${alone}, which sends each message alone; unset one of the two, or set this to 0`;
    complaints.push({ setting: "extraction_batch_target_tokens", reason });
  }
  if (config.enable_extraction_corrections && batchTargetTokens(config) === 0) {
    const reason = `needs messages that are sent together: ${
      alone === undefined ? "set extraction_batch_target_tokens above 0" : `turn ${alone} off`
    }`;
    complaints.push({ setting: "enable_extraction_corrections", reason });
  }
  return complaints;
}

/** The setting because of which each message is sent alone. */
function sendsAlone(config: Settings): keyof Settings | undefined {
  return config.enable_windowed_extraction && config.extraction_window_turns > 0
    ? "enable_windowed_extraction"
    : undefined;
}
