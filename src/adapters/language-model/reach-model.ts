import {
  type ModelProvider,
  providerAddress,
  providerHost,
  statusInWords,
} from "../../domain/addresses.ts";
import { isJsonObject } from "../../lib/json.ts";
import { untilAborted } from "../../lib/pause.ts";
import { boundedText, reach, throughProxy } from "../network/reach.ts";

/** A model that another program runs. */
export type ReachOptions = {
  readonly provider: ModelProvider;
  readonly model: string;
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  /** Whether a key is required. */
  readonly needsKey: boolean;
  /** Milliseconds for everything. */
  readonly timeoutMs: number;
};

/** Whether a model can be reached, and what was found, in words without the key. */
export type Reached = { readonly isReached: boolean; readonly message: string };

/** A list of models is rarely longer. */
const LIST_BOUNDS = { bytes: 4 * 1024 * 1024, openings: 100_000 };

/**
 * Asks a provider whether it knows a model. Nothing is generated and no text is sent. Servers that only list their models, as many do, are
 * asked for the list. Never rejects.
 */
export async function reachModel(options: ReachOptions): Promise<Reached> {
  const { provider, model, timeoutMs } = options;
  const host = `${providerHost(provider, options.baseUrl)}${throughProxy(providerAddress(provider, options.baseUrl))}`;
  const whose = `${provider} (${model}, ${host})`;
  if (options.needsKey && options.apiKey === undefined) {
    return { isReached: false, message: `${whose} needs a key, and none is set` };
  }
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const status = await untilAborted(statusOf(options, deadline), deadline);
    return status === 200
      ? { isReached: true, message: `${whose} answers and has the model` }
      : { isReached: false, message: `${whose} ${statusInWords(status)}` };
  } catch {
    const what = deadline.aborted
      ? `did not answer within ${timeoutMs / 1000} seconds`
      : "cannot be reached: check the network and the address";
    return { isReached: false, message: `${whose} ${what}` };
  }
}

async function statusOf(options: ReachOptions, signal: AbortSignal): Promise<number> {
  const { provider, model } = options;
  const address = providerAddress(provider, options.baseUrl);
  const ask = (url: string, init: RequestInit = {}) =>
    reach(url, { ...init, redirect: "manual", signal, headers: headersFor(options) });
  const path = model.split("/").map(encodeURIComponent).join("/");
  const status = endedStatus(
    provider === "ollama"
      ? await ask(`${address.replace(/\/v1$/, "")}/api/show`, {
          method: "POST",
          body: JSON.stringify({ model }),
        })
      : await ask(`${address}/models/${path}`),
  );
  const isOther = options.baseUrl !== undefined && [404, 405, 501].includes(status);
  return isOther && (await isListed(await ask(`${address}/models`), model)) ? 200 : status;
}

function headersFor({ provider, apiKey }: ReachOptions): Record<string, string> {
  const json = { "content-type": "application/json" };
  if (apiKey === undefined) return json;
  return provider === "anthropic"
    ? { ...json, "x-api-key": apiKey, "anthropic-version": "2023-06-01" }
    : { ...json, authorization: `Bearer ${apiKey}` };
}

/** The status of an answer that is not read. */
function endedStatus(response: Response): number {
  // Not awaited: a hanging connection would delay its own end.
  void response.body?.cancel().catch(() => {});
  return response.status;
}

async function isListed(response: Response, model: string): Promise<boolean> {
  const text = await boundedText(response, LIST_BOUNDS).catch(() => "");
  const list: unknown = text === "" ? undefined : JSON.parse(text);
  const entries = isJsonObject(list) ? list["data"] : undefined;
  return (
    Array.isArray(entries) &&
    entries.some((entry: unknown) => isJsonObject(entry) && entry["id"] === model)
  );
}
