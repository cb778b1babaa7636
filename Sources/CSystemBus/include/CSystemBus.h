// The functions of libsystemd's D-Bus client that the trait Logind uses, under names of this module.
//
// The first call of a function loads the library. So a build needs neither the library nor its headers, and a program
// also runs without it. `systembus_open_system` fails with -ELIBACC if the library cannot be loaded; then no other
// function may be called.

#pragma once

#include <stdint.h>

typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;

int systembus_open_system(sd_bus **ret);
sd_bus *systembus_close_unref(sd_bus *bus);
int systembus_get_fd(sd_bus *bus);
int systembus_get_events(sd_bus *bus);
int systembus_get_timeout(sd_bus *bus, uint64_t *timeout_usec);
int systembus_process(sd_bus *bus, sd_bus_message **r);
int systembus_send(sd_bus *bus, sd_bus_message *m, uint64_t *cookie);

int systembus_message_new_method_call(
    sd_bus *bus, sd_bus_message **m, const char *destination, const char *path, const char *interface,
    const char *member);
int systembus_message_append_basic(sd_bus_message *m, char type, const void *p);
sd_bus_message *systembus_message_unref(sd_bus_message *m);

int systembus_message_get_reply_cookie(sd_bus_message *m, uint64_t *cookie);
int systembus_message_is_method_error(sd_bus_message *m, const char *name);
int systembus_message_is_signal(sd_bus_message *m, const char *interface, const char *member);
const char *systembus_message_get_sender(sd_bus_message *m);
const char *systembus_message_get_path(sd_bus_message *m);

int systembus_message_read_basic(sd_bus_message *m, char type, void *p);
int systembus_message_enter_container(sd_bus_message *m, char type, const char *contents);
int systembus_message_exit_container(sd_bus_message *m);
int systembus_message_skip(sd_bus_message *m, const char *types);
