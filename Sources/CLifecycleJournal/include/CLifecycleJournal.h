// What a journal needs of the system and Swift cannot reach: a signal handler, and room on the disk.

#pragma once

#include <stdint.h>

// Lets a crash of this process append a line to an open journal. `instant` is the present time of the journal's records, in
// nanoseconds. `limit` is the largest length of the file, or negative for none. The first call installs the handlers; on
// the main thread it also sets up a signal stack, if there is none. Returns a number for journal_crash_disarm, or -1 if
// too many journals are open.
int journal_crash_arm(int descriptor, int64_t instant, int64_t limit);

// Forgets the journal. The descriptor may be closed afterwards.
void journal_crash_disarm(int slot);

// Reserves room on the disk for bytes of a file from an offset on, without a change of its size. Returns 0, or -1 with errno.
int journal_reserve(int descriptor, int64_t offset, int64_t count);
