/**
 * Milliseconds of processor time that this process has used. What only computes is measured by it: the clock of the room also
 * counts what other processes do on a busy machine.
 */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
