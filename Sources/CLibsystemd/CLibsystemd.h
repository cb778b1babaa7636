// The D-Bus client of libsystemd.
#include <systemd/sd-bus.h>
