/* loop_contents.h: fills the regions of a case for each pass, and checks what arrived. */
#ifndef WEIR_LOOP_CONTENTS_H
#define WEIR_LOOP_CONTENTS_H

#include "weir.h"

struct weir_role;

enum pass { PASS_POISON, PASS_VERIFY, PASS_TIMED, PASS_FULL };

/* Fills what this rank sends from with the pass's pattern, and poisons where it receives. */
int contents_prepare(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                     uint64_t pass);

/* Resets the state of a ping-pong: no message has arrived. */
int contents_no_ping(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o);

/* Makes everything stale that the warm-up moved. */
int contents_renew(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o);

/* Checks the received data; after the timed part only what its requests touched. done: requests
 * made by this rank; targets use the counts of contents_send_counts. */
int contents_check(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                   uint64_t pass, int timed, uint64_t done);

/* Sends each target the number of requests made to it. */
int contents_send_counts(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                         uint64_t done);

/* Returns the word that sends a number, at most 2^40, or -1, to a peer in this case. */
uint64_t contents_word(const struct weir_case *c, uint64_t number);
int64_t contents_number(const struct weir_case *c, uint64_t word);

#endif
