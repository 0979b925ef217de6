import type { MemoryEvent, MemoryNode } from "../../src/domain/node.ts";
import { asInstant } from "../../src/lib/instant.ts";
import { asUuid } from "../../src/lib/uuid.ts";

export const NODE_ID = asUuid("01900000-0000-7000-8000-000000000001");
export const EVENT_ID = asUuid("01900000-0000-7000-8000-000000000002");
const STORED = asInstant("2026-01-02T03:04:05.000006Z");

/** A node of which every optional member is absent. */
export const BARE_NODE: MemoryNode = {
  id: NODE_ID,
  userId: "ada",
  sessionId: undefined,
  nodeType: "note",
  content: "Ada prefers green tea.",
  lifecycleState: "tentative",
  confidence: 0.8,
  salience: 0.5,
  confidenceBase: 0.8,
  salienceBase: 0.5,
  reinforcementBoost: 0,
  lastReinforcedAt: STORED,
  decayProfile: "medium",
  epistemicType: "asserted",
  sourceType: "user_stated",
  scope: "personal",
  metadata: undefined,
  createdAt: STORED,
  updatedAt: STORED,
  eventTime: undefined,
  validFrom: STORED,
  validTo: undefined,
  ttlDays: undefined,
  supersededBy: undefined,
  evidenceRefs: [EVENT_ID],
  pinned: false,
};

export const BARE_EVENT: MemoryEvent = {
  id: EVENT_ID,
  userId: "ada",
  sessionId: undefined,
  scope: "personal",
  role: "user",
  content: "Ada prefers green tea.",
  contentHash: "0".repeat(64),
  metadata: undefined,
  eventTime: undefined,
  timestamp: STORED,
};
