#ifndef SVC_VFS_H
#define SVC_VFS_H

#include "sqlite.h"

#define VFS_NAME "svccrypt"
/* For files without encryption: the default VFS with the rules of sidecar.h. */
#define PLAIN_VFS_NAME "svcplain"

/* Registers both once for the process, over the default one. Neither becomes the default itself. */
int vfs_register(void);

/* The VFS that does the input and output. Valid after vfs_register. */
sqlite3_vfs *vfs_real(void);

#endif
