/*
 * Names of files, as the system has them: what lies there, and whose it is.
 */
#ifndef SVC_NAMES_H
#define SVC_NAMES_H

/*
 * Whether the file of that name may be used beside a database: a regular file with one name, of this user or of the owner of
 * `database`. A second name could be a link that somebody made to a file of this user, to have it overwritten. On Windows the
 * rights of the folder stand for the owner. A name that is free is trusted unless the file `must_exist`.
 */
int name_is_trusted(const char *name, const char *database, int must_exist);

/* Whether there is anything of that name. A link is not followed. */
int name_is_taken(const char *name);

/* Removes a file, if the system allows it. */
void name_remove(const char *name);

#endif
