/* Ours: modes.h uses no type of this one. */
