#include "protect.h"

#include "cipher.h"

#if defined(_WIN32)

#include <windows.h>

/* The system writes no dump of a process unless its user has asked for that. */
void protect_process(void) {}

void *secret_alloc(size_t size) {
  void *memory = VirtualAlloc(NULL, size, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
  if (memory != NULL) (void)VirtualLock(memory, size);
  return memory;
}

void secret_free(void *memory, size_t size) {
  cipher_wipe(memory, size);
  /* Unlocks it as well. */
  (void)VirtualFree(memory, 0, MEM_RELEASE);
}

#else

#include <sys/mman.h>
#include <sys/resource.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#if !defined(MAP_ANONYMOUS)
#define MAP_ANONYMOUS MAP_ANON
#endif

void protect_process(void) {
  struct rlimit none = {0, 0};
  (void)setrlimit(RLIMIT_CORE, &none);
#if defined(__linux__)
  (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

void *secret_alloc(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  (void)mlock(memory, size);
#if defined(MADV_DONTDUMP)
  (void)madvise(memory, size, MADV_DONTDUMP);
#endif
  return memory;
}

void secret_free(void *memory, size_t size) {
  cipher_wipe(memory, size);
  /* Unlocks it as well. */
  (void)munmap(memory, size);
}

#endif
