/* mem_vram.h: memory of a GPU, by allocation method. */
#ifndef WEIR_MEM_VRAM_H
#define WEIR_MEM_VRAM_H

#include "memory.h"

/* cuMemAlloc, shared by 64-byte IPC handles; cuMemCreate and cuMemMap, shared by descriptors;
 * cuMemAllocFromPoolAsync, shared by both. */
enum weir_vram_alloc { VRAM_DEVICE, VRAM_VMM, VRAM_POOL, VRAM_ALLOCS };

const struct weir_memory *weir_mem_vram(int alloc); /* NULL: no such method */

#endif
