// Compiles only while the declarations agree with libsystemd's own.
#include "CSystemBus.h"

#ifdef LOGIND
#include <systemd/sd-bus.h>
#endif
