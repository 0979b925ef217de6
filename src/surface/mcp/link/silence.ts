import { PING_REQUEST } from "./pending-calls.ts";

/** Milliseconds of silence after which a server with calls to answer counts as gone. It answers while a model works. */
const SILENCE_MS = 10_000;
/** Looks in that time. They are counted, so that a machine that slept does not take its own sleep for silence. */
const LOOKS = 10;
/** The look at which a sign of life is asked for. */
const ASKED_AT = 3;

export type Silence = {
  /** Begins to look, until nothing is due. */
  watch(): void;
  /** A sign of life. */
  heard(): void;
  end(): void;
};

type SilenceDeps = {
  /** Milliseconds. Default: 10 s. */
  readonly forMs: number | undefined;
  /** Whether anything is to be heard. */
  readonly isDue: () => boolean;
  /** Sends a request that is answered at once by whoever can. */
  readonly ask: (line: string) => void;
  readonly giveUp: () => void;
};

/** Notices a server that stands still: one that was stopped keeps its connections open and says nothing. */
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
