package native

import "embed"

// _ makes these files an input of the package: gpu_images.c includes them by .incbin, which the cache of go
// build does not track. Nothing refers to it, so the linker drops this second copy.
//
//go:embed kernels_sm_90.cubin kernels_compute_90.ptx kernels_compute_75.ptx
var _ embed.FS
