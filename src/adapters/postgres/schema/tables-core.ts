import { ERASED_HASH } from "../../../domain/erasure.ts";
import { PARTS_FROM } from "../../../domain/search/turns.ts";
import { IS_TOLD } from "../../sql/audit.ts";
import { sessionStart } from "../../sql/dialect.ts";
import { FLAG, INSTANT, JSON_TEXT, KEY, OWNER, TEXT } from "./columns.ts";

// Every key begins with the owner, so that the tables can be partitioned or distributed by it.

const ACTIVE = "lifecycle_state IN ('tentative', 'stable', 'contested')";

/** Metadata of the database: its manifest, the version of its tables, the owner of the pack. */
const SETTINGS = [`CREATE TABLE settings (name ${TEXT} PRIMARY KEY, value ${TEXT} NOT NULL)`];

/** An owner's row is the owner's lock: every writer changes it first. */
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
  `CREATE INDEX operations_of_changes ON operations (owner, created_at, id) WHERE ${IS_TOLD}`,
  "CREATE INDEX operations_by_id ON operations (id)",
  "CREATE INDEX operations_by_target ON operations (target_id, created_at, id)",
  `CREATE INDEX operations_listed ON operations (namespace_id, op_type, target_id)
    WHERE namespace_id IS NOT NULL AND op_type <> 'DIRECT_STORE_REQUESTED'`,
];

const part = (from: number, length: number): string =>
  `substr(created_at, ${from}, ${length})::integer`;
const DAY = `(make_date(${part(1, 4)}, ${part(6, 2)}, ${part(9, 2)}) - make_date(1970, 1, 1))`;
/** Without the fraction of a second; a conversion to a timestamp would depend on settings, and so could not be stored. */
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
  // Marks long texts, whose parts have vectors.
  `CREATE INDEX nodes_with_parts ON nodes (owner, key) WHERE octet_length(content) > ${PARTS_FROM}`,
  `CREATE INDEX nodes_expiring ON nodes (retention_second, owner)
    WHERE ttl_days IS NOT NULL AND pinned = 0 AND ${ACTIVE}`,
];

/** Deferrable, so that a transaction may move an owner's nodes and edges to another. */
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

/** Which memories cite which events, derived from `evidence_refs` by a trigger. */
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

const ERASURES = [
  `CREATE TABLE erasures (
    -- Who had it when it was erased; 0 where that was not written down.
    owner ${OWNER} DEFAULT 0,
    -- The event whose content is gone, or the memory.
    event_id uuid NOT NULL,
    forget_id uuid NOT NULL,
    erased_at ${INSTANT} NOT NULL,
    actor ${TEXT} NOT NULL,
    PRIMARY KEY (owner, event_id)
  )`,
  "CREATE INDEX erasures_by_event ON erasures (event_id)",
  "CREATE INDEX erasures_by_forgetting ON erasures (forget_id)",
];

/** Blobs of events, stored once per owner, and the events that use them. */
const BLOBS = [
  `CREATE TABLE blobs (
    owner ${OWNER},
    key ${TEXT} NOT NULL CHECK (key <> ''),
    media_type ${TEXT} NOT NULL,
    size integer NOT NULL CHECK (size = octet_length(data)),
    data bytea NOT NULL,
    created_at ${INSTANT} NOT NULL,
    PRIMARY KEY (owner, key)
  )`,
  "CREATE INDEX blobs_by_key ON blobs (key)",
  `CREATE TABLE blob_uses (
    owner ${OWNER},
    event_id uuid NOT NULL,
    blob ${TEXT} NOT NULL,
    PRIMARY KEY (owner, event_id, blob)
  )`,
  "CREATE INDEX blob_uses_by_blob ON blob_uses (owner, blob)",
];

/** Whether the log records that the first owner's data moved to another. */
const HAS_MOVED = `EXISTS (SELECT 1 FROM operations p JOIN owners before ON before.owner = OLD.owner
      WHERE p.target_id = 'owner:' || before.user_id AND p.op_type IN ('OWNER_RENAMED', 'OWNERS_JOINED')`;

/**
 * The logs are append-only. An event may move to another owner, with all data of its owner, if an operation in the log records that; it may
 * then move between partitions, which is allowed although the server deletes it from the first. The content of an event or an operation can
 * only be erased as a whole, once, if the table of erasures lists it.
 */
const APPEND_ONLY = [
  `CREATE FUNCTION svc_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION '% are immutable', TG_TABLE_NAME USING ERRCODE = '23001';
  END $$`,
  `CREATE FUNCTION svc_refuse_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF (to_jsonb(NEW) - 'owner' - 'key') = (to_jsonb(OLD) - 'owner' - 'key') AND ${HAS_MOVED}
        AND p.payload::json ->> 'after' = (SELECT after.user_id FROM owners after WHERE after.owner = NEW.owner)) THEN
      PERFORM set_config('svc.moves', OLD.owner || ' ' || OLD.id, true);
      RETURN NEW;
    END IF;
    IF (to_jsonb(NEW) - 'content' - 'content_hash' - 'metadata') = (to_jsonb(OLD) - 'content' - 'content_hash' - 'metadata')
      AND OLD.content <> '' AND NEW.content = '' AND NEW.content_hash = '${ERASED_HASH}' AND EXISTS (
        SELECT 1 FROM erasures x WHERE x.owner IN (OLD.owner, 0) AND x.event_id = OLD.id AND NEW.metadata::jsonb =
          jsonb_build_object('erased', x.forget_id::text, 'erased_at', x.erased_at)) THEN
      RETURN NEW;
    END IF;
    RAISE EXCEPTION 'events are immutable' USING ERRCODE = '23001';
  END $$`,
  `CREATE FUNCTION svc_refuse_event_loss() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF current_setting('svc.moves', true) = OLD.owner || ' ' || OLD.id AND ${HAS_MOVED}) THEN
      RETURN OLD;
    END IF;
    RAISE EXCEPTION 'events are immutable' USING ERRCODE = '23001';
  END $$`,
  `CREATE FUNCTION svc_refuse_operation_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF (to_jsonb(NEW) - 'payload') = (to_jsonb(OLD) - 'payload') AND OLD.payload::json ->> 'erased' IS NULL
      AND NEW.payload::jsonb - 'erased' - 'record' - 'sha256' = '{}'::jsonb
      AND NEW.payload::json ->> 'record' = '{"erased":"' || (NEW.payload::json ->> 'erased') || '"}'
      AND EXISTS (SELECT 1 FROM erasures x WHERE x.forget_id = (NEW.payload::json ->> 'erased')::uuid) THEN
      RETURN NEW;
    END IF;
    RAISE EXCEPTION 'operations are immutable' USING ERRCODE = '23001';
  END $$`,
  `CREATE TRIGGER events_never_change BEFORE UPDATE ON events FOR EACH ROW EXECUTE FUNCTION svc_refuse_event_change()`,
  `CREATE TRIGGER events_never_vanish BEFORE DELETE ON events FOR EACH ROW EXECUTE FUNCTION svc_refuse_event_loss()`,
  `CREATE TRIGGER events_are_never_emptied BEFORE TRUNCATE ON events EXECUTE FUNCTION svc_refuse_change()`,
  `CREATE TRIGGER operations_never_change BEFORE UPDATE ON operations
    FOR EACH ROW EXECUTE FUNCTION svc_refuse_operation_change()`,
  `CREATE TRIGGER operations_never_vanish BEFORE DELETE ON operations FOR EACH ROW EXECUTE FUNCTION svc_refuse_change()`,
  `CREATE TRIGGER operations_are_never_emptied BEFORE TRUNCATE ON operations EXECUTE FUNCTION svc_refuse_change()`,
  `CREATE TRIGGER erasures_never_change BEFORE UPDATE OR DELETE ON erasures
    FOR EACH ROW EXECUTE FUNCTION svc_refuse_change()`,
  `CREATE TRIGGER erasures_are_never_emptied BEFORE TRUNCATE ON erasures EXECUTE FUNCTION svc_refuse_change()`,
];

export const CORE_TABLES: readonly string[] = [
  ...SETTINGS,
  ...OWNERS,
  ...EVENTS,
  ...OPERATIONS,
  ...NODES,
  ...EDGES,
  ...EVIDENCE,
  ...ERASURES,
  ...BLOBS,
  ...APPEND_ONLY,
];
