#include "names.h"

#include <stddef.h>

#if defined(_WIN32)

#include <stdlib.h>
#include <windows.h>

/* The name in the system's own form, to be freed; NULL when memory is short or it is no UTF-8. */
static wchar_t *wide(const char *name) {
  int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, NULL, 0);
  wchar_t *text = length > 0 ? malloc(sizeof *text * (size_t)length) : NULL;
  if (text != NULL) (void)MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, text, length);
  return text;
}

/* What lies there, without following links; INVALID_HANDLE_VALUE, with the reason in GetLastError. */
static HANDLE open_to_look(const char *name) {
  enum { READ_NOTHING = 0 };
  wchar_t *text = wide(name);
  if (text == NULL) {
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return INVALID_HANDLE_VALUE;
  }
  HANDLE file = CreateFileW(text, READ_NOTHING, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
      OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS, NULL);
  DWORD reason = GetLastError();
  free(text);
  SetLastError(reason);
  return file;
}

int name_is_trusted(const char *name, const char *database, int must_exist) {
  (void)database;
  HANDLE file = open_to_look(name);
  if (file == INVALID_HANDLE_VALUE) {
    DWORD reason = GetLastError();
    return !must_exist && (reason == ERROR_FILE_NOT_FOUND || reason == ERROR_PATH_NOT_FOUND);
  }
  BY_HANDLE_FILE_INFORMATION found;
  int known = GetFileInformationByHandle(file, &found) != 0;
  (void)CloseHandle(file);
  const DWORD other = FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT | FILE_ATTRIBUTE_DEVICE;
  return known && (found.dwFileAttributes & other) == 0 && found.nNumberOfLinks == 1;
}

int name_is_taken(const char *name) {
  HANDLE file = open_to_look(name);
  if (file == INVALID_HANDLE_VALUE) return 0;
  (void)CloseHandle(file);
  return 1;
}

void name_remove(const char *name) {
  wchar_t *text = wide(name);
  if (text != NULL) (void)DeleteFileW(text);
  free(text);
}

#else

#include <sys/stat.h>
#include <unistd.h>

static int is_owner(uid_t uid, const char *database) {
  struct stat main_file;
  return uid == geteuid() || (database != NULL && stat(database, &main_file) == 0 && uid == main_file.st_uid);
}

int name_is_trusted(const char *name, const char *database, int must_exist) {
  struct stat found;
  if (lstat(name, &found) != 0) return !must_exist;
  return S_ISREG(found.st_mode) && found.st_nlink == 1 && is_owner(found.st_uid, database);
}

int name_is_taken(const char *name) {
  struct stat found;
  return lstat(name, &found) == 0;
}

void name_remove(const char *name) { (void)unlink(name); }

#endif
