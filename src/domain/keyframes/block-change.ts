import type { Shift } from "./phase-shift.ts";
import {
  SIGNATURE_HEIGHT as HEIGHT,
  type Signature,
  SIGNATURE_WIDTH as WIDTH,
} from "./signature.ts";

/** Pixels at each edge that do not count: what moves in or out there is no change. */
const MARGIN = 12;
const CROP_WIDTH = WIDTH - 2 * MARGIN;
const CROP_HEIGHT = HEIGHT - 2 * MARGIN;
/** Pixels of a block: 37 of them across, 13 down. */
const BLOCK_WIDTH = 8;
const BLOCK_HEIGHT = 12;
const BLOCKS_ACROSS = CROP_WIDTH / BLOCK_WIDTH;
/** Keeps a picture of one grey from being divided by nothing. */
const FAINTEST = 1e-6;

/** A picture without its margins, with mean 0 and standard deviation 1: brightness and contrast do not count. */
export type Crop = Float64Array;

/** @param shift by which the picture is moved before, wrapping around the edges */
export function cropOf(signature: Signature, shift: Shift = { down: 0, right: 0 }): Crop {
  const crop = new Float64Array(CROP_WIDTH * CROP_HEIGHT);
  let sum = 0;
  for (let y = 0, at = 0; y < CROP_HEIGHT; y++) {
    const row = ((y + MARGIN - shift.down + HEIGHT) % HEIGHT) * WIDTH;
    for (let x = 0; x < CROP_WIDTH; x++, at++) {
      const grey = signature[row + ((x + MARGIN - shift.right + WIDTH) % WIDTH)] ?? 0;
      crop[at] = grey;
      sum += grey;
    }
  }
  const mean = sum / crop.length;
  let squares = 0;
  for (const grey of crop) squares += (grey - mean) ** 2;
  const scale = 1 / (Math.sqrt(squares / crop.length) + FAINTEST);
  for (let i = 0; i < crop.length; i++) crop[i] = ((crop[i] ?? 0) - mean) * scale;
  return crop;
}

/** How much the block that differs most differs on average, three decimals. */
export function blockChange(reference: Crop, candidate: Crop): number {
  const sums = new Float64Array((BLOCKS_ACROSS * CROP_HEIGHT) / BLOCK_HEIGHT);
  for (let y = 0, at = 0; y < CROP_HEIGHT; y++) {
    const first = Math.floor(y / BLOCK_HEIGHT) * BLOCKS_ACROSS;
    for (let x = 0; x < CROP_WIDTH; x++, at++) {
      const block = first + (x >> 3);
      sums[block] = (sums[block] ?? 0) + Math.abs((reference[at] ?? 0) - (candidate[at] ?? 0));
    }
  }
  return Math.round((Math.max(...sums) / (BLOCK_WIDTH * BLOCK_HEIGHT)) * 1000) / 1000;
}
