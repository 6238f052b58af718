/* carriers.h: what carried the data, name by name, as a rank's fabric reads it back
 * from its library. The list is text, a line for each: a letter for the use, the
 * name, and the device after a slash if there is one. A line with f is a fact of the
 * provider, as the library read it back: its name, and its value after the slash. */
#ifndef WEIR_CARRIERS_H
#define WEIR_CARRIERS_H

#include <stddef.h>

#define WEIR_CARRIERS 4096 /* bytes of a list */

enum weir_carrier_use {
    CARRIES_DATA     = 'd',
    CARRIES_EMULATED = 'e', /* data as active messages, which a processor copies */
    CARRIES_OPAQUE   = 'o', /* data, by something beneath that is not told */
    CARRIES_POSSIBLY = 'p', /* one or some of all that are possible carried data */
    CARRIES_CONTROL  = 'c',
    PROVIDER_FACT    = 'f', /* carries nothing */
};

/* Adds a line, unless the list has it. Where there is no room it says so with a line
 * of data without a name: what is lost must not pass for something that was not there. */
void carrier_add(char *list, enum weir_carrier_use use, const char *name, const char *device);

/* Adds the lanes of an endpoint of UCX from what ucp_ep_print_info wrote. mapped is
 * the transport that maps the peer's memory into this process, "" if none does.
 *
 * UCX's first protocols move a block over one lane that reaches the memory ("put[LANE]"
 * in the text), a mapping before all else, and as active messages if there is none. Its
 * second ones, of 1.16 and later, choose by size among the mapping and all rma_bw lanes
 * and do not say which they chose. */
void carriers_ucx(char *list, char *text, const char *mapped, int second);

/* The same where blocks are messages: short ones go over the lanes for active messages,
 * long ones may go over those for large memory, and which are long UCX does not say. */
void carriers_ucx_messages(char *list, char *text);

/* Adds all transports and devices of a context of UCX that reach other hosts, from what
 * ucp_context_print_info wrote, and from the lanes that UCX chose among them: a transport
 * that has blocks put carries data if the device is one that does so by itself, emulates
 * it otherwise, and of those that were not chosen nothing is known. */
void carriers_between_hosts(char *list, char *resources, char *lanes, int second,
                            int (*by_itself)(const char *device));

/* The transport of UCX that maps an address of this process, from /proc/self/maps. */
const char *carriers_mapping(const void *at);

#endif
