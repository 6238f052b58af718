/* sys_vector.h: the vector instructions of this processor. */
#ifndef WEIR_SYS_VECTOR_H
#define WEIR_SYS_VECTOR_H

/* Returns 512 with AVX-512 F, BW and VL, 256 with AVX2, and 0 otherwise. */
int vector_bits(void);

#endif
