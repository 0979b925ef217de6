/** Complex numbers, real and imaginary parts apart: arrays of one length. */
export type Complex = { readonly re: Float64Array; readonly im: Float64Array };

/**
 * Discrete Fourier transforms of one length, of several columns side by side: element `k` of column `c` lies at `k * columns + c`.
 * Stockham's algorithm, which needs no reordering, with radices 4, 2, 3 and 5.
 */
export type Transform = {
  /** Transforms in place, with exp(-2 pi i jk / length). */
  forward(data: Complex): void;
  /** The inverse times the length. */
  backward(data: Complex): void;
};

type Stage = {
  readonly radix: number;
  readonly cosines: Float64Array;
  readonly sines: Float64Array;
};

const SIN_60 = Math.sqrt(3) / 2;
const COS_72 = Math.cos((2 * Math.PI) / 5);
const COS_144 = Math.cos((4 * Math.PI) / 5);
const SIN_72 = Math.sin((2 * Math.PI) / 5);
const SIN_144 = Math.sin((4 * Math.PI) / 5);

/** @param length a product of twos, threes and fives, above 1 @throws RangeError for another one */
export function createTransform(length: number, columns: number): Transform {
  const stages = planStages(length);
  const size = length * columns;
  const spare = complexOf(size);
  const forward = (data: Complex): void => {
    let from = data;
    let to = spare;
    let rest = length;
    let stride = columns;
    for (const stage of stages) {
      PASSES[stage.radix]?.(from, to, stage, rest / stage.radix, stride);
      [from, to] = [to, from];
      rest /= stage.radix;
      stride *= stage.radix;
    }
    if (from === data) return;
    data.re.set(from.re);
    data.im.set(from.im);
  };
  return {
    forward,
    // Exchanging the parts of every number turns the sign of the exponent.
    backward: ({ re, im }) => forward({ re: im, im: re }),
  };
}

/** Zeros. */
export function complexOf(size: number): Complex {
  return { re: new Float64Array(size), im: new Float64Array(size) };
}

function planStages(length: number): readonly Stage[] {
  if (!Number.isInteger(length) || length < 2)
    throw new RangeError(`no transform of length ${length}`);
  const stages: Stage[] = [];
  let rest = length;
  for (const radix of [4, 2, 3, 5]) {
    while (rest % radix === 0) {
      stages.push(stageOf(radix, rest));
      rest /= radix;
    }
  }
  if (rest !== 1) throw new RangeError(`no transform of length ${length}`);
  return stages;
}

/** The factors of a stage: `radix - 1` for each of its groups. */
function stageOf(radix: number, length: number): Stage {
  const groups = length / radix;
  const cosines = new Float64Array(groups * (radix - 1));
  const sines = new Float64Array(groups * (radix - 1));
  for (let group = 0; group < groups; group++) {
    for (let k = 1; k < radix; k++) {
      const angle = (-2 * Math.PI * group * k) / length;
      cosines[group * (radix - 1) + k - 1] = Math.cos(angle);
      sines[group * (radix - 1) + k - 1] = Math.sin(angle);
    }
  }
  return { radix, cosines, sines };
}

type Pass = (from: Complex, to: Complex, stage: Stage, groups: number, stride: number) => void;

/** One stage for each radix. They are written out, because a loop over the radix takes several times as long. */
const PASSES: Readonly<Record<number, Pass>> = {
  2: ({ re, im }, to, { cosines, sines }, groups, stride) => {
    for (let group = 0; group < groups; group++) {
      const wr = get(cosines, group);
      const wi = get(sines, group);
      for (let q = 0; q < stride; q++) {
        const a = q + stride * group;
        const b = a + stride * groups;
        const out = q + stride * 2 * group;
        const ar = get(re, a);
        const ai = get(im, a);
        const br = get(re, b);
        const bi = get(im, b);
        to.re[out] = ar + br;
        to.im[out] = ai + bi;
        const dr = ar - br;
        const di = ai - bi;
        to.re[out + stride] = dr * wr - di * wi;
        to.im[out + stride] = dr * wi + di * wr;
      }
    }
  },
  3: ({ re, im }, to, { cosines, sines }, groups, stride) => {
    const step = stride * groups;
    for (let group = 0; group < groups; group++) {
      const w1r = get(cosines, 2 * group);
      const w1i = get(sines, 2 * group);
      const w2r = get(cosines, 2 * group + 1);
      const w2i = get(sines, 2 * group + 1);
      for (let q = 0; q < stride; q++) {
        const a = q + stride * group;
        const out = q + stride * 3 * group;
        const ar = get(re, a);
        const ai = get(im, a);
        const br = get(re, a + step);
        const bi = get(im, a + step);
        const cr = get(re, a + 2 * step);
        const ci = get(im, a + 2 * step);
        const sr = br + cr;
        const si = bi + ci;
        const mr = ar - sr / 2;
        const mi = ai - si / 2;
        const dr = (br - cr) * SIN_60;
        const di = (bi - ci) * SIN_60;
        to.re[out] = ar + sr;
        to.im[out] = ai + si;
        const xr = mr + di;
        const xi = mi - dr;
        to.re[out + stride] = xr * w1r - xi * w1i;
        to.im[out + stride] = xr * w1i + xi * w1r;
        const yr = mr - di;
        const yi = mi + dr;
        to.re[out + 2 * stride] = yr * w2r - yi * w2i;
        to.im[out + 2 * stride] = yr * w2i + yi * w2r;
      }
    }
  },
  4: ({ re, im }, to, { cosines, sines }, groups, stride) => {
    const step = stride * groups;
    for (let group = 0; group < groups; group++) {
      const w1r = get(cosines, 3 * group);
      const w1i = get(sines, 3 * group);
      const w2r = get(cosines, 3 * group + 1);
      const w2i = get(sines, 3 * group + 1);
      const w3r = get(cosines, 3 * group + 2);
      const w3i = get(sines, 3 * group + 2);
      for (let q = 0; q < stride; q++) {
        const a = q + stride * group;
        const out = q + stride * 4 * group;
        const ar = get(re, a);
        const ai = get(im, a);
        const br = get(re, a + step);
        const bi = get(im, a + step);
        const cr = get(re, a + 2 * step);
        const ci = get(im, a + 2 * step);
        const dr = get(re, a + 3 * step);
        const di = get(im, a + 3 * step);
        const sumR = ar + cr;
        const sumI = ai + ci;
        const gapR = ar - cr;
        const gapI = ai - ci;
        const oddR = br + dr;
        const oddI = bi + di;
        const turnR = bi - di;
        const turnI = dr - br;
        to.re[out] = sumR + oddR;
        to.im[out] = sumI + oddI;
        const xr = gapR + turnR;
        const xi = gapI + turnI;
        to.re[out + stride] = xr * w1r - xi * w1i;
        to.im[out + stride] = xr * w1i + xi * w1r;
        const yr = sumR - oddR;
        const yi = sumI - oddI;
        to.re[out + 2 * stride] = yr * w2r - yi * w2i;
        to.im[out + 2 * stride] = yr * w2i + yi * w2r;
        const zr = gapR - turnR;
        const zi = gapI - turnI;
        to.re[out + 3 * stride] = zr * w3r - zi * w3i;
        to.im[out + 3 * stride] = zr * w3i + zi * w3r;
      }
    }
  },
  5: ({ re, im }, to, { cosines, sines }, groups, stride) => {
    const step = stride * groups;
    for (let group = 0; group < groups; group++) {
      const at = 4 * group;
      for (let q = 0; q < stride; q++) {
        const a = q + stride * group;
        const out = q + stride * 5 * group;
        const ar = get(re, a);
        const ai = get(im, a);
        const br = get(re, a + step);
        const bi = get(im, a + step);
        const cr = get(re, a + 2 * step);
        const ci = get(im, a + 2 * step);
        const dr = get(re, a + 3 * step);
        const di = get(im, a + 3 * step);
        const er = get(re, a + 4 * step);
        const ei = get(im, a + 4 * step);
        const outerR = br + er;
        const outerI = bi + ei;
        const innerR = cr + dr;
        const innerI = ci + di;
        to.re[out] = ar + outerR + innerR;
        to.im[out] = ai + outerI + innerI;
        const evenR = ar + COS_72 * outerR + COS_144 * innerR;
        const evenI = ai + COS_72 * outerI + COS_144 * innerI;
        const farR = ar + COS_144 * outerR + COS_72 * innerR;
        const farI = ai + COS_144 * outerI + COS_72 * innerI;
        const oddR = SIN_72 * (bi - ei) + SIN_144 * (ci - di);
        const oddI = SIN_72 * (er - br) + SIN_144 * (dr - cr);
        const lateR = SIN_144 * (bi - ei) - SIN_72 * (ci - di);
        const lateI = SIN_144 * (er - br) - SIN_72 * (dr - cr);
        turn(to, out + stride, evenR + oddR, evenI + oddI, get(cosines, at), get(sines, at));
        turn(
          to,
          out + 2 * stride,
          farR + lateR,
          farI + lateI,
          get(cosines, at + 1),
          get(sines, at + 1),
        );
        turn(
          to,
          out + 3 * stride,
          farR - lateR,
          farI - lateI,
          get(cosines, at + 2),
          get(sines, at + 2),
        );
        turn(
          to,
          out + 4 * stride,
          evenR - oddR,
          evenI - oddI,
          get(cosines, at + 3),
          get(sines, at + 3),
        );
      }
    }
  },
};

/** The compiler inlines it; the place is always inside. */
function get(numbers: Float64Array, place: number): number {
  return numbers[place] ?? 0;
}

/** Puts (re + i im) (wr + i wi) at a place. */
function turn(to: Complex, at: number, re: number, im: number, wr: number, wi: number): void {
  to.re[at] = re * wr - im * wi;
  to.im[at] = re * wi + im * wr;
}
