/* What the C part was compiled with, for users. */
#include <features.h>

#include "weir.h"
#if __has_include(<ucp/api/ucp_version.h>)
#include <ucp/api/ucp_version.h>
#endif
#if __has_include(<rdma/fabric.h>)
#include <rdma/fabric.h>
#endif

#define TEXT(x) #x
#define VERSION(major, minor) TEXT(major) "." TEXT(minor)

#if defined(__clang__)
#define COMPILER "clang " VERSION(__clang_major__, __clang_minor__)
#else
#define COMPILER "gcc " __VERSION__
#endif
#ifdef UCP_API_MINOR
#define UCX "; headers of UCX " VERSION(UCP_API_MAJOR, UCP_API_MINOR)
#else
#define UCX ""
#endif
#ifdef FI_MINOR_VERSION
#define LIBFABRIC "; headers of libfabric " VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)
#else
#define LIBFABRIC ""
#endif

const char *weir_built(void)
{
    return COMPILER "; glibc " VERSION(__GLIBC__, __GLIBC_MINOR__) " or newer" UCX LIBFABRIC;
}
