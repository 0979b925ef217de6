import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { SvcError } from "../../domain/errors.ts";

/** All addresses of a name; empty if it does not resolve. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export type BindRequest = {
  /** Literal address or name; empty means every interface. */
  readonly host: string;
  /** Whether requests need a key. */
  readonly hasCredentials: boolean;
  /** The user's explicit permission to serve the network without keys. */
  readonly allowUnauthenticated: boolean;
  /** Default: the system's resolver. */
  readonly resolve?: Resolve | undefined;
};

/** An address that the server may listen on. */
export type BindPermit = {
  readonly isLoopback: boolean;
  /** Warning for the operator before serving. */
  readonly warning: string | undefined;
};

/** Rejects serving the network without credentials. Opens nothing. @throws SvcError unauthenticated_bind */
export async function assertBindAllowed(request: BindRequest): Promise<BindPermit> {
  const { host, hasCredentials, allowUnauthenticated } = request;
  if (await isLoopbackHost(host, request.resolve)) return { isLoopback: true, warning: undefined };
  const where = host === "" ? "every network interface" : host;
  if (hasCredentials) {
    return {
      isLoopback: false,
      warning: `listening on ${where}: reachable from the network, with keys but without encryption; put TLS in front`,
    };
  }
  if (allowUnauthenticated) {
    return {
      isLoopback: false,
      warning: `listening on ${where} without credentials: everyone who can reach it reads and writes every memory`,
    };
  }
  throw new SvcError(
    "unauthenticated_bind",
    `refused to listen on ${where} without credentials: set SVC_API_USER_KEYS or SVC_API_API_KEY, ` +
      "or listen on 127.0.0.1, or pass --allow-unauthenticated-external-bind",
    { host },
  );
}

/**
 * Whether only this machine can reach a host: 127.0.0.0/8, ::1, IPv4-mapped loopback, and `localhost` if all its addresses are
 * such. Any other name counts as network, whatever it resolves to today.
 */
export async function isLoopbackHost(
  host: string,
  resolve: Resolve = systemResolve,
): Promise<boolean> {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  if (isIP(bare) !== 0) return isLoopbackAddress(bare);
  if (bare.toLowerCase() !== "localhost") return false;
  const addresses = await resolve(bare);
  return addresses.length > 0 && addresses.every(isLoopbackAddress);
}

/** Whether a literal address, without brackets, is a loopback address. */
export function isLoopbackAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return address.startsWith("127.");
    case 6:
      return isLoopbackIpv6(address);
    default:
      return false;
  }
}

function isLoopbackIpv6(address: string): boolean {
  // The URL parser normalises every notation of an IPv6 address; it refuses a zone (`%eth0`).
  if (!URL.canParse(`http://[${address}]/`)) return false;
  const canonical = new URL(`http://[${address}]/`).hostname;
  return canonical === "[::1]" || /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(canonical);
}

async function systemResolve(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map((found) => found.address);
  } catch {
    // A name that does not resolve is not a loopback name; the rejection that follows names it.
    return [];
  }
}
