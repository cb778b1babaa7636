#include "CFuzz.h"

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*one)(const uint8_t *bytes, size_t count));

int fuzz_run(int argc, char **argv, int (*one)(const uint8_t *bytes, size_t count)) {
  return LLVMFuzzerRunDriver(&argc, &argv, one);
}
