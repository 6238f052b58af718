package environ

import (
	"strings"
	"testing"
)

// harmful are variables with which a library loads code, runs a program, or reads or writes
// a file that the value names, or that turn on something that does.
var harmful = strings.Fields(`
	UCX_LOG_FILE UCX_LOG_FILE_FILTER UCX_GDB_COMMAND UCX_HANDLE_ERRORS UCX_ERROR_SIGNALS UCX_MODULES UCX_MODULE_DIR UCX_MODULES_PATH
	UCX_CONFIG_DIR UCX_ERROR_MAIL_TO UCX_ERROR_MAIL_FOOTER UCX_PROFILE_FILE UCX_STATS_DEST UCX_POSIX_DIR RDMAV_DRIVERS IBV_DRIVERS
	HOME HWLOC_PLUGINS_PATH NVTX_INJECTION64_PATH OPENSSL_MODULES OPENSSL_ENGINES OPENSSL_CONF NIXL_TELEMETRY_ENABLE NIXL_TELEMETRY_DIR
	AWS_CONFIG_FILE CUDA_COREDUMP_FILE GOCOVERDIR TMPDIR LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT FI_PROVIDER_PATH GCONV_PATH GLIBC_TUNABLES
	NIXL_PLUGIN_DIR PATH WEIR_NIXL_LIBRARY CUDA_INJECTION64_PATH NCCL_NET_PLUGIN
	UCX_LOG_FILE_SIZE UCX_LOG_LEVEL_TRIGGER UCX_PROFILE_MODE UCX_STATS_TRIGGER UCX_MEMTRACK_DEST UCX_VFS_ENABLE UCX_VFS_SOCK_PATH
	UCX_PROTO_INFO_DIR UCX_PLUGIN_PATH UCX_MEM_EVENTS UCX_MEM_MMAP_HOOK_MODE UCX_DEBUG_SIGNO FI_VERBS_XRCD_FILENAME FI_HOOK
	FI_EFA_HOST_ID_FILE NIXL_CONFIG_FILE NCCL_DEBUG_FILE NCCL_TOPO_FILE NCCL_TOPO_DUMP_FILE NCCL_GRAPH_FILE NCCL_CONF_FILE
	NCCL_TUNER_PLUGIN NCCL_PROFILER_PLUGIN NCCL_NET NVSHMEM_BOOTSTRAP_PLUGIN NVSHMEM_DEBUG_FILE CUDA_CACHE_PATH CUDA_MPS_PIPE_DIRECTORY
	CUDA_MPS_LOG_DIRECTORY CUDA_ENABLE_COREDUMP_ON_EXCEPTION HWLOC_XMLFILE KMP_CPUINFO_FILE OMP_TOOL_LIBRARIES OMP_TOOL MALLOC_TRACE
	LD_DEBUG_OUTPUT GODEBUG GOTRACEBACK XDG_CONFIG_HOME PYTHONPATH BASH_ENV WEIR_ETCD_PASSWORD UCX_TLSS ucx_tls
`)

// further are variables that the security review does not name.
var further = strings.Fields(`
	UCX_CUDA_COPY_MODULE_DIR FI_OPX_TRACE_DUMP FI_LOG_PROV_FILE NCCL_COMM_ID_FILE NCCL_RAS_ADDR NCCL_SHM_PATH CUFILE_ENV_PATH_JSON
	CUDA_DEBUGGER_SOFTWARE_PREEMPTION CUDA_LOG_FILE HSA_TOOLS_LIB ROCR_PRELOAD LD_BIND_NOT MALLOC_CONF OMPI_MCA_mca_base_param_files PMIX_MCA_base
	LIBFABRIC_CONFIG SSLKEYLOGFILE PERL5OPT GIT_SSH_COMMAND ASAN_OPTIONS
`)

// tuning are variables that performance engineers set.
var tuning = strings.Fields(`
	UCX_TLS UCX_NET_DEVICES UCX_RNDV_THRESH UCX_RNDV_SCHEME UCX_MAX_RNDV_RAILS UCX_MAX_EAGER_RAILS UCX_IB_AR_ENABLE UCX_IB_GID_INDEX
	UCX_IB_TRAFFIC_CLASS UCX_IB_SL UCX_RC_PATH_MTU UCX_PROTO_ENABLE UCX_RCACHE_ENABLE UCX_LOG_LEVEL UCX_ZCOPY_THRESH UCX_SOCKADDR_TLS_PRIORITY
	FI_PROVIDER FI_LOG_LEVEL FI_TCP_IFACE FI_HMEM_DISABLE_P2P FI_EFA_USE_DEVICE_RDMA FI_EFA_ENABLE_SHM_TRANSFER FI_EFA_IFACE FI_MR_CACHE_MAX_COUNT
	FI_VERBS_DEVICE_NAME NCCL_DEBUG NCCL_IB_HCA NCCL_SOCKET_IFNAME NCCL_P2P_LEVEL NVSHMEM_SYMMETRIC_SIZE CUDA_DEVICE_MAX_CONNECTIONS OMP_NUM_THREADS
	OMP_PROC_BIND KMP_AFFINITY GOMP_CPU_AFFINITY MKL_NUM_THREADS OPENBLAS_NUM_THREADS OPENBLAS_CORETYPE OPENBLAS_L2_SIZE MLX5_SINGLE_THREADED NIXL_LOG_LEVEL
`)

func TestWhatIsRefused(t *testing.T) {
	for _, name := range append(further, harmful...) {
		if err := (Policy{}).Check(name, "1"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if err := (Policy{}).CheckName(name); err == nil {
			t.Errorf("%s is permitted as long as its value is not known", name)
		}
	}
	for _, value := range []string{"/home/user/.bashrc", "a/b", "`id`", "$(id)", "tcp\nLD_PRELOAD=x"} {
		if err := (Policy{}).Check("UCX_TLS", value); err == nil || strings.Contains(err.Error(), value) {
			t.Errorf("%q: %v", value, err)
		}
	}
}

func TestWhatIsPermitted(t *testing.T) {
	for _, name := range tuning {
		if err := (Policy{}).Check(name, "^tcp,rc:1-2"); err != nil {
			t.Error(err)
		}
		if !Tuning(name) {
			t.Errorf("%s is not carried", name)
		}
	}
	for _, name := range append([]string{"MY_OWN"}, harmful...) {
		if err := (Policy{Names: []string{name}}).Check(name, "/any/value"); err != nil {
			t.Errorf("the owner permits it: %v", err)
		}
		if err := (Policy{All: true}).Check(name, "/any/value"); err != nil {
			t.Errorf("an agent with commands: %v", err)
		}
	}
}

// The lists have nothing that belongs to one host, but what chooses among its GPUs.
func TestTheLists(t *testing.T) {
	own := map[string]bool{
		"CUDA_VISIBLE_DEVICES": true, "CUDA_DEVICE_ORDER": true, "GOMAXPROCS": true, "GOMEMLIMIT": true,
		"WEIR_SELFTEST_CORRUPT": true,
	}
	if n := len(permitted()); n < 1000 {
		t.Errorf("%d names", n)
	}
	for name := range permitted() {
		if strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			t.Errorf("%q is no name", name)
		}
		if own[name] {
			continue
		}
		if !Library(name) {
			t.Errorf("%s is no library variable", name)
		}
		if OfHost(name) {
			t.Errorf("%s belongs to one host", name)
		}
	}
}
