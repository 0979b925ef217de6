import { type Complex, complexOf, createTransform } from "../../lib/fourier.ts";
import {
  SIGNATURE_HEIGHT as HEIGHT,
  type Signature,
  SIGNATURE_WIDTH as WIDTH,
} from "./signature.ts";

/** By how many pixels one picture has to be moved, wrapping around the edges, to lie on another one. */
export type Shift = { readonly down: number; readonly right: number };

/** The half of a spectrum that the other half follows from: columns 0 to half the width, all rows. */
export type Spectrum = Complex;

/** Columns of a spectrum. */
const COLUMNS = WIDTH / 2 + 1;
/** Keeps frequencies that are not there from being divided by nothing. */
const FAINTEST = 1e-6;

/** Finds out how pictures are shifted against each other, by the phases of their spectra. It has memory to work in: 2 MB. */
export type PhaseShifts = {
  /** The spectrum of a signature less its mean. */
  spectrumOf(signature: Signature): Spectrum;
  /** The shift of a candidate to the reference: the first maximum of their phase correlation, in row order. */
  between(reference: Spectrum, candidate: Spectrum): Shift;
};

export function createPhaseShifts(): PhaseShifts {
  const rows = createTransform(WIDTH, 1);
  const columns = createTransform(HEIGHT, COLUMNS);
  const line = complexOf(WIDTH);
  const product = complexOf(HEIGHT * COLUMNS);
  return {
    spectrumOf: (signature) => {
      const spectrum = complexOf(HEIGHT * COLUMNS);
      const mean = signature.reduce((sum, grey) => sum + grey, 0) / signature.length;
      // Two rows of real numbers are one of complex ones.
      for (let row = 0; row < HEIGHT; row += 2) {
        for (let x = 0; x < WIDTH; x++) {
          line.re[x] = (signature[row * WIDTH + x] ?? 0) - mean;
          line.im[x] = (signature[(row + 1) * WIDTH + x] ?? 0) - mean;
        }
        rows.forward(line);
        separate(line, spectrum, row);
      }
      columns.forward(spectrum);
      return spectrum;
    },
    between: (reference, candidate) => {
      correlate(reference, candidate, product);
      columns.backward(product);
      let best = Number.NEGATIVE_INFINITY;
      let place = 0;
      for (let row = 0; row < HEIGHT; row += 2) {
        join(product, row, line);
        rows.backward(line);
        for (const [offset, part] of [line.re, line.im].entries()) {
          for (let x = 0; x < WIDTH; x++) {
            const value = part[x] ?? 0;
            if (value <= best) continue;
            best = value;
            place = (row + offset) * WIDTH + x;
          }
        }
      }
      return shiftOf(place);
    },
  };
}

/** A shift above half the picture is one in the other direction. */
function shiftOf(place: number): Shift {
  const down = Math.floor(place / WIDTH);
  const right = place % WIDTH;
  return {
    down: down > HEIGHT / 2 ? down - HEIGHT : down,
    right: right > WIDTH / 2 ? right - WIDTH : right,
  };
}

/** Writes the halves of the spectra of two real rows, from that of the complex row that they were made into. */
function separate({ re, im }: Complex, into: Spectrum, row: number): void {
  for (let k = 0; k < COLUMNS; k++) {
    const mirror = k === 0 ? 0 : WIDTH - k;
    const [ar, ai] = [re[k] ?? 0, im[k] ?? 0];
    const [br, bi] = [re[mirror] ?? 0, im[mirror] ?? 0];
    const first = row * COLUMNS + k;
    into.re[first] = (ar + br) / 2;
    into.im[first] = (ai - bi) / 2;
    into.re[first + COLUMNS] = (ai + bi) / 2;
    into.im[first + COLUMNS] = (br - ar) / 2;
  }
}

/** The reverse of `separate`. */
function join({ re, im }: Spectrum, row: number, into: Complex): void {
  const first = row * COLUMNS;
  for (let k = 0; k < COLUMNS; k++) {
    const [ar, ai] = [re[first + k] ?? 0, im[first + k] ?? 0];
    const [br, bi] = [re[first + COLUMNS + k] ?? 0, im[first + COLUMNS + k] ?? 0];
    into.re[k] = ar - bi;
    into.im[k] = ai + br;
    if (k === 0 || k === WIDTH / 2) continue;
    into.re[WIDTH - k] = ar + bi;
    into.im[WIDTH - k] = br - ai;
  }
}

/** Only the phases of the product of one spectrum with the conjugate of the other. */
function correlate(reference: Spectrum, candidate: Spectrum, into: Complex): void {
  for (let i = 0; i < into.re.length; i++) {
    const [ar, ai] = [reference.re[i] ?? 0, reference.im[i] ?? 0];
    const [br, bi] = [candidate.re[i] ?? 0, candidate.im[i] ?? 0];
    const re = ar * br + ai * bi;
    const im = ai * br - ar * bi;
    const scale = 1 / (Math.sqrt(re * re + im * im) + FAINTEST);
    into.re[i] = re * scale;
    into.im[i] = im * scale;
  }
}
