/** Requests that a server works on at a time; then it reads nothing more. */
export const PENDING_MAX = 32;

/**
 * Calls that may be unanswered before a relay passes nothing more on, or reads from its client. One less than a server takes,
 * so that it always reads what asks for a sign of life.
 */
export const OPEN_CALLS_MAX = PENDING_MAX - 1;
