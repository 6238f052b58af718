package toolimport

import (
	"fmt"
	"strings"
)

const (
	noQueue  = "UCX decides about its queues itself"
	noCrypto = "weir encrypts nothing"
	noRate   = "weir posts as fast as its window lets it"
	noMulti  = "weir sends to one peer at a time"
)

// perftest are the programs of linux-rdma/perftest; flags and defaults are those of
// version 4.5 in Debian 12, and the memory of GPUs of later ones.
var perftest = &tool{
	name:     "perftest",
	programs: names("ib_write_bw|ib_write_lat|ib_read_bw|ib_read_lat|ib_send_bw|ib_send_lat|ib_atomic_bw|ib_atomic_lat"),
	doc: "Fabric ucx, which drives the same devices: ib_write is api rma with op write, ib_read with op read, ib_send api tag; " +
		"ib_write_lat and ib_send_lat are mode pingpong, ib_read_lat is mode stream with one request in flight. " +
		"There is no warm-up unless it is asked for. perftest drives the queue pairs itself, UCX adds its protocols. Buffers are private memory of a process (alloc heap).",
	style: getopt, twoSided: true, native: perftestRun, command: perftestCommand, nodes: nodesOfServer,
	measures: (*call).program,
	flags: []flag{
		use("all|a", nothing, "", "`block_size` from 2 to 8 MiB, doubled"),
		use("size|s", number, "", "`block_size`; without it 65536 of a test with _bw, else 2"),
		use("iters|n", number, "", "`iterations`; without it 5000 of ib_write_bw, else 1000"),
		use("duration|D", number, "", "`duration` in seconds"),
		use("tx-depth|t", number, "128", "`in_flight` of a test with _bw"),
		option("bidirectional|b", nothing, "", "bidirectional", map[string]string{"true": "true"}),
		use("perform_warm_up", nothing, "", "`warmup` of as many requests as are in flight"),
		option("events|e", nothing, "", "wait", map[string]string{"true": "sleep"}),
		option("use_hugepages", nothing, "", "pages", map[string]string{"true": "2MiB"}),
		use("use_cuda|use_cuda_bus_id|use_rocm|use_hl|use_mlu|use_neuron", text, "", "`initiator` and `target` vram"),
		row(unavailable, "cuda_mem_type", number, "", "weir's memory of GPUs is allocated as vram_alloc says"),
		row(unavailable, "use_cuda_dmabuf|use_data_direct|use_rocm_dmabuf", nothing, "",
			"the fabric's library registers memory of GPUs as it can"),

		use("connection|c", text, "RC", "`UCX_TLS`: RC is rc, UD is ud, DC is dc, SRD is srd; others are not mapped"),
		use("ib-dev|d", text, "", "with ib-port `UCX_NET_DEVICES`"),
		use("ib-port|i", number, "1", "with ib-dev"),
		variable("gid-index|x", number, "UCX_IB_GID_INDEX", nil),
		variable("sl|S", number, "UCX_IB_SL", nil),
		variable("mtu|m", number, "UCX_IB_PATH_MTU", nil),
		variable("tclass", number, "UCX_IB_TRAFFIC_CLASS", nil),
		variable("hop_limit|L", number, "UCX_IB_HOP_LIMIT", nil),
		variable("disable_pcie_relaxed", nothing, "UCX_IB_PCI_RELAXED_ORDERING", map[string]string{"true": "off"}),

		lose("qp|q", number, "1", "option threads is as near: endpoints with memory of their own"),
		lose("dualport|O", nothing, "", "weir's ranks use one path, or those that UCX stripes over"),
		lose("inline_size|I", number, "", noQueue), lose("inline_recv", number, "0", noQueue),
		lose("post_list|l", number, "1", noQueue),
		lose("recv_post_list", number, "1", noQueue), lose("cq-mod|Q", number, "", noQueue),
		lose("outs|o", number, "", noQueue),
		lose("rx-depth|r", number, "", noQueue), lose("use-srq", nothing, "", noQueue),
		lose("use_old_post_send", nothing, "", noQueue),
		lose("mr_per_qp", nothing, "", noQueue),
		lose("mcg|g", number, "", noMulti), lose("MGID|M", text, "", noMulti),
		lose("odp", nothing, "", "weir registers all memory before"),
		lose("mmap", text, "", "weir's buffers are no files"),
		lose("mmap-offset", number, "0", "weir's buffers are no files"),
		lose("reversed", nothing, "", "exchange the hosts instead"),
		lose("run_infinitely", nothing, "", "a run of weir ends"),
		lose("latency_gap", number, "0", noRate), lose("burst_size", number, "", noRate),
		lose("typical_pkt_size", number, "", noRate),
		lose("rate_limit", text, "", noRate), lose("rate_limit_type", text, "", noRate),
		ignore("rate_units", text, "it is the unit of rate_limit"),
		lose("pkey_index", number, "0", "UCX_IB_PKEY takes the key, and no index"),
		lose("tos|T", number, "", "UCX_IB_TRAFFIC_CLASS is what it becomes in the header"),
		lose("aes_xts", nothing, "", noCrypto), lose("encrypt_on_tx", nothing, "", noCrypto),
		lose("sig_before", nothing, "", noCrypto),
		lose("aes_block_size", number, "512", noCrypto), lose("data_enc_keys_number", number, "1", noCrypto),
		lose("kek_path", text, "", noCrypto),
		lose("credentials_path", text, "", noCrypto), lose("data_enc_key_app_path", text, "", noCrypto),
		lose("log_dci_streams", number, "0", noQueue), lose("log_active_dci_streams", number, "0", noQueue),
		lose("dlid", number, "", "UCX takes the address that the peer tells"),
		lose("atomic_type|A", text, "", noAtomics),

		ignore("margin|f", number, "weir counts the time in which all initiators move"),
		ignore("port|p", text, meets), ignore("rdma_cm|R", nothing, meets), ignore("com_rdma_cm|z", nothing, meets),
		ignore("ipv6", nothing, meets), ignore("source_ip", text, meets), ignore("bind_source_ip", text, meets),
		ignore("dont_xchg_versions", nothing, meets), ignore("force-link", text, "UCX looks at the link itself"),
		ignore("qp-timeout|u", number, "it decides after a loss only"),
		ignore("retry_count", number, "it decides after a loss only"),
		ignore("CPU-freq|F", nothing, "weir records the governors"),
		ignore("vector|X", number, "UCX chooses its completion vector"),
		ignore("wait_destroy", number, "it is after the measurement"),
		ignore("limit_bw|w", text, "an assertion says what must hold, as bandwidth >= 20 GB/s"),
		ignore("limit_msgrate|y", text, "an assertion says what must hold, as message_rate >= 1M/s"),
		ignore("noPeak|N", nothing, printing), ignore("report-cycles|C", nothing, printing),
		ignore("report-histogram|H", nothing, printing),
		ignore("report-unsorted|U", nothing, printing),
		ignore("report-counters|W", text, "weir records the counters of the ports"),
		ignore("report-both", nothing, printing), ignore("report_gbits", nothing, printing),
		ignore("report-per-port", nothing, printing),
		ignore("out_json", nothing, printing), ignore("out_json_file", text, printing),
		ignore("cpu_util", nothing, "weir has cpu_time_per_gb"),
		ignore("output", text, printing), ignore("help|h", nothing, printing), ignore("version|V", nothing, printing),
	},
}

func perftestRun(c *call) error {
	verb, isLatency := strings.CutSuffix(strings.TrimPrefix(c.program(), "ib_"), "_lat")
	verb = strings.TrimSuffix(verb, "_bw")
	api, op, mode := "rma", "write", "stream"
	switch verb {
	case "read":
		op = "read"
	case "send":
		api = "tag"
	case "atomic":
		return fmt.Errorf("%s: %s; --as-command runs it itself", c.program(), noAtomics)
	}
	if isLatency && verb != "read" {
		mode = "pingpong"
	}
	c.set("fabric", literal("ucx"))
	c.set("api", literal(api))
	c.set("op", literal(op))
	c.set("mode", literal(mode))
	c.note("%s drives queue pairs itself; weir measures through UCX", c.program())
	if name := c.memoryFlag(); name != "" {
		for _, side := range []string{"initiator", "target"} {
			if err := c.setMemory("--"+name, side, "vram"); err != nil {
				return err
			}
		}
	}
	c.heap()
	if err := perftestPath(c); err != nil {
		return err
	}
	window, err := c.number("tx-depth", 1, mostIterations)
	if err != nil {
		return err
	}
	if isLatency {
		window = 1
	}
	if mode == "stream" {
		c.set("in_flight", count(window))
	}
	warmup := int64(0)
	if c.has("perform_warm_up") {
		warmup = window
	}
	c.set("warmup", count(warmup))
	return perftestWork(c, isLatency, c.program() == "ib_write_bw")
}

func (c *call) memoryFlag() string {
	if f := c.tool.flag("use_cuda"); c.has("use_cuda") {
		return f.names[0]
	}
	return ""
}

func perftestWork(c *call, isLatency, isWriteBW bool) error {
	iters := int64(1000)
	if isWriteBW {
		iters = 5000
	}
	block := int64(65536)
	if isLatency {
		block = 2
	}
	var err error
	if c.has("iters") {
		if iters, err = c.number("iters", 5, mostIterations); err != nil {
			return err
		}
	}
	if c.has("size") {
		if block, err = c.number("size", 1, mostBytes); err != nil {
			return err
		}
	}
	if c.has("duration") {
		seconds, err := c.number("duration", 1, 86400)
		if err != nil {
			return err
		}
		c.set("duration", literal(fmt.Sprintf("%ds", seconds)))
	}
	c.set("iterations", count(iters))
	blocks := []int64{block}
	if c.has("all") {
		blocks = perftestSizes()
	}
	c.run.points("block_size", blocks, size)
	return nil
}

// perftestSizes are those of --all.
func perftestSizes() (all []int64) {
	for n := int64(2); n <= 8<<20; n *= 2 {
		all = append(all, n)
	}
	return all
}

// perftestPath are the variables by which UCX takes the path that perftest takes.
func perftestPath(c *call) error {
	transports := map[string]string{"RC": "rc", "UD": "ud", "DC": "dc", "SRD": "srd"}
	if t, ok := transports[c.text("connection")]; ok {
		c.setEnv("UCX_TLS", t)
	} else {
		c.lose("--connection %s: UCX has %s", c.text("connection"), strings.Join(sortedKeys(transports), ", "))
	}
	port, err := c.number("ib-port", 1, 255)
	if err != nil {
		return err
	}
	if device := c.text("ib-dev"); device != "" {
		c.setEnv("UCX_NET_DEVICES", fmt.Sprintf("%s:%d", device, port))
	}
	return nil
}
