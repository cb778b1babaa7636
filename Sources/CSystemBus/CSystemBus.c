#if defined(LOGIND)
#include "CSystemBus.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

// If the library's headers are installed, the compiler checks each declaration against them.
#if __has_include(<systemd/sd-bus.h>)
#include <systemd/sd-bus.h>
#define COMPARE(name) \
  _Static_assert(__builtin_types_compatible_p(__typeof__(systembus_##name), __typeof__(sd_bus_##name)), #name)
#else
#define COMPARE(name) _Static_assert(1, #name)
#endif

// Every function that is used, for the table below.
#define FUNCTIONS(USE)                                                                                             \
  USE(open_system) USE(close_unref) USE(get_fd) USE(get_events) USE(get_timeout) USE(process) USE(send)             \
  USE(message_new_method_call) USE(message_append_basic) USE(message_unref) USE(message_get_reply_cookie)           \
  USE(message_is_method_error) USE(message_is_signal) USE(message_get_sender) USE(message_get_path)                 \
  USE(message_read_basic) USE(message_enter_container) USE(message_exit_container) USE(message_skip)

#define DECLARE(name) __typeof__(systembus_##name) *name;
static struct { FUNCTIONS(DECLARE) } library;

static bool is_loaded;

#define FIND(name) \
  if ((*(void **)&library.name = dlsym(handle, "sd_bus_" #name)) == NULL) return;

static void load(void) {
  // The handle is never closed, because the functions are called until the process ends.
  void *handle = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return;
  FUNCTIONS(FIND)
  is_loaded = true;
}

int systembus_open_system(sd_bus **ret) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_loaded ? library.open_system(ret) : -ELIBACC;
}

#define CALL(result, name, parameters, arguments) \
  COMPARE(name);                                  \
  result systembus_##name parameters { return library.name arguments; }

COMPARE(open_system);
CALL(sd_bus *, close_unref, (sd_bus *bus), (bus))
CALL(int, get_fd, (sd_bus *bus), (bus))
CALL(int, get_events, (sd_bus *bus), (bus))
CALL(int, get_timeout, (sd_bus *bus, uint64_t *timeout_usec), (bus, timeout_usec))
CALL(int, process, (sd_bus *bus, sd_bus_message **r), (bus, r))
CALL(int, send, (sd_bus *bus, sd_bus_message *m, uint64_t *cookie), (bus, m, cookie))
CALL(
    int, message_new_method_call,
    (sd_bus *bus, sd_bus_message **m, const char *destination, const char *path, const char *interface,
     const char *member),
    (bus, m, destination, path, interface, member))
CALL(int, message_append_basic, (sd_bus_message *m, char type, const void *p), (m, type, p))
CALL(sd_bus_message *, message_unref, (sd_bus_message *m), (m))
CALL(int, message_get_reply_cookie, (sd_bus_message *m, uint64_t *cookie), (m, cookie))
CALL(int, message_is_method_error, (sd_bus_message *m, const char *name), (m, name))
CALL(
    int, message_is_signal, (sd_bus_message *m, const char *interface, const char *member), (m, interface, member))
CALL(const char *, message_get_sender, (sd_bus_message *m), (m))
CALL(const char *, message_get_path, (sd_bus_message *m), (m))
CALL(int, message_read_basic, (sd_bus_message *m, char type, void *p), (m, type, p))
CALL(int, message_enter_container, (sd_bus_message *m, char type, const char *contents), (m, type, contents))
CALL(int, message_exit_container, (sd_bus_message *m), (m))
CALL(int, message_skip, (sd_bus_message *m, const char *types), (m, types))
#endif
