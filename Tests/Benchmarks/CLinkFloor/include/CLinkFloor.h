// What a link is measured beside: a plain program with libmosquitto. Without the trait MQTT there is the meter alone.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Counts the events that arrive, and lets one thread wait for them. The events of a meter are numbered 1, 2, 3, …
typedef struct link_meter link_meter;

link_meter *link_meter_new(void);
void link_meter_free(link_meter *meter);

// Notes that an event has arrived; one thread at a time calls it.
void link_meter_note(link_meter *meter, long number);

// The number of the last event, and how many came out of order or were left out.
long link_meter_count(const link_meter *meter);
long link_meter_faults(const link_meter *meter);

// Waits until an event has arrived; false if it does not within 20 s. `time` is when the last one arrived, in nanoseconds of
// CLOCK_MONOTONIC.
bool link_meter_wait(link_meter *meter, long number, uint64_t *time);

uint64_t link_clock(void);

// Writes the event as a link sends it; returns its length.
size_t link_plain_format(char *text, size_t size, const char *topic, const char *source, long number);

// A publisher and a subscriber, each a client of libmosquitto with the library's own thread.
typedef struct link_plain link_plain;

// NULL if there is no connection.
link_plain *link_plain_open(int port, const char *topic, int quality, unsigned most_in_flight, link_meter *meter);
void link_plain_close(link_plain *plain);

// Publishes events up to a number, with at most so many on their way; false if one of them does not arrive.
bool link_plain_send(link_plain *plain, long through, long window);
