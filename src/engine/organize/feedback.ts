import {
  parseFilled,
  parseId,
  parseOptionalContent,
  parseOptionalList,
} from "../../domain/arguments.ts";
import { parseMember } from "../../domain/enums.ts";
import {
  FEEDBACK_SIGNALS,
  type FeedbackSignal,
  feedbackQuality,
  tuned,
} from "../../domain/feedback.ts";
import { parseInstantInput } from "../../domain/lifecycle.ts";
import { scoringVersionId } from "../../domain/scoring-version.ts";
import { addDays, type Instant } from "../../lib/instant.ts";
import type { EngineDeps } from "../deps.ts";
import type { EngineSettings } from "../settings.ts";
import type { FeedbackInput } from "./api.ts";
import type { OrganizerJob } from "./organizer/job.ts";

/** Days for which a signal counts. */
const DAYS = 30;
/** Signals kept; the oldest go first. */
const SIGNALS_MAX = 10_000;

/** Feedback on answers, held in this process. */
export type Feedback = {
  note(input: FeedbackInput): void;
  /** Includes the weights derived from feedback. */
  settings(): EngineSettings;
  readonly job: OrganizerJob;
};

type Signal = { readonly kind: FeedbackSignal; readonly at: Instant };

export function createFeedback({
  clock,
  settings: given,
}: Pick<EngineDeps, "clock" | "settings">): Feedback {
  let settings = given;
  let signals: Signal[] = [];
  const recent = (now: Instant): readonly FeedbackSignal[] => {
    const since = addDays(now, -DAYS) ?? now;
    return signals.filter(({ at }) => at >= since).map(({ kind }) => kind);
  };
  const apply = (kinds: readonly FeedbackSignal[], isDryRun: boolean) => {
    const scoring = tuned(settings.scoring, kinds);
    const scoringVersion = scoringVersionId(scoring);
    const before = settings.scoringVersion;
    if (!isDryRun) {
      settings = { ...settings, scoring, scoringVersion };
      signals = [];
    }
    return { before, scoringVersion, isChanged: before !== scoringVersion };
  };
  return {
    note: (input) => {
      signals.push(parse(input, clock.now()));
      if (signals.length > SIGNALS_MAX) signals = signals.slice(-SIGNALS_MAX);
    },
    settings: () => settings,
    job: {
      name: "feedback_apply",
      isGlobal: true,
      work: async (run) => {
        const kinds = recent(run.now);
        const shared = { scope: "global", retrieval_quality: feedbackQuality(kinds) };
        const done = (nodesModified: number, details: object) => {
          const all = { ...shared, ...details };
          return { nodesProcessed: kinds.length, nodesModified, errors: 0, details: all };
        };
        if (kinds.length === 0) return done(0, { status: "no_signals" });
        // Only weighted fusion reads the weights.
        if (settings.scoring.fusion.kind !== "weighted") {
          return done(0, { status: "not_applicable" });
        }
        const { before, scoringVersion, isChanged } = apply(kinds, run.isDryRun);
        return done(isChanged ? 1 : 0, {
          status: "applied",
          signals_processed: kinds.length,
          old_weight_version: before,
          new_weight_version: scoringVersion,
          weights_changed: isChanged,
        });
      },
    },
  };
}

/** Ids and text are checked but not kept. */
function parse(input: FeedbackInput, now: Instant): Signal {
  parseFilled(input.query, "query");
  for (const id of parseOptionalList(input.surfacedNodeIds, "surfaced_node_ids") ?? []) {
    parseId(id, "surfaced_node_ids");
  }
  parseOptionalContent(input.correctionContent, "correction_content");
  const kind = parseMember(FEEDBACK_SIGNALS, input.signalType, "signal_type");
  return { kind, at: parseInstantInput(input.timestamp, "timestamp") ?? now };
}
