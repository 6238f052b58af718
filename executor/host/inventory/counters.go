package inventory

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/results"
)

// Kernel counters of events that may disturb a measurement. A launch has the difference between two
// readings; counters that a host lacks are not read.
//
// Sources in the kernel documentation: struct rtnl_link_stats64 for network interfaces,
// ABI/stable/sysfs-class-infiniband and InfiniBand's PortCounters for ports,
// ABI/testing/sysfs-bus-pci-devices-aer_stats for PCI, admin-guide/RAS for memory.
// Congestion counters (port_xmit_wait, congestion notifications) are not read, as flow control increments
// them in every saturating launch.
var (
	// linkCounters are bad packets and link failures of an interface.
	linkCounters = []string{
		"statistics/rx_errors", "statistics/tx_errors", "statistics/rx_crc_errors", "statistics/rx_frame_errors",
		"statistics/rx_length_errors", "statistics/tx_carrier_errors", "carrier_down_count",
	}
	// dropCounters are packets that an interface or its host dropped.
	dropCounters = []string{
		"statistics/rx_dropped", "statistics/tx_dropped", "statistics/rx_missed_errors", "statistics/rx_fifo_errors",
		"statistics/rx_over_errors", "statistics/tx_fifo_errors", "statistics/collisions",
	}
	// portCounters are bit errors, link failures and link retrainings of a port.
	portCounters = []string{
		"counters/symbol_error", "counters/link_error_recovery", "counters/link_downed", "counters/port_rcv_errors",
		"counters/port_rcv_remote_physical_errors", "counters/local_link_integrity_errors",
		"counters/excessive_buffer_overrun_errors", "counters/port_rcv_constraint_errors",
		"counters/port_xmit_constraint_errors", "hw_counters/rx_icrc_encapsulated",
	}
	// resentCounters are discarded, lost and retransmitted packets of a port.
	resentCounters = []string{
		"counters/port_xmit_discards", "hw_counters/out_of_sequence", "hw_counters/packet_seq_err",
		"hw_counters/implied_nak_seq_err", "hw_counters/local_ack_timeout_err", "hw_counters/rnr_nak_retry_err",
		"hw_counters/out_of_buffer", "hw_counters/roce_adp_retrans", "hw_counters/roce_adp_retrans_to",
		"hw_counters/rx_drops", "hw_counters/retrans_pkts", "hw_counters/retrans_timeout_events",
	}
)

// counter identifies a kernel counter.
type counter struct{ device, name, class string }

// Counters are the values of all readable counters.
type Counters map[counter]uint64

// ReadCounters reads the counters of the node with a root file system. It takes milliseconds.
func ReadCounters(root fs.FS) Counters {
	t, all := tree{root}, Counters{}
	t.countThrottling(all)
	for _, name := range t.glob("sys/devices/system/edac/mc/mc[0-9]*") {
		t.count(all, path.Base(name), results.MemoryClass, name, "ce_count", "ue_count")
	}
	for _, name := range t.glob("sys/class/net/*") {
		if kind, ok := t.number(name + "/type"); !ok || kind == loopback {
			continue
		}
		device := called(path.Base(name), t.bases(name+"/device/infiniband/*"), t.uppers(name))
		t.count(all, device, results.LinkClass, name, linkCounters...)
		t.count(all, device, results.RecoveredClass, name, dropCounters...)
		t.countBus(all, device, name)
	}
	for _, name := range t.glob("sys/class/infiniband/*") {
		carries := t.bases(name + "/device/net/*")
		for _, port := range t.glob(name + "/ports/*") {
			device := called(path.Base(name)+":"+path.Base(port), carries)
			t.count(all, device, results.LinkClass, port, portCounters...)
			t.count(all, device, results.RecoveredClass, port, resentCounters...)
		}
		if len(carries) == 0 { // else counted for its interface
			t.countBus(all, path.Base(name), name)
		}
	}
	return all
}

// Watched is the number of counters by class; nil if there are none.
func (c Counters) Watched() map[string]int {
	var out map[string]int
	for k := range c {
		if out == nil {
			out = map[string]int{}
		}
		out[k.class]++
	}
	return out
}

// Since are the counters that have changed since an earlier reading of the same node. A counter that is
// lower was reset meanwhile. A frequency limit that was lifted counts too.
func (c Counters) Since(before Counters, node string) []results.Counter {
	var out []results.Counter
	for k, now := range c {
		was, known := before[k]
		by := now - was
		switch {
		case !known || now == was:
			continue
		case now < was && k.name == results.CounterLimited:
			by = was - now
		case now < was:
			by = now
		}
		if by > 0 {
			out = append(out, results.Counter{Node: node, Device: k.device, Name: k.name, Class: k.class, By: by})
		}
	}
	results.SortCounters(out)
	return out
}

// count reads counters of a device below a folder.
func (t tree) count(all Counters, device, class, folder string, names ...string) {
	for _, name := range names {
		if v, ok := t.counted(path.Join(folder, name)); ok {
			all[counter{device, path.Base(name), class}] = v
		}
	}
}

func (t tree) counted(name string) (uint64, bool) {
	v, err := strconv.ParseUint(t.text(name), 10, 64)
	return v, err == nil
}

// countBus reads the PCI error counters of a device: correctable errors are resent packets.
func (t tree) countBus(all Counters, device, name string) {
	for file, class := range map[string]string{
		"aer_dev_correctable": results.RecoveredClass, "aer_dev_nonfatal": results.LinkClass,
		"aer_dev_fatal": results.LinkClass,
	} {
		for line := range strings.Lines(t.text(name + "/device/" + file)) {
			words := strings.Fields(line)
			if len(words) != 2 || !strings.HasPrefix(words[0], "TOTAL_") {
				continue
			}
			if v, err := strconv.ParseUint(words[1], 10, 64); err == nil {
				all[counter{device, file, class}] = v
			}
		}
	}
}

// countThrottling reads the throttling of each CPU package: the sum of the events of its cores, the largest
// count of package events (all its CPUs count the same ones), and the number of CPUs with a maximum below
// their base frequency. The current frequency is no indication, as idle CPUs are slow.
func (t tree) countThrottling(all Counters) {
	for _, cpu := range t.glob("sys/devices/system/cpu/cpu[0-9]*") {
		device := "package " + t.text(cpu+"/topology/physical_package_id")
		key := func(name string) counter { return counter{device, name, results.ThrottleClass} }
		if v, ok := t.counted(cpu + "/thermal_throttle/core_throttle_count"); ok {
			all[key("core_throttle_count")] += v
		}
		if v, ok := t.counted(cpu + "/thermal_throttle/package_throttle_count"); ok {
			all[key("package_throttle_count")] = max(all[key("package_throttle_count")], v)
		}
		most, ok := t.counted(cpu + "/cpufreq/scaling_max_freq") // kHz
		base, known := t.baseFrequency(cpu)
		if ok && known {
			limited := uint64(0)
			if most < base {
				limited = 1
			}
			all[key(results.CounterLimited)] += limited
		}
	}
}

// baseFrequency is the nominal frequency of a CPU, in kHz.
func (t tree) baseFrequency(cpu string) (uint64, bool) {
	if v, ok := t.counted(cpu + "/cpufreq/base_frequency"); ok {
		return v, true
	}
	v, ok := t.counted(cpu + "/acpi_cppc/nominal_freq") // MHz
	return v * 1000, ok && v > 0
}

// bases are the base names of the files of a pattern.
func (t tree) bases(pattern string) []string {
	var out []string
	for _, name := range t.glob(pattern) {
		out = append(out, path.Base(name))
	}
	return out
}

// uppers are the interfaces on top of one: bonds, VLANs, bridges.
func (t tree) uppers(nic string) []string {
	var out []string
	for _, name := range t.bases(nic + "/upper_*") {
		out = append(out, strings.TrimPrefix(name, "upper_"))
	}
	return out
}

// called is the name of a device with its other names in parentheses.
func called(name string, others ...[]string) string {
	if all := slices.Concat(others...); len(all) > 0 {
		return name + " (" + strings.Join(all, ", ") + ")"
	}
	return name
}
