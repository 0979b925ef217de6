/**
 * Types of columns. Texts are compared by code point, whatever the database was created with, so that every order is that of a pack.
 * Instants are canonical text, which has no precision to lose and whose order is that of time. JSON is text, as a pack has it: the
 * order of its keys stays.
 */
export const TEXT = `text COLLATE "C"`;
export const INSTANT = TEXT;
export const JSON_TEXT = TEXT;
export const FLAG = "smallint";
/** `ownerKey`. */
export const OWNER = "bigint NOT NULL";
/** Numbers the memories, and the events, of one owner from 1. */
export const KEY = "integer";
