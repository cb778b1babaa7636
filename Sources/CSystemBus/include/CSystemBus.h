// What is used of libsystemd's D-Bus client, for the trait Logind.
//
// Declared here once more, for its own header brings the system's headers along, and Swift would take what those declare,
// `timespec` for one, for this module's. CSystemBus.c includes both: the compiler compares them.

#pragma once

#include <stdint.h>

typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;

int sd_bus_open_system(sd_bus **ret);
sd_bus *sd_bus_close_unref(sd_bus *bus);
int sd_bus_get_fd(sd_bus *bus);
int sd_bus_get_events(sd_bus *bus);
int sd_bus_get_timeout(sd_bus *bus, uint64_t *timeout_usec);
int sd_bus_process(sd_bus *bus, sd_bus_message **r);
int sd_bus_send(sd_bus *bus, sd_bus_message *m, uint64_t *cookie);

int sd_bus_message_new_method_call(
    sd_bus *bus, sd_bus_message **m, const char *destination, const char *path, const char *interface,
    const char *member);
int sd_bus_message_append_basic(sd_bus_message *m, char type, const void *p);
sd_bus_message *sd_bus_message_unref(sd_bus_message *m);

int sd_bus_message_get_reply_cookie(sd_bus_message *m, uint64_t *cookie);
int sd_bus_message_is_method_error(sd_bus_message *m, const char *name);
int sd_bus_message_is_signal(sd_bus_message *m, const char *interface, const char *member);
const char *sd_bus_message_get_sender(sd_bus_message *m);
const char *sd_bus_message_get_path(sd_bus_message *m);

int sd_bus_message_read_basic(sd_bus_message *m, char type, void *p);
int sd_bus_message_enter_container(sd_bus_message *m, char type, const char *contents);
int sd_bus_message_exit_container(sd_bus_message *m);
int sd_bus_message_skip(sd_bus_message *m, const char *types);
