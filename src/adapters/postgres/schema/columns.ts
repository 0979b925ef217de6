/**
 * Column types. Texts are compared by code point, whatever the database's collation, as in a pack. Instants are canonical text, which is
 * exact and sorts by time. JSON is text, as in a pack, to preserve the order of its keys.
 */
export const TEXT = `text COLLATE "C"`;
export const INSTANT = TEXT;
export const JSON_TEXT = TEXT;
export const FLAG = "smallint";
/** `ownerKey`. */
export const OWNER = "bigint NOT NULL";
/** Numbers an owner's memories, and events, from 1. */
export const KEY = "integer";
