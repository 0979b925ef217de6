import { closeSync, openSync } from "node:fs";

/**
 * Closes idle connections when file descriptors run short. The runtime allows about twelve seconds of silence and has no API to close a
 * connection. Linux only; elsewhere new connections wait for those seconds.
 */

/** Milliseconds between two checks. */
const EVERY_MS = 250;
/** Open descriptors below which nothing is checked, and those from which it always is. */
const FEW = 256;
const MANY = 16_384;
/** Share of the limit. */
const SHORT = 0.75;
/** Milliseconds of silence then allowed: before the first answer, and after it. */
const SILENT_MS = { new: 500, known: 1000 } as const;

/** Linux constants, and offsets in its `struct tcp_info`. */
const RLIMIT_NOFILE = 7;
const IPPROTO_TCP = 6;
const TCP_INFO = 11;
const SHUT_RDWR = 2;
const AT = {
  unacked: 24,
  lastSent: 44,
  lastReceived: 52,
  unsent: 144,
  sentSegments: 156,
  end: 160,
} as const;

/** @param busy the ports of callers with running requests @returns a function that stops the checks */
export function closeIdleConnections(port: number, busy: () => ReadonlySet<number>): () => void {
  if (process.platform !== "linux") return () => undefined;
  const look = setInterval(() => {
    const top = openDescriptors();
    if (top >= FEW) relieve(top, port, busy).catch(() => clearInterval(look));
  }, EVERY_MS);
  look.unref();
  return () => clearInterval(look);
}

/** Lower bound of the open descriptors: the system assigns the lowest free number. */
function openDescriptors(): number {
  try {
    const file = openSync("/dev/null", "r");
    closeSync(file);
    return file;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

async function relieve(top: number, port: number, busy: () => ReadonlySet<number>): Promise<void> {
  const { limit, ...sockets } = await loadSockets();
  if (top < Math.min(limit * SHORT, MANY)) return;
  const ports = busy();
  for (let file = 3; file < Math.min(top, limit); file += 1) {
    if (sockets.localPort(file) !== port || ports.has(sockets.peerPort(file))) continue;
    if (sockets.isSilent(file)) sockets.shutDown(file);
  }
}

type Sockets = Awaited<ReturnType<typeof openSockets>>;
let loading: Promise<Sockets> | undefined;

function loadSockets(): Promise<Sockets> {
  loading ??= openSockets();
  return loading;
}

async function openSockets() {
  const { dlopen, ptr } = await import("bun:ffi");
  const named = { args: ["int", "ptr", "ptr"], returns: "int" } as const;
  const { symbols: libc } = dlopen("libc.so.6", {
    getrlimit: { args: ["int", "ptr"], returns: "int" },
    getsockname: named,
    getpeername: named,
    getsockopt: { args: ["int", "int", "int", "ptr", "ptr"], returns: "int" },
    shutdown: { args: ["int", "int"], returns: "int" },
  });
  const limits = new BigUint64Array(2);
  libc.getrlimit(RLIMIT_NOFILE, ptr(limits));
  const bytes = new DataView(new ArrayBuffer(256));
  const length = new Uint32Array(1);
  const portBy =
    (ask: typeof libc.getsockname) =>
    (file: number): number => {
      length[0] = bytes.byteLength;
      // In both address families the port follows the two bytes of the family.
      return ask(file, ptr(bytes), ptr(length)) === 0 ? bytes.getUint16(2) : -1;
    };
  return {
    limit: Number(limits[0]),
    localPort: portBy(libc.getsockname),
    peerPort: portBy(libc.getpeername),
    /** Whether nothing arrived for a while, and nothing is being sent. */
    isSilent: (file: number): boolean => {
      length[0] = bytes.byteLength;
      const asked = libc.getsockopt(file, IPPROTO_TCP, TCP_INFO, ptr(bytes), ptr(length));
      if (asked !== 0 || (length[0] ?? 0) < AT.end) return false;
      const at = (place: number) => bytes.getUint32(place, true);
      if (at(AT.unacked) > 0 || at(AT.unsent) > 0) return false;
      if (at(AT.sentSegments) === 0) return at(AT.lastReceived) > SILENT_MS.new;
      return Math.min(at(AT.lastReceived), at(AT.lastSent)) > SILENT_MS.known;
    },
    shutDown: (file: number): void => {
      libc.shutdown(file, SHUT_RDWR);
    },
  };
}
