import { loadConfig } from "./load.ts";
import { type Config, describeSettings } from "./schema.ts";

/** A provisional setting, and its effect here. */
export type AuditedSetting = {
  readonly path: string;
  readonly environmentVariable: string;
  /** As JSON has it; null: unset. `<redacted>` for a secret. */
  readonly value: unknown;
  readonly default: unknown;
  readonly customized: boolean;
  /** Whether the value has an effect. */
  readonly effective: boolean;
  /** The condition for that; undefined: none. */
  readonly activationCondition: string | undefined;
  readonly description: string;
};

type Switch = {
  readonly path: string;
  readonly is: (value: unknown) => boolean;
  readonly condition: string;
};

function aboveZero(path: string): Switch {
  return { path, is: (value) => Number(value) > 0, condition: `${path} is above 0` };
}

function isOn(path: string): Switch {
  return { path, is: (value) => value === true, condition: `${path} is true` };
}

function isOneOf(path: string, ...values: readonly string[]): Switch {
  return {
    path,
    is: (value) => values.some((one) => one === value),
    condition: `${path} is ${values.join(" or ")}`,
  };
}

/** The provisional settings by name, with their switches; the first match applies. */
const PROVISIONAL: readonly (readonly [name: RegExp, ...switches: Switch[]])[] = [
  [
    /^scoring\.current_update_multiplier$/,
    {
      path: "scoring.current_update_multiplier",
      is: (value) => value !== 1,
      condition: "scoring.current_update_multiplier is not 1",
    },
  ],
  [/^scoring\.rrf_k$/, isOneOf("scoring.fusion", "rrf")],
  [/^scoring\.rrf_recency_boost$/, isOneOf("scoring.fusion", "rrf", "relative", "adaptive")],
  [/^scoring\.relative_/, isOneOf("scoring.fusion", "relative")],
  [/^scoring\.adaptive_/, isOneOf("scoring.fusion", "adaptive")],
  [/^packing\.cross_scope_top_n$/, aboveZero("packing.cross_scope_top_n")],
  [
    /^packing\.session_context_(?:rank_fusion_score_decay|packing)$/,
    aboveZero("packing.session_context_window"),
    aboveZero("packing.session_context_top_k"),
  ],
  [/^packing\.fold_repeated_text$/, isOneOf("packing.context_format", "reader")],
  [/^packing\.episode_/, aboveZero("packing.episode_context_top_k")],
  [/^packing\.evidence_projection_/, aboveZero("packing.evidence_projection_top_k")],
  [/^packing\.evidence_augmentation_/, aboveZero("packing.evidence_augmentation_top_k")],
  [/^organizer\.(?:promotion|dedup|consolidation)_/],
  [/^vision\.(?:extract|change_threshold|repeat_similarity)$/, isOn("vision.enabled")],
  [/^extraction_window_turns$/, isOn("enable_windowed_extraction")],
  [/^extraction_batch_target_tokens$/, aboveZero("extraction_batch_target_tokens")],
  [
    /^enable_(?:windowed_extraction|speaker_references|claim_sentence_text|speaker_grounding|qa_pairing)$/,
  ],
  [/^query_reformulation_count$/, isOn("enable_query_reformulation")],
  [/^(?:epistemic_weights|unverified_confidence_threshold)$/],
];

/** The fusion of a pack made by this version, if the settings name none. */
const UNSET_FUSION = "adaptive";

/** The provisional settings of this version and their effect in a configuration. */
export function auditConfig(config: Config): readonly AuditedSetting[] {
  const defaults = loadConfig({ environment: {}, file: null }).config;
  return describeSettings().flatMap((setting): AuditedSetting[] => {
    const { setting: path, environment, description, isSecret } = setting;
    const entry = PROVISIONAL.find(([name]) => name.test(path));
    if (entry === undefined) return [];
    const [, ...switches] = entry;
    const [value, preset] = [valueAt(config, path), valueAt(defaults, path)];
    // A flag is its own switch.
    const isOff = /^(?:.*\.)?enable_/.test(path) && value !== true;
    return [
      {
        path,
        environmentVariable: environment[0],
        value: isSecret && value !== null ? "<redacted>" : value,
        default: preset,
        customized: JSON.stringify(value) !== JSON.stringify(preset),
        effective: !isOff && switches.every((one) => one.is(valueAt(config, one.path))),
        activationCondition:
          switches.length === 0 ? undefined : switches.map(({ condition }) => condition).join(", "),
        description,
      },
    ];
  });
}

function valueAt(config: Config, path: string): unknown {
  const value = path
    .split(".")
    .reduce<unknown>((inner, name) => Reflect.get(Object(inner), name), config);
  if (value === undefined || value === null) return path === "scoring.fusion" ? UNSET_FUSION : null;
  return value;
}
