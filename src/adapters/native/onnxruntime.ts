import { CString, dlopen, linkSymbols, type Pointer, ptr, read, toArrayBuffer } from "bun:ffi";
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EMBEDDED } from "./embedded.ts";
import { unpack } from "./extract.ts";
import { forbidTelemetry } from "./no-telemetry.ts";
import { IS_WINDOWS } from "./system-files.ts";

/** A loaded model, by the C interface of ONNX Runtime: its binding for Node cannot give one to several threads. */
export type Session = {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /**
   * The numbers of one output for one row of each input. Blocks the thread while the model runs.
   * @throws Error with the words of ONNX Runtime; TypeError if the output is not of float32
   */
  run(inputs: readonly Input[], output: string): Float32Array;
  /** The last thread to release the model frees it. */
  release(): void;
};

type Input = readonly [name: string, row: BigInt64Array];

/** Where the threads of one model find it: a lock, their number, and the address of what the first has loaded. */
export type SharedSession = SharedArrayBuffer;

export function createSharedSession(): SharedSession {
  return new SharedArrayBuffer(16);
}

/**
 * Loads a model from its file.
 * @param threads within one run
 * @param shared takes the model that another thread has loaded there. A thread that dies without `release` keeps it in memory
 * @throws Error with the words of ONNX Runtime
 */
export function openSession(
  weights: string,
  threads: number,
  shared: SharedSession = createSharedSession(),
): Session {
  loaded ??= openApi();
  const api = loaded;
  const { calls, made, allocator } = api;
  const session = locked(shared, (users, address) => {
    const found = address[0] || load(api, weights, threads);
    address[0] = found;
    users[0] = (users[0] ?? 0) + 1;
    return found;
  });
  const nameOf = (text: bigint): string => {
    const name = new CString(text).toString();
    calls.AllocatorFree(allocator, text);
    return name;
  };
  const inputs = Number(made(calls.SessionGetInputCount, session));
  const outputs = Number(made(calls.SessionGetOutputCount, session));
  return {
    inputNames: Array.from({ length: inputs }, (_, at) =>
      nameOf(made(calls.SessionGetInputName, session, at, allocator)),
    ),
    outputNames: Array.from({ length: outputs }, (_, at) =>
      nameOf(made(calls.SessionGetOutputName, session, at, allocator)),
    ),
    run: (given, output) => run(api, session, given, output),
    release: () =>
      locked(shared, (users, address) => {
        users[0] = (users[0] ?? 0) - 1;
        if (users[0] > 0) return;
        calls.ReleaseSession(session);
        address[0] = 0n;
      }),
  };
}

/** Values of the C interface. */
const API_VERSION = 1;
const WARNING = 2;
const FLOAT32 = 1;
const INT64 = 7;
const DEVICE_ALLOCATOR = 0;
const DEFAULT_MEMORY = 0;
const POINTER_BYTES = 8;

function load({ calls, check, made, environment }: Api, weights: string, threads: number): bigint {
  const options = made(calls.CreateSessionOptions);
  try {
    check(calls.SetIntraOpNumThreads(options, threads));
    check(calls.SetInterOpNumThreads(options, 1));
    // It would keep what the longest text needed.
    check(calls.DisableCpuMemArena(options));
    return made(calls.CreateSession, environment, pathOf(weights), options);
  } finally {
    calls.ReleaseSessionOptions(options);
  }
}

function run(
  { calls, made, check, memory }: Api,
  session: bigint,
  inputs: readonly Input[],
  output: string,
): Float32Array {
  // The model reads names and rows where they are: they must not be collected before its end.
  const names = [...inputs.map(([name]) => name), output].map(cString);
  const values: bigint[] = [];
  try {
    for (const [, row] of inputs) {
      const shape = BigInt64Array.of(1n, BigInt(row.length));
      values.push(
        made(calls.CreateTensorWithDataAsOrtValue, memory, row, row.byteLength, shape, 2, INT64),
      );
    }
    const count = inputs.length;
    const places = BigUint64Array.from(names, (name) => BigInt(ptr(name)));
    const given = BigUint64Array.from(values);
    const last = places.subarray(count);
    const result = made(calls.Run, session, null, places, given, count, last, 1);
    values.push(result);
    const shape = made(calls.GetTensorTypeAndShape, result);
    const length = Number(made(calls.GetTensorShapeElementCount, shape));
    const type = new Int32Array(1);
    check(calls.GetTensorElementType(shape, type));
    calls.ReleaseTensorTypeAndShapeInfo(shape);
    if (type[0] !== FLOAT32) throw new TypeError("the model gave no numbers");
    if (length === 0) return new Float32Array();
    return new Float32Array(
      toArrayBuffer(made(calls.GetTensorMutableData, result), 0, length * 4),
    ).slice();
  } finally {
    for (const value of values) calls.ReleaseValue(value);
    names.length = inputs.length;
  }
}

/** Lets one thread at a time work. */
function locked<T>(
  shared: SharedSession,
  work: (users: Int32Array, address: BigUint64Array) => T,
): T {
  const lock = new Int32Array(shared, 0, 1);
  while (Atomics.compareExchange(lock, 0, 0, 1) !== 0) Atomics.wait(lock, 0, 1);
  try {
    return work(new Int32Array(shared, 4, 1), new BigUint64Array(shared, 8, 1));
  } finally {
    Atomics.store(lock, 0, 0);
    Atomics.notify(lock, 0);
  }
}

type Status = Pointer | bigint | null;
type Api = ReturnType<typeof openApi>;
let loaded: Api | undefined;

function openApi() {
  forbidTelemetry();
  const calls = callsOf(libraryPath());
  const check = (status: Status): void => {
    if (status === null) return;
    const message = String(calls.GetErrorMessage(status));
    calls.ReleaseStatus(status);
    throw new Error(message);
  };
  /** What a call writes where its last argument points. */
  const made = <Given extends readonly unknown[]>(
    call: (...args: [...Given, BigUint64Array]) => Status,
    ...given: Given
  ): bigint => {
    const into = new BigUint64Array(1);
    check(call(...given, into));
    return into[0] ?? 0n;
  };
  return {
    calls,
    check,
    made,
    // The process has one, however often it is asked for.
    environment: made(calls.CreateEnv, WARNING, cString("svc")),
    allocator: made(calls.GetAllocatorWithDefaultOptions),
    memory: made(calls.CreateCpuMemoryInfo, DEVICE_ALLOCATOR, DEFAULT_MEMORY),
  };
}

/** The functions of the library by their place in its table, to which a later version of it only adds. */
function callsOf(path: string) {
  if (IS_WINDOWS) loadBesideOthers(path);
  const { OrtGetApiBase } = dlopen(path, { OrtGetApiBase: { args: [], returns: "ptr" } }).symbols;
  const base = OrtGetApiBase() ?? 0n;
  const { GetApi } = linkSymbols({
    GetApi: { ptr: BigInt(read.ptr(base)), args: ["u32"], returns: "ptr" },
  }).symbols;
  const table = GetApi(API_VERSION) ?? 0n;
  const at = (place: number) => BigInt(read.ptr(table, place * POINTER_BYTES));
  const status = <Args extends readonly ("ptr" | "usize" | "i32")[]>(
    place: number,
    ...args: Args
  ) => ({ ptr: at(place), args, returns: "ptr" }) as const;
  const release = (place: number) => ({ ptr: at(place), args: ["ptr"], returns: "void" }) as const;
  return linkSymbols({
    GetErrorMessage: { ptr: at(2), args: ["ptr"], returns: "cstring" },
    CreateEnv: status(3, "i32", "ptr", "ptr"),
    CreateSession: status(7, "ptr", "ptr", "ptr", "ptr"),
    Run: status(9, "ptr", "ptr", "ptr", "ptr", "usize", "ptr", "usize", "ptr"),
    CreateSessionOptions: status(10, "ptr"),
    DisableCpuMemArena: status(19, "ptr"),
    SetIntraOpNumThreads: status(24, "ptr", "i32"),
    SetInterOpNumThreads: status(25, "ptr", "i32"),
    SessionGetInputCount: status(30, "ptr", "ptr"),
    SessionGetOutputCount: status(31, "ptr", "ptr"),
    SessionGetInputName: status(36, "ptr", "usize", "ptr", "ptr"),
    SessionGetOutputName: status(37, "ptr", "usize", "ptr", "ptr"),
    CreateTensorWithDataAsOrtValue: status(49, "ptr", "ptr", "usize", "ptr", "usize", "i32", "ptr"),
    GetTensorMutableData: status(51, "ptr", "ptr"),
    GetTensorElementType: status(60, "ptr", "ptr"),
    GetTensorShapeElementCount: status(64, "ptr", "ptr"),
    GetTensorTypeAndShape: status(65, "ptr", "ptr"),
    CreateCpuMemoryInfo: status(69, "i32", "i32", "ptr"),
    AllocatorFree: status(76, "ptr", "ptr"),
    GetAllocatorWithDefaultOptions: status(78, "ptr"),
    ReleaseStatus: release(93),
    ReleaseSession: release(95),
    ReleaseValue: release(96),
    ReleaseTensorTypeAndShapeInfo: release(99),
    ReleaseSessionOptions: release(100),
  }).symbols;
}

/** Windows would look for what the library needs beside the program. */
function loadBesideOthers(path: string): void {
  const kernel = dlopen("kernel32.dll", {
    LoadLibraryExW: { args: ["ptr", "ptr", "u32"], returns: "ptr" },
  });
  kernel.symbols.LoadLibraryExW(pathOf(path), null, LOAD_WITH_ALTERED_SEARCH_PATH);
  kernel.close();
}

const LOAD_WITH_ALTERED_SEARCH_PATH = 8;
const LIBRARY = /^(libonnxruntime\.so\.1|libonnxruntime\.1\.dylib|onnxruntime\.dll)$/;

/** @throws SvcError `storage_failed` if the libraries cannot be unpacked. */
function libraryPath(): string {
  const embedded = Object.entries(EMBEDDED).filter(([key]) => key.startsWith("onnxruntime/"));
  // All into one folder, where they find each other.
  let paths = embedded.map(([, asset]) => unpack(asset));
  if (paths.length === 0) {
    const entry = dirname(fileURLToPath(import.meta.resolve("onnxruntime-node")));
    const folder = join(entry, "../bin/napi-v6", process.platform, process.arch);
    paths = readdirSync(folder).map((name) => join(folder, name));
  }
  const path = paths.find((one) => LIBRARY.test(basename(one)));
  if (path === undefined) throw new Error(`ONNX Runtime has no library for ${process.platform}`);
  return path;
}

function pathOf(path: string): Buffer {
  return IS_WINDOWS ? Buffer.from(`${path}\0`, "utf16le") : cString(path);
}

function cString(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}
