/* A libcuda.so.1 without a GPU: the functions that NIXL's plugin LIBFABRIC imports, which all fail
 * with CUDA_ERROR_NOT_INITIALIZED. */
int cuCtxSetCurrent(void *context)
{
    (void)context;
    return 3;
}
int cuDeviceGetPCIBusId(char *text, int n, int device)
{
    (void)text, (void)n, (void)device;
    return 3;
}
int cuPointerGetAttributes(unsigned n, int *attributes, void **data, unsigned long long pointer)
{
    (void)n, (void)attributes, (void)data, (void)pointer;
    return 3;
}
