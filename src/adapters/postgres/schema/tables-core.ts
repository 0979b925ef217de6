import { sessionStart } from "../conditions.ts";
import { FLAG, INSTANT, JSON_TEXT, KEY, OWNER, TEXT } from "./columns.ts";

// Every key begins with the owner, so that the tables can be partitioned or distributed by it.

const ACTIVE = "lifecycle_state IN ('tentative', 'stable', 'contested')";

/** Facts of the database about itself: its manifest, the version of its tables, the owner of the pack. */
const SETTINGS = [`CREATE TABLE settings (name ${TEXT} PRIMARY KEY, value ${TEXT} NOT NULL)`];

/** The row of an owner is the owner's lock: whoever writes anything of the owner's changes it first. */
const OWNERS = [
  `CREATE TABLE owners (
    owner ${OWNER} PRIMARY KEY,
    user_id ${TEXT} NOT NULL,
    -- Counts the transactions that wrote something.
    version bigint NOT NULL DEFAULT 0,
    next_key ${KEY} NOT NULL DEFAULT 1,
    next_event ${KEY} NOT NULL DEFAULT 1,
    -- Documents in the word index, and the words in them.
    lexical_documents ${KEY} NOT NULL DEFAULT 0,
    lexical_words bigint NOT NULL DEFAULT 0
  )`,
];

const EVENTS = [
  `CREATE TABLE events (
    owner ${OWNER},
    id uuid NOT NULL,
    key ${KEY} NOT NULL,
    session_id ${TEXT},
    scope ${TEXT} NOT NULL,
    role ${TEXT} NOT NULL,
    content ${TEXT} NOT NULL,
    content_hash ${TEXT} NOT NULL,
    metadata ${JSON_TEXT},
    event_time ${INSTANT},
    timestamp ${INSTANT} NOT NULL,
    PRIMARY KEY (owner, id),
    UNIQUE (owner, key)
  )`,
  "CREATE INDEX events_by_id ON events (id)",
  "CREATE INDEX events_by_owner ON events (owner, timestamp, id)",
  `CREATE INDEX events_by_session ON events (owner, ${sessionStart("session_id")}, timestamp, id)
    WHERE session_id IS NOT NULL`,
];

const OPERATIONS = [
  `CREATE TABLE operations (
    -- Whose transaction wrote it; 0 for the database as a whole.
    owner ${OWNER},
    id uuid NOT NULL,
    -- Place in the log.
    key bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    op_type ${TEXT} NOT NULL,
    target_id ${TEXT} NOT NULL,
    payload ${JSON_TEXT} NOT NULL,
    actor_id ${TEXT} NOT NULL,
    namespace_id ${TEXT},
    created_at ${INSTANT} NOT NULL,
    PRIMARY KEY (owner, id)
  )`,
  "CREATE INDEX operations_by_id ON operations (id)",
  "CREATE INDEX operations_by_target ON operations (target_id, created_at, id)",
  `CREATE INDEX operations_listed ON operations (namespace_id, op_type, target_id)
    WHERE namespace_id IS NOT NULL AND op_type <> 'DIRECT_STORE_REQUESTED'`,
];

const part = (from: number, length: number): string =>
  `substr(created_at, ${from}, ${length})::integer`;
const DAY = `(make_date(${part(1, 4)}, ${part(6, 2)}, ${part(9, 2)}) - make_date(1970, 1, 1))`;
/** The fraction of a second is left out; a conversion to a timestamp would depend on settings, and so could not be stored. */
const RETENTION_SECOND = `(${DAY} + ttl_days)::bigint * 86400 + ${part(12, 2)} * 3600 + ${part(15, 2)} * 60 + ${part(18, 2)}`;

const NODES = [
  `CREATE TABLE nodes (
    owner ${OWNER},
    id uuid NOT NULL,
    key ${KEY} NOT NULL,
    session_id ${TEXT},
    node_type ${TEXT} NOT NULL,
    content ${TEXT} NOT NULL,
    lifecycle_state ${TEXT} NOT NULL,
    confidence double precision NOT NULL,
    salience double precision NOT NULL,
    confidence_base double precision NOT NULL,
    salience_base double precision NOT NULL,
    reinforcement_boost double precision NOT NULL,
    last_reinforced_at ${INSTANT} NOT NULL,
    decay_profile ${TEXT} NOT NULL,
    epistemic_type ${TEXT} NOT NULL,
    source_type ${TEXT} NOT NULL,
    scope ${TEXT} NOT NULL,
    metadata ${JSON_TEXT},
    created_at ${INSTANT} NOT NULL,
    updated_at ${INSTANT} NOT NULL,
    event_time ${INSTANT},
    valid_from ${INSTANT} NOT NULL,
    valid_to ${INSTANT},
    ttl_days integer,
    superseded_by uuid,
    evidence_refs ${JSON_TEXT} NOT NULL,
    pinned ${FLAG} NOT NULL,
    -- The second, since 1970, in which the retention of the memory ends.
    retention_second bigint GENERATED ALWAYS AS (${RETENTION_SECOND}) STORED,
    -- Of its own text, of the model that the manifest names.
    embedding vector,
    -- For people with psql: nothing is ranked by it. A longer text would not fit into a tsvector.
    words tsvector GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, left(content, 200000))) STORED,
    PRIMARY KEY (owner, id),
    UNIQUE (owner, key)
  )`,
  "CREATE INDEX nodes_by_id ON nodes (id)",
  "CREATE INDEX nodes_by_owner ON nodes (owner, lifecycle_state, created_at, id)",
  "CREATE INDEX nodes_by_time ON nodes (owner, created_at, id)",
  "CREATE INDEX nodes_by_type ON nodes (owner, node_type, id)",
  `CREATE INDEX nodes_in_session ON nodes (owner, ${sessionStart("session_id")}, scope, created_at, id)
    WHERE session_id IS NOT NULL AND ${ACTIVE}`,
  `CREATE INDEX nodes_entities ON nodes (owner, created_at, id) WHERE node_type = 'entity' AND ${ACTIVE}`,
  `CREATE INDEX nodes_pinned ON nodes (owner, created_at, id)
    WHERE (pinned = 1 OR salience >= 1.0) AND lifecycle_state IN ('tentative', 'stable')`,
  `CREATE INDEX nodes_tasks ON nodes (owner, created_at, id)
    WHERE node_type = 'task' AND lifecycle_state IN ('tentative', 'stable')`,
  `CREATE INDEX nodes_expiring ON nodes (retention_second, owner)
    WHERE ttl_days IS NOT NULL AND pinned = 0 AND ${ACTIVE}`,
];

/** Deferrable, so that a transaction may give the nodes and edges of one owner to another. */
const EDGES = [
  `CREATE TABLE edges (
    owner ${OWNER},
    id uuid NOT NULL,
    source uuid NOT NULL,
    target uuid NOT NULL,
    edge_type ${TEXT} NOT NULL,
    confidence double precision NOT NULL,
    valid_from ${INSTANT} NOT NULL,
    valid_to ${INSTANT},
    provenance_event_id uuid,
    metadata ${JSON_TEXT},
    created_at ${INSTANT} NOT NULL,
    PRIMARY KEY (owner, id),
    FOREIGN KEY (owner, source) REFERENCES nodes (owner, id) ON DELETE CASCADE DEFERRABLE,
    FOREIGN KEY (owner, target) REFERENCES nodes (owner, id) ON DELETE CASCADE DEFERRABLE
  )`,
  "CREATE INDEX edges_by_source ON edges (owner, source, edge_type, created_at)",
  "CREATE INDEX edges_by_target ON edges (owner, target, edge_type, created_at)",
  "CREATE INDEX edges_from ON edges (owner, source, created_at)",
  "CREATE INDEX edges_to ON edges (owner, target, created_at)",
  "CREATE INDEX edges_contradicting ON edges (owner, created_at, id) WHERE edge_type = 'contradicts'",
];

/** Which memories cite which events, read off `evidence_refs`. A trigger keeps it, whoever writes a memory. */
const EVIDENCE = [
  `CREATE TABLE node_evidence (
    owner ${OWNER},
    event_id uuid NOT NULL,
    node_key ${KEY} NOT NULL,
    PRIMARY KEY (owner, event_id, node_key)
  )`,
  "CREATE INDEX node_evidence_by_node ON node_evidence (owner, node_key)",
  `CREATE FUNCTION svc_note_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP <> 'INSERT' THEN
      DELETE FROM node_evidence WHERE owner = OLD.owner AND node_key = OLD.key;
    END IF;
    IF TG_OP <> 'DELETE' THEN
      INSERT INTO node_evidence (owner, event_id, node_key)
        SELECT DISTINCT NEW.owner, cited::uuid, NEW.key FROM json_array_elements_text(NEW.evidence_refs::json) cited;
    END IF;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER node_evidence_begins AFTER INSERT OR DELETE ON nodes
    FOR EACH ROW EXECUTE FUNCTION svc_note_evidence()`,
  `CREATE TRIGGER node_evidence_changes AFTER UPDATE OF owner, key, evidence_refs ON nodes FOR EACH ROW
    WHEN ((OLD.owner, OLD.key, OLD.evidence_refs) IS DISTINCT FROM (NEW.owner, NEW.key, NEW.evidence_refs))
    EXECUTE FUNCTION svc_note_evidence()`,
];

/**
 * The logs are append-only. An event may be given to another owner, with everything of its owner's, if an operation in the log says
 * so; nothing else of it changes.
 */
const APPEND_ONLY = [
  `CREATE FUNCTION svc_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION '% are immutable', TG_TABLE_NAME USING ERRCODE = '23001';
  END $$`,
  `CREATE FUNCTION svc_refuse_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF (to_jsonb(NEW) - 'owner' - 'key') = (to_jsonb(OLD) - 'owner' - 'key') AND EXISTS (
      SELECT 1 FROM operations p JOIN owners before ON before.owner = OLD.owner JOIN owners after ON after.owner = NEW.owner
      WHERE p.target_id = 'owner:' || before.user_id AND p.op_type IN ('OWNER_RENAMED', 'OWNERS_JOINED')
        AND p.payload::json ->> 'after' = after.user_id) THEN
      RETURN NEW;
    END IF;
    RAISE EXCEPTION 'events are immutable' USING ERRCODE = '23001';
  END $$`,
  `CREATE TRIGGER events_never_change BEFORE UPDATE ON events FOR EACH ROW EXECUTE FUNCTION svc_refuse_event_change()`,
  `CREATE TRIGGER events_never_vanish BEFORE DELETE ON events FOR EACH ROW EXECUTE FUNCTION svc_refuse_change()`,
  `CREATE TRIGGER events_are_never_emptied BEFORE TRUNCATE ON events EXECUTE FUNCTION svc_refuse_change()`,
  `CREATE TRIGGER operations_never_change BEFORE UPDATE OR DELETE ON operations
    FOR EACH ROW EXECUTE FUNCTION svc_refuse_change()`,
  `CREATE TRIGGER operations_are_never_emptied BEFORE TRUNCATE ON operations EXECUTE FUNCTION svc_refuse_change()`,
];

export const CORE_TABLES: readonly string[] = [
  ...SETTINGS,
  ...OWNERS,
  ...EVENTS,
  ...OPERATIONS,
  ...NODES,
  ...EDGES,
  ...EVIDENCE,
  ...APPEND_ONLY,
];
