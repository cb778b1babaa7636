#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer, which calls `one` with input after input; returns the status of the process.
int fuzz_run(int argc, char **argv, int (*one)(const uint8_t *bytes, size_t count));
