/*
 * What keeps keys out of files that nobody meant to write: core dumps, swap, the memory images of other programs. All of it
 * is tried and nothing depends on it, since systems and limits may refuse.
 */
#ifndef SVC_PROTECT_H
#define SVC_PROTECT_H

#include <stddef.h>

/*
 * From now on this process leaves no core dump, and other programs of its user can neither attach to it nor read its memory.
 */
void protect_process(void);

/* Zeroed memory of whole pages that are not swapped out and left out of dumps; NULL when memory is short. */
void *secret_alloc(size_t size);
/* Wipes it and gives it back. */
void secret_free(void *memory, size_t size);

#endif
