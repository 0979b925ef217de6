import { parseFilled } from "../../domain/arguments.ts";
import { SvcError } from "../../domain/errors.ts";
import { sha256Hex, sha256OfJson } from "../../lib/hashing.ts";
import type { LanguageModel } from "../../ports/language-model.ts";
import {
  ANSWER_SCHEMA,
  checkPrompt,
  INSTRUCTIONS,
  PROMPT_VERSION,
  promptSha256,
} from "./answerability-prompt.ts";
import {
  type AnswerabilityAssessment,
  type AnswerabilityInput,
  type AnswerabilitySettings,
  assessmentForm,
} from "./api.ts";
import { citableRecords } from "./citable.ts";
import {
  type CheckedRequirements,
  checkRequirements,
  parseStatedAnswer,
  type References,
  verdictOf,
} from "./requirements.ts";

export type AnswerabilityDeps = {
  /** Undefined: the check is off. */
  readonly languageModel: LanguageModel | undefined;
  readonly settings: AnswerabilitySettings;
};

type Stated = CheckedRequirements & { readonly reasoning: string; readonly modelCalled: boolean };

/**
 * Whether a context contains what an answer to the question needs. A language model states the requirements; citations and
 * verdict are computed here, so that nothing counts as supported without a record. A context with nothing to cite is
 * `insufficient` without a call.
 * @throws SvcError unsupported without a language model; invalid_argument for a blank question or answer, or a context
 *   whose records cannot be cited; model_failed, model_timeout; the signal's reason
 */
export async function assessAnswerability(
  deps: AnswerabilityDeps,
  input: AnswerabilityInput,
): Promise<AnswerabilityAssessment> {
  const languageModel = requireModel(deps);
  const query = parseFilled(input.query, "query");
  const answer = input.answer === undefined ? undefined : parseFilled(input.answer, "answer");
  const references: References = new Map(
    citableRecords(input.bundle).map(({ reference, record }) => [
      reference,
      record.candidate.node.id,
    ]),
  );
  const stated =
    references.size === 0
      ? NOTHING_CITABLE
      : await ask(languageModel, deps.settings, { ...input, query, answer }, references);
  return assemble(languageModel, deps.settings, { ...input, query, answer }, stated);
}

const NOTHING_CITABLE: Stated = {
  requirements: [],
  citationErrors: [],
  reasoning: "The context holds no record that can be cited.",
  modelCalled: false,
};

function requireModel({ languageModel }: AnswerabilityDeps): LanguageModel {
  if (languageModel !== undefined) return languageModel;
  throw new SvcError(
    "unsupported",
    "no language model is set for this check: set answerability.provider and answerability.model",
  );
}

async function ask(
  languageModel: LanguageModel,
  settings: AnswerabilitySettings,
  { query, answer, bundle, signal }: AnswerabilityInput,
  references: References,
): Promise<Stated> {
  const format = bundle.contextFormat;
  const said = await languageModel.answer({
    system: INSTRUCTIONS,
    prompt: checkPrompt({ query, answer, context: bundle.renderedContext, format }),
    schema: ANSWER_SCHEMA,
    timeoutMs: settings.timeoutMs,
    schemaRetries: settings.maxRetries,
    temperature: settings.temperature,
    signal,
  });
  const { requirements, reasoning } = parseStatedAnswer(said);
  return { ...checkRequirements(requirements, references, format), reasoning, modelCalled: true };
}

function assemble(
  { provider, model }: LanguageModel,
  settings: AnswerabilitySettings,
  { query, answer, bundle }: AnswerabilityInput,
  stated: Stated,
): AnswerabilityAssessment {
  const { verdict, recommendedAction } = verdictOf(stated.requirements);
  const hashes = {
    promptSha256: promptSha256(),
    configurationSha256: sha256OfJson({
      provider,
      model,
      base_url: settings.baseUrl ?? null,
      max_retries: settings.maxRetries,
      timeout_ms: settings.timeoutMs,
      temperature: settings.temperature,
      reasoning_effort: settings.reasoningEffort ?? null,
    }),
    querySha256: sha256Hex(query),
    contextSha256: sha256Hex(bundle.renderedContext),
    answerSha256: answer === undefined ? undefined : sha256Hex(answer),
  };
  const requirementsThatAre = (status: string): readonly string[] =>
    stated.requirements
      .filter((entry) => entry.status === status)
      .map((entry) => entry.requirement);
  const assessment = {
    schemaVersion: 1,
    verdict,
    recommendedAction,
    shouldAbstain: recommendedAction === "abstain" || recommendedAction === "surface_conflict",
    requirements: stated.requirements,
    missingInformation: requirementsThatAre("unsupported"),
    conflicts: requirementsThatAre("conflicting"),
    citationErrors: stated.citationErrors,
    reasoning: stated.reasoning,
    provider,
    model,
    promptVersion: PROMPT_VERSION,
    modelCalled: stated.modelCalled,
    ...hashes,
    evaluationId: sha256OfJson({ ...hashes, answerSha256: hashes.answerSha256 ?? null }),
  } as const;
  return { ...assessment, assessmentSha256: sha256OfJson(assessmentForm.json(assessment)) };
}
