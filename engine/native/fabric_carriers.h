/* fabric_carriers.h: the list of transports and devices that carried the data, as a fabric reads it
 * back from its library. The list is text with one line per entry: a letter for the use, the name,
 * and the device, if any, after a slash. A line with f is a fact about the provider, one with s a
 * setting of it: its name, and its value after the slash. */
#ifndef WEIR_FABRIC_CARRIERS_H
#define WEIR_FABRIC_CARRIERS_H

#include <stddef.h>

#define WEIR_CARRIERS 4096 /* maximum size of a list, in bytes */

enum weir_carrier_use {
    CARRIES_DATA = 'd',
    CARRIES_EMULATED = 'e', /* data as active messages, copied by a processor */
    CARRIES_OPAQUE = 'o',   /* data, over a lower layer that is not reported */
    CARRIES_POSSIBLY = 'p', /* data, by at least one of those possible */
    CARRIES_CONTROL = 'c',
    PROVIDER_FACT = 'f', /* carries no data */
    PROVIDER_SETTING = 's',
};

/* Adds a line unless the list has it. If space runs out it adds a data line without a name, so that
 * a truncated list is not taken for a complete one. */
void carrier_add(char *list, enum weir_carrier_use use, const char *name, const char *device);

/* Adds a fact or setting, unless it has more than one line or takes space that carriers may need.
 */
void carrier_state(char *list, enum weir_carrier_use use, const char *name, const char *value);

/* Adds the lanes of a UCX endpoint, parsed from the output of ucp_ep_print_info. mapped is the
 * transport that maps the peer's memory into this process, "" if none does. Protocols v1 move a
 * block over one lane that reaches the memory ("put[LANE]" in the text), preferably a mapping, and
 * use active messages if there is none. Protocols v2 (1.16 and later) choose by size among the
 * mapping and all rma_bw lanes, and do not report their choice. */
void carriers_ucx(char *list, char *text, const char *mapped, int second);

/* Like carriers_ucx, where blocks are messages: short ones use the active-message lanes, long ones
 * may use the lanes for large memory. UCX does not report the threshold. */
void carriers_ucx_messages(char *list, char *text);

/* Adds all transports and devices of a UCX context that reach other hosts, from the output of
 * ucp_context_print_info and the lanes that UCX selected. A selected transport with puts carries
 * data if its device does so itself, and emulates it otherwise; nothing is known of transports that
 * were not selected. */
void carriers_between_hosts(char *list, char *resources, char *lanes, int second,
                            int (*by_itself)(const char *device));

/* Returns the UCX transport that maps an address of this process, from /proc/self/maps. */
const char *carriers_mapping(const void *at);

#endif
