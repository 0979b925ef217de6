import { returnFreed } from "../adapters/embedding/cores.ts";
import { releaseMemory } from "../lib/pause.ts";

const TICK_MS = 5000;
/** Share of one core below which a server is at rest. */
const AT_REST = 0.02;

/**
 * Gives back the memory of past calls once a server is at rest: what they left is otherwise kept until as many calls again come.
 * @returns ends it
 */
export function releaseAtRest(): () => void {
  const tick = createRest(() => {
    releaseMemory();
    returnFreed();
  });
  let before = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    tick((user + system) / 1000 / TICK_MS);
    before = process.cpuUsage();
  }, TICK_MS).unref();
  return () => clearInterval(timer);
}

/** @returns call it regularly with the cores used since the last time; `release` runs once after each time of work */
export function createRest(release: () => void): (cores: number) => void {
  let hasWorked = false;
  return (cores) => {
    const isWorking = cores > AT_REST;
    if (hasWorked && !isWorking) release();
    hasWorked = isWorking;
  };
}
