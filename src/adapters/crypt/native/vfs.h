#ifndef SVC_VFS_H
#define SVC_VFS_H

#include "sqlite.h"

#define VFS_NAME "svccrypt"

/* Registers the VFS once for the process, over the default one. Never becomes the default itself. */
int vfs_register(void);

/* The VFS that does the input and output. Valid after vfs_register. */
sqlite3_vfs *vfs_real(void);

#endif
