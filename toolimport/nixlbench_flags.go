package toolimport

var memoryKinds = map[string]string{"DRAM": "dram", "VRAM": "vram"}

const (
	noStorage = "storage is not measured by this version of weir"
	gpuStarts = "requests that a kernel of a GPU starts are not measured by this version of weir"
	meets     = "weir's processes find each other without it"
)

func ofStorage(name string, takes kind) flag { return row(unavailable, name, takes, "", noStorage) }

func secret(name string) flag {
	f := ofStorage(name, text)
	f.secret = true
	return f
}

// nixlbench is described in benchmark/nixlbench of ai-dynamo/nixl (src/utils/utils.cpp); its
// flags and their defaults are those of commit 8770b655a of August 2026.
var nixlbench = &tool{
	name: "nixlbench",
	doc: "A FILE may also be its own --config_file, which ends with .toml. " +
		"Buffers are private memory of a process there (alloc heap).",
	style: gflags, settings: nixlbenchConfig, native: nixlbenchRun, command: nixlbenchCommand, nodes: nixlbenchNodes,
	processes: nixlbenchProcess, ofProcess: names("device_list"),
	measures: func(c *call) string { return c.text("backend") + "-" + c.text("op_type") },
	flags: []flag{
		use("config_file", text, "", "its keys are flags, which those of the command line go before; an unknown key is an error here, "+
			"where nixlbench does not say that it ignores it"),
		ignore("benchmark_group", text, meets),
		use("runtime_type", text, "ETCD", "nothing: "+meets),
		ignore("etcd_endpoints", text, meets),
		use("asio_address", text, "127.0.0.1", "with --runtime_type ASIO whether both processes are on one host"),
		ignore("asio_port", number, meets),
		lose("worker_type", text, "nixl", "NVSHMEM is a library that weir does not drive"),
		use("backend", text, "UCX", "fabric nixl with `nixl_backend` UCX, LIBFABRIC, Mooncake or UCCL; others are errors: of storage, or of GPUs"),

		option("initiator_seg_type", text, "DRAM", "initiator", memoryKinds),
		option("target_seg_type", text, "DRAM", "target", memoryKinds),
		use("scheme", text, "pairwise", "`pattern`: pairwise, onetomany and manytoone, the latter with one device at the other side; tp with as many at both is pairwise"),
		use("mode", text, "SG", "MG: its devices are ranks of their own here"),
		option("op_type", text, "WRITE", "op", map[string]string{"WRITE": "write", "READ": "read"}),
		option("check_consistency", boolean, "", "verify", map[string]string{"true": "sample", "false": "none"}),
		use("total_buffer_size", number, "8589934592",
			"nothing, as weir's buffers are as large as requests need; a note where nixlbench itself would refuse it"),
		use("start_block_size", number, "4096", "`block_size`, doubled up to max_block_size"),
		use("max_block_size", number, "67108864", "with start_block_size"),
		use("start_batch_size", number, "1", "`batch`, doubled up to max_batch_size"),
		use("max_batch_size", number, "1", "with start_batch_size"),
		use("num_iter", number, "1000", "`iterations` of a thread, as nixlbench rounds them: up to a multiple of num_threads × large_blk_iter_ftr, "+
			"divided by that factor above 1 MiB"),
		use("warmup_iter", number, "100", "`warmup`, rounded likewise"),
		use("large_blk_iter_ftr", number, "16", "with num_iter"),
		option("num_threads", number, "1", "threads", nil),
		use("num_initiator_dev", number, "1", "with num_target_dev `ranks`"),
		use("num_target_dev", number, "1", "with num_initiator_dev `ranks`"),
		option("recreate_xfer", boolean, "false", "nixl_recreate", nil),
		option("reregister_mem", boolean, "false", "nixl_reregister", nil),
		option("prepared_xfer", boolean, "false", "nixl_prepared", nil),
		option("pipeline_depth", number, "1", "in_flight", nil),
		option("enable_pt", boolean, "false", "nixl_progress_thread", nil),
		use("progress_threads", number, "0", "num_threads in `nixl_params`"),
		option("enable_vmm", boolean, "", "vram_alloc", map[string]string{"true": "vmm", "false": "device"}),
		option("use_hugepages", boolean, "false", "pages", map[string]string{"true": "2MiB", "false": "default"}),
		use("device_list", text, "all", "one name with backend UCX: `UCX_NET_DEVICES`; several are not mapped: nics_per_rank of place gives ranks devices of their own"),
		lose("use_device_api", boolean, "false", gpuStarts),
		row(unavailable, "gpunetio_device_list", text, "", gpuStarts),
		row(unavailable, "gpunetio_oob_list", text, "", gpuStarts),

		ofStorage("filepath", text), ofStorage("filenames", text), ofStorage("num_files", number),
		ofStorage("storage_enable_direct", boolean),
		lose("randomize_location_mode", text, "none", "weir's requests go over their places in order"),
		ignore("randomize_location_mode_seed", number, "it is the seed of randomize_location_mode"),
		ofStorage("gds_batch_pool_size", number), ofStorage("gds_batch_limit", number),
		ofStorage("gds_mt_num_threads", number),
		ofStorage("posix_api_type", text), ofStorage("posix_ios_pool_size", number),
		ofStorage("posix_kernel_queue_size", number),
		ofStorage("hf3fs_iopool_size", number),
		secret("obj_access_key"), secret("obj_secret_key"), secret("obj_session_token"),
		ofStorage("obj_bucket_name", text), ofStorage("obj_scheme", text), ofStorage("obj_region", text),
		ofStorage("obj_use_virtual_addressing", boolean), ofStorage("obj_endpoint_override", text),
		ofStorage("obj_req_checksum", text), ofStorage("obj_ca_bundle", text), ofStorage("obj_crt_min_limit", number),
		ofStorage("obj_accelerated_enable", boolean), ofStorage("obj_accelerated_type", text),
		ofStorage("azure_blob_account_url", text), ofStorage("azure_blob_container_name", text),
		secret("azure_blob_connection_string"),
		ofStorage("infinia_config_file", text),
		ofStorage("gusli_client_name", text), ofStorage("gusli_max_simultaneous_requests", number),
		ofStorage("gusli_config_file", text),
		ofStorage("gusli_device_byte_offsets", text), ofStorage("gusli_device_security", text),
		ofStorage("gusli_try_use_uring", boolean),

		lose("flagfile|fromenv|tryfromenv", text, "", "nixlbench refuses it"),
		ignore("undefok", text, "it is about flags that nixlbench does not have"),
		lose("help|helpfull|helpshort|helppackage|helpxml|version", boolean, "false",
			"nixlbench measures nothing with it"),
		lose("helpmatch|helpon|tab_completion_word", text, "", "nixlbench measures nothing with it"),
		ignore("tab_completion_columns", number, "it is for a shell's completion"),
	},
}
