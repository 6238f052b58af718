/* The images of kernels*.cu, included as scripts/kernels wrote them. images.go embeds the same
 * files, because go build does not detect .incbin. */
#include "gpu_cuda.h"

/* Defines image_NAME: the bytes of a file, followed by a byte. */
#define IMAGE(name, file, behind)                                                                  \
    __asm__(".pushsection .rodata\n"                                                               \
            ".balign 64\n"                                                                         \
            ".globl image_" #name "\n"                                                             \
            ".hidden image_" #name "\n"                                                            \
            "image_" #name ":\n"                                                                   \
            ".incbin \"" file "\"\n" behind ".popsection\n");                                      \
    extern const unsigned char image_##name[]

#define END_OF_TEXT ".byte 0\n"

IMAGE(sm_90, "kernels_sm_90.cubin", "");
IMAGE(compute_90, "kernels_compute_90.ptx", END_OF_TEXT);
IMAGE(compute_75, "kernels_compute_75.ptx", END_OF_TEXT);

/* in the order of preference */
const struct cuda_image cuda_images[] = {
    {.major = 9, .minor = 0, .binary = 1, .bytes = image_sm_90},
    {.major = 9, .minor = 0, .binary = 0, .bytes = image_compute_90},
    {.major = 7, .minor = 5, .binary = 0, .bytes = image_compute_75},
};
const size_t cuda_nimages = sizeof cuda_images / sizeof *cuda_images;
