/** Writes small ONNX models: the few parts of the protobuf format that a test's graph needs. */

/** A constant of the graph. */
export type Constant = {
  readonly name: string;
  readonly dims: readonly number[];
} & ({ readonly floats: readonly number[] } | { readonly integers: readonly number[] });

export type Operation = {
  readonly type: string;
  readonly inputs: readonly string[];
  readonly output: string;
  readonly integers?: Readonly<Record<string, number>>;
};

/** A named tensor at the edge of the graph; a dimension is a size or a name. */
export type Edge = {
  readonly name: string;
  readonly type: "float" | "int64";
  readonly dims: readonly (number | string)[];
};

export type Graph = {
  readonly constants: readonly Constant[];
  readonly operations: readonly Operation[];
  readonly inputs: readonly Edge[];
  readonly outputs: readonly Edge[];
};

const FLOAT = 1;
const INT64 = 7;
const INT_ATTRIBUTE = 2;

/** The bytes of a model file, equal for equal graphs. */
export function onnxModel(graph: Graph): Uint8Array {
  const body = [
    ...graph.operations.flatMap((operation) => bytes(1, operationBytes(operation))),
    ...text(2, "graph"),
    ...graph.constants.flatMap((constant) => bytes(5, constantBytes(constant))),
    ...graph.inputs.flatMap((edge) => bytes(11, edgeBytes(edge))),
    ...graph.outputs.flatMap((edge) => bytes(12, edgeBytes(edge))),
  ];
  const opset = bytes(8, [...text(1, ""), ...integer(2, 17)]);
  return Uint8Array.from([...integer(1, 8), ...bytes(7, body), ...opset]);
}

function operationBytes({ type, inputs, output, integers = {} }: Operation): number[] {
  return [
    ...inputs.flatMap((name) => text(1, name)),
    ...text(2, output),
    ...text(3, output),
    ...text(4, type),
    ...Object.entries(integers).flatMap(([name, value]) =>
      bytes(5, [...text(1, name), ...integer(3, value), ...integer(20, INT_ATTRIBUTE)]),
    ),
  ];
}

function constantBytes(constant: Constant): number[] {
  const isFloat = "floats" in constant;
  const raw = isFloat
    ? Float32Array.from(constant.floats)
    : BigInt64Array.from(constant.integers, BigInt);
  return [
    ...constant.dims.flatMap((dim) => integer(1, dim)),
    ...integer(2, isFloat ? FLOAT : INT64),
    ...text(8, constant.name),
    ...bytes(9, [...new Uint8Array(raw.buffer)]),
  ];
}

function edgeBytes({ name, type, dims }: Edge): number[] {
  const shape = dims.flatMap((dim) =>
    bytes(1, typeof dim === "number" ? integer(1, dim) : text(2, dim)),
  );
  const tensor = [...integer(1, type === "float" ? FLOAT : INT64), ...bytes(2, shape)];
  return [...text(1, name), ...bytes(2, bytes(1, tensor))];
}

function integer(field: number, value: number): number[] {
  return [...varint(field << 3), ...varint(value)];
}

function text(field: number, value: string): number[] {
  return bytes(field, [...new TextEncoder().encode(value)]);
}

function bytes(field: number, content: readonly number[]): number[] {
  return [...varint((field << 3) | 2), ...varint(content.length), ...content];
}

function varint(value: number): number[] {
  const result: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) result.push((rest % 128) | 128);
  return [...result, rest];
}
