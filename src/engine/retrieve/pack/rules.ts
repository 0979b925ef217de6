import type { RepresentationLevel } from "../../../domain/enums.ts";
import type { PackingSettings } from "../../../domain/records/packing.ts";

export type PackRules = {
  /** The whole budget in tokens. */
  readonly tokenBudget: number;
  /** The lowest level at which a record may be shown. */
  readonly minFidelity: RepresentationLevel;
  readonly settings: PackingSettings;
  /**
   * What the records do not cover; it comes first, and without room for it there is no context. Like the guidance, it does not
   * begin with a blank.
   */
  readonly notice: string | undefined;
  /** How to read the records; left out if it does not fit beside them. */
  readonly guidance: string | undefined;
};
