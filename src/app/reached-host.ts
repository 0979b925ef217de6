import { throughProxy } from "../adapters/network/reach.ts";
import { type ModelProvider, providerAddress, providerHost } from "../domain/addresses.ts";

/** The host that gets what is sent to a provider, and the proxy that it is sent through, as a person knows them. */
export function reachedHost(provider: ModelProvider, baseUrl: string | undefined): string {
  return `${providerHost(provider, baseUrl)}${throughProxy(providerAddress(provider, baseUrl))}`;
}
