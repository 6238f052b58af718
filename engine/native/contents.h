/* contents.h: what stands in the regions of a case, pass by pass, and whether what
 * arrived is that. */
#ifndef WEIR_CONTENTS_H
#define WEIR_CONTENTS_H

#include "role.h"

enum pass { PASS_POISON, PASS_VERIFY, PASS_TIMED, PASS_FULL };

/* Fresh contents where this rank sends from, poison where it receives. */
int contents_prepare(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                     uint64_t pass);

/* No message of a ping-pong has arrived. */
int contents_no_ping(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o);

/* Makes everything stale that warm-up moved. */
int contents_renew(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o);

/* Checks what arrived. Of the timed part that is what its requests touched: done
 * is how many this rank has made, and targets were told. */
int contents_check(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                   uint64_t pass, int timed, uint64_t done);

/* Tells the targets how many requests were made to each. */
int contents_tell(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                  uint64_t done);

/* A word for a peer that belongs to this case: the number, at most 2^40, or -1. */
uint64_t contents_word(const struct weir_case *c, uint64_t number);
int64_t  contents_number(const struct weir_case *c, uint64_t word);

#endif
