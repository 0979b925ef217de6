const DEFAULT_ADDRESSES = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  ollama: "http://localhost:11434/v1",
} as const;

/** Who runs models for other programs. */
export type ModelProvider = keyof typeof DEFAULT_ADDRESSES;

/**
 * The address below which a provider's interface lies, without a slash at the end.
 * @param baseUrl as it is set. Default: the provider's own
 */
export function providerAddress(provider: ModelProvider, baseUrl: string | undefined): string {
  const url = (baseUrl ?? DEFAULT_ADDRESSES[provider]).replace(/\/+$/, "");
  // Users know the server by its bare address.
  const isBare = provider === "ollama" && URL.canParse(url) && new URL(url).pathname === "/";
  return isBare ? `${url}/v1` : url;
}

/** Whether a text is the address of a server of the web. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/**
 * The address that the variable of Ollama's own tools means: `host`, `host:port` or a whole address. Where its server listens on
 * all addresses, the one of this machine is meant.
 */
export function ollamaAddress(host: string): string {
  const given = /^https?:\/\//i.test(host) ? host : `http://${host}`;
  if (!URL.canParse(given)) return host;
  const url = new URL(given);
  if (["0.0.0.0", "[::]"].includes(url.hostname)) url.hostname = "127.0.0.1";
  const hasPort = /:\d+(?:\/|$)/.test(given);
  if (!hasPort && given !== host) url.port = "11434";
  return url.href.replace(/\/+$/, "");
}

/** The host that gets what is sent to a provider, as a person knows it. */
export function providerHost(provider: ModelProvider, baseUrl: string | undefined): string {
  const address = providerAddress(provider, baseUrl);
  return URL.canParse(address) ? new URL(address).host : "an unknown host";
}

/** What a provider's HTTP status means, as the end of a sentence that begins with its name. */
export function statusInWords(status: number): string {
  if (status >= 300 && status < 400) {
    return `redirects to another address (status ${status}): set the final one`;
  }
  if (status === 401 || status === 403) return `refused the key (status ${status}): check it`;
  if (status === 404) return "does not know the model, or the address is wrong (status 404)";
  if (status === 429) return "is asked too often, or the quota is used up (status 429)";
  if (status >= 500) return `has a problem (status ${status}): try again later`;
  return status >= 400
    ? `refused the request (status ${status})`
    : `answered in an unreadable form (status ${status})`;
}
