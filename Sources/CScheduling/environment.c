#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CScheduling.h"

#include <stdlib.h>
#include <unistd.h>

const char *scheduling_getenv(const char *name) {
#if defined(__linux__)
  return secure_getenv(name);
#else
  return issetugid() ? NULL : getenv(name);
#endif
}
