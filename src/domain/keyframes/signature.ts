/** Pixels of a signature, whatever the shape of the picture. */
export const SIGNATURE_WIDTH = 320;
export const SIGNATURE_HEIGHT = 180;

/** Greys from 0 to 255, row by row: what of a frame is compared. */
export type Signature = Float64Array;

/** Standard deviation of the blur, in pixels. */
const SIGMA = 2;
/** Pixels on each side of one that its blur takes into account. */
const REACH = 3 * SIGMA;

const KERNEL = gaussian();

/** The signature of a picture of 320 x 180 pixels. @param bgr blue, green and red of each pixel, row by row */
export function signatureOf(bgr: Uint8Array): Signature {
  const grey = new Float64Array(SIGNATURE_WIDTH * SIGNATURE_HEIGHT);
  for (let i = 0, at = 0; i < grey.length; i++, at += 3) {
    grey[i] = 0.114 * (bgr[at] ?? 0) + 0.587 * (bgr[at + 1] ?? 0) + 0.299 * (bgr[at + 2] ?? 0);
  }
  return blurred(grey);
}

/** Blurs greys of 320 x 180 pixels; what lies outside has the grey of the nearest edge. */
export function blurred(grey: Float64Array): Signature {
  const across = new Float64Array(grey.length);
  blurLines(grey, across, SIGNATURE_HEIGHT, SIGNATURE_WIDTH, SIGNATURE_WIDTH, 1);
  const result = new Float64Array(grey.length);
  blurLines(across, result, SIGNATURE_WIDTH, SIGNATURE_HEIGHT, 1, SIGNATURE_WIDTH);
  return result;
}

function blurLines(
  from: Float64Array,
  to: Float64Array,
  lines: number,
  length: number,
  lineStep: number,
  step: number,
): void {
  const line = new Float64Array(length + 2 * REACH);
  for (let number = 0; number < lines; number++) {
    const start = number * lineStep;
    line.fill(from[start] ?? 0, 0, REACH);
    for (let i = 0; i < length; i++) line[REACH + i] = from[start + i * step] ?? 0;
    line.fill(line[REACH + length - 1] ?? 0, REACH + length);
    for (let i = 0; i < length; i++) to[start + i * step] = weighted(line, i + REACH);
  }
}

/** The mean around a place, by the weights of the kernel. */
function weighted(line: Float64Array, place: number): number {
  let sum = (KERNEL[0] ?? 0) * (line[place] ?? 0);
  for (let k = 1; k <= REACH; k++) {
    sum += (KERNEL[k] ?? 0) * ((line[place - k] ?? 0) + (line[place + k] ?? 0));
  }
  return sum;
}

/** The weights of a pixel and of those on one side of it. */
function gaussian(): Float64Array {
  const kernel = new Float64Array(REACH + 1);
  for (let k = 0; k <= REACH; k++) kernel[k] = Math.exp(-(k * k) / (2 * SIGMA * SIGMA));
  const sum = kernel.reduce((total, weight, k) => total + (k === 0 ? weight : 2 * weight), 0);
  return kernel.map((weight) => weight / sum);
}
