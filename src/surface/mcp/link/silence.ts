import { PING_REQUEST } from "./pending-calls.ts";

/** Milliseconds of silence after which a server with unanswered calls counts as gone. It answers even while a model works. */
const SILENCE_MS = 10_000;
/** Checks in that time. They are counted, so that a machine that slept does not take its own sleep for silence. */
const LOOKS = 10;
/** The check at which a sign of life is requested. */
const ASKED_AT = 3;

export type Silence = {
  /** Starts checking, until nothing is due. */
  watch(): void;
  /** A sign of life. */
  heard(): void;
  end(): void;
};

type SilenceDeps = {
  /** Milliseconds. Default: 10 s. */
  readonly forMs: number | undefined;
  /** Whether an answer is due. */
  readonly isDue: () => boolean;
  /** Sends a request that a live server answers at once. */
  readonly ask: (line: string) => void;
  readonly giveUp: () => void;
};

/** Notices a stopped server: its connections stay open, but it sends nothing. */
export function watchSilence(deps: SilenceDeps): Silence {
  const { forMs = SILENCE_MS, isDue, ask, giveUp } = deps;
  let looks = 0;
  let timer: ReturnType<typeof setInterval> | undefined;
  const end = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const look = (): void => {
    looks = isDue() ? looks + 1 : 0;
    if (looks === 0) end();
    if (looks === ASKED_AT) ask(PING_REQUEST);
    if (looks < LOOKS) return;
    looks = 0;
    giveUp();
  };
  return {
    watch: () => {
      if (timer !== undefined) return;
      looks = 0;
      timer = setInterval(look, forMs / LOOKS);
    },
    heard: () => {
      looks = 0;
    },
    end,
  };
}
