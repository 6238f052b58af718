package native

/*
#include <features.h>
#if __has_include(<ucp/api/ucp_version.h>)
#include <ucp/api/ucp_version.h>
#endif
#if __has_include(<rdma/fabric.h>)
#include <rdma/fabric.h>
#endif

#define TEXT_(x) #x
#define VERSION(major, minor) TEXT_(major) "." TEXT_(minor)

static const char built[] =
#if defined(__clang__)
	"clang " __clang_version__
#else
	"gcc " __VERSION__
#endif
	"; glibc " VERSION(__GLIBC__, __GLIBC_MINOR__) " or newer"
#ifdef UCP_API_MINOR
	"; headers of UCX " VERSION(UCP_API_MAJOR, UCP_API_MINOR)
#endif
#ifdef FI_MINOR_VERSION
	"; headers of libfabric " VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)
#endif
	;
static const char *weir_built(void) { return built; }
*/
import "C"

// Built says what the C part was compiled with.
func Built() string { return C.GoString(C.weir_built()) }
