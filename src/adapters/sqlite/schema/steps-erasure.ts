import { ERASED_HASH } from "../../../domain/erasure.ts";
import { MOVE, NAME, SAME } from "./steps-core.ts";

// The statements of a core step. A released one is never edited.

const ALL_BUT_TEXT = ["key", "id", "session_id", "scope", "role", "event_time", "timestamp"];
const IS_MOVED = `${SAME([...ALL_BUT_TEXT, "content", "content_hash", "metadata"])}
  AND ${MOVE(NAME("OLD.owner"), NAME("NEW.owner"))}`;
const IS_ERASED = `${SAME([...ALL_BUT_TEXT, "owner"])} AND OLD.content <> '' AND NEW.content = ''
  AND NEW.content_hash = '${ERASED_HASH}'
  AND EXISTS (SELECT 1 FROM erasures x WHERE x.event_id = OLD.id
    AND NEW.metadata = json_object('erased', x.forget_id, 'erased_at', x.erased_at))`;
const IS_PAYLOAD_ERASED = `${SAME(["key", "id", "op_type", "target_id", "actor_id", "namespace_id", "created_at"])}
  AND json_remove(NEW.payload, '$.erased', '$.record', '$.sha256') = '{}'
  AND NEW.payload ->> 'record' = json_object('erased', NEW.payload ->> 'erased')
  AND OLD.payload ->> 'erased' IS NULL
  AND EXISTS (SELECT 1 FROM erasures x WHERE x.forget_id = NEW.payload ->> 'erased')`;

// What an event or an operation says never changes. It can only be erased, as a whole and once, if this table says so.
export const ERASURES = `
CREATE TABLE erasures (
  key INTEGER PRIMARY KEY,
  forget_id TEXT NOT NULL,
  -- The event whose content is gone; of memories without one, their own id.
  event_id TEXT NOT NULL UNIQUE,
  erased_at TEXT NOT NULL,
  actor TEXT NOT NULL
) STRICT;
CREATE INDEX erasures_by_forgetting ON erasures (forget_id);
CREATE TRIGGER erasures_never_change BEFORE UPDATE ON erasures
BEGIN SELECT RAISE(ABORT, 'erasures are immutable'); END;
CREATE TRIGGER erasures_never_vanish BEFORE DELETE ON erasures
BEGIN SELECT RAISE(ABORT, 'erasures are immutable'); END;
CREATE TRIGGER erasures_are_never_replaced BEFORE INSERT ON erasures
WHEN EXISTS (SELECT 1 FROM erasures WHERE event_id = NEW.event_id OR key = NEW.key)
BEGIN SELECT RAISE(ABORT, 'erasures are immutable'); END;

-- The highest key of a memory that is gone: a key is never given to another one, since other processes may know it.
CREATE TABLE erased_keys (singleton INTEGER PRIMARY KEY CHECK (singleton = 1), newest INTEGER NOT NULL) STRICT;
INSERT INTO erased_keys VALUES (1, 0);

DROP TRIGGER events_never_change;
CREATE TRIGGER events_never_change BEFORE UPDATE ON events
WHEN NOT (${IS_MOVED}) AND NOT (${IS_ERASED})
BEGIN SELECT RAISE(ABORT, 'events are immutable'); END;

DROP TRIGGER operations_never_change;
CREATE TRIGGER operations_never_change BEFORE UPDATE ON operations
WHEN NOT (${IS_PAYLOAD_ERASED})
BEGIN SELECT RAISE(ABORT, 'operations are immutable'); END;
`;
