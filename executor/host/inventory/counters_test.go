package inventory

import (
	"maps"
	"os"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results"
)

const (
	port   = "sys/class/infiniband/mlx5_1/ports/1/"
	bonded = "sys/class/net/eth1/"
)

// troubled is the server with counters; change gives some of them other values.
func troubled(change map[string]string) fstest.MapFS {
	tree := server()
	files := map[string]string{
		cpus + "cpu0/topology/physical_package_id":             "0",
		cpus + "cpu0/thermal_throttle/core_throttle_count":     "7",
		cpus + "cpu0/thermal_throttle/package_throttle_count":  "3",
		cpus + "cpu0/cpufreq/scaling_max_freq":                 "3500000",
		cpus + "cpu0/cpufreq/base_frequency":                   "2400000",
		cpus + "cpu1/topology/physical_package_id":             "0",
		cpus + "cpu1/thermal_throttle/core_throttle_count":     "1",
		cpus + "cpu1/thermal_throttle/package_throttle_count":  "3",
		cpus + "cpu1/cpufreq/scaling_max_freq":                 "3500000",
		cpus + "cpu1/acpi_cppc/nominal_freq":                   "2400",
		cpus + "cpu10/topology/physical_package_id":            "1",
		cpus + "cpu10/thermal_throttle/core_throttle_count":    "0",
		cpus + "cpu10/cpufreq/scaling_max_freq":                "3500000", // and nobody knows its base
		"sys/devices/system/edac/mc/mc0/ce_count":              "12",
		"sys/devices/system/edac/mc/mc0/ue_count":              "0",
		"sys/class/net/lo/statistics/rx_dropped":               "1",
		bonded + "statistics/rx_crc_errors":                    "0",
		bonded + "statistics/rx_dropped":                       "100",
		bonded + "carrier_down_count":                          "1",
		bonded + "upper_bond0":                                 "",
		pci + "net/ib0/statistics/tx_errors":                   "0",
		pci + "aer_dev_fatal":                                  "Undefined 0\nTLP 0\nTOTAL_ERR_FATAL 0",
		pci + "aer_dev_correctable":                            "RxErr 4\nTOTAL_ERR_COR 4",
		port + "counters/symbol_error":                         "0",
		port + "counters/port_xmit_data":                       "1",
		port + "counters/port_rcv_errors":                      "N/A (no PMA)",
		port + "hw_counters/out_of_sequence":                   "5",
		pci + "infiniband/mlx5_0/ports/1/counters/link_downed": "2",
	}
	maps.Copy(files, change)
	maps.Copy(tree, rooted(files, nil))
	return tree
}

func TestCountersThatMoved(t *testing.T) {
	for name, test := range map[string]struct {
		before, after map[string]string
		want          []results.Counter
	}{
		"nothing": {},
		"cores of a package add up": {
			after: map[string]string{
				cpus + "cpu0/thermal_throttle/core_throttle_count": "9",
				cpus + "cpu1/thermal_throttle/core_throttle_count": "2",
			},
			want: []results.Counter{{Device: "package 0", Name: "core_throttle_count", Class: "throttle", By: 3}},
		},
		"each CPU counts the same events of its package": {
			after: map[string]string{
				cpus + "cpu0/thermal_throttle/package_throttle_count": "5",
				cpus + "cpu1/thermal_throttle/package_throttle_count": "4",
			},
			want: []results.Counter{{Device: "package 0", Name: "package_throttle_count", Class: "throttle", By: 2}},
		},
		"another package": {
			after: map[string]string{cpus + "cpu10/thermal_throttle/core_throttle_count": "1"},
			want:  []results.Counter{{Device: "package 1", Name: "core_throttle_count", Class: "throttle", By: 1}},
		},
		"a limit below the base": {
			after: map[string]string{
				cpus + "cpu0/cpufreq/scaling_max_freq": "1200000", cpus + "cpu1/cpufreq/scaling_max_freq": "1200000",
				cpus + "cpu10/cpufreq/scaling_max_freq": "1200000",
			},
			want: []results.Counter{{Device: "package 0", Name: "cpus_limited_below_base", Class: "throttle", By: 2}},
		},
		"such a limit lifted": {
			before: map[string]string{cpus + "cpu0/cpufreq/scaling_max_freq": "1200000"},
			want:   []results.Counter{{Device: "package 0", Name: "cpus_limited_below_base", Class: "throttle", By: 1}},
		},
		"a limit above the base": {after: map[string]string{cpus + "cpu0/cpufreq/scaling_max_freq": "2400000"}},
		"memory": {
			after: map[string]string{
				"sys/devices/system/edac/mc/mc0/ce_count": "13", "sys/devices/system/edac/mc/mc0/ue_count": "1",
			},
			want: []results.Counter{
				{Device: "mc0", Name: "ce_count", Class: "memory", By: 1}, {
					Device: "mc0", Name: "ue_count", Class: "memory", By: 1,
				},
			},
		},
		"an interface by all names that data may go by": {
			after: map[string]string{
				bonded + "statistics/rx_crc_errors": "4", bonded + "statistics/rx_dropped": "150",
				bonded + "carrier_down_count": "2",
			},
			want: []results.Counter{
				{Device: "eth1 (bond0)", Name: "carrier_down_count", Class: "link", By: 1},
				{Device: "eth1 (bond0)", Name: "rx_crc_errors", Class: "link", By: 4},
				{Device: "eth1 (bond0)", Name: "rx_dropped", Class: "recovered", By: 50},
			},
		},
		"the loopback": {after: map[string]string{"sys/class/net/lo/statistics/rx_dropped": "9"}},
		"PCI, once": {
			after: map[string]string{
				pci + "aer_dev_fatal": "TOTAL_ERR_FATAL 1", pci + "aer_dev_correctable": "RxErr 9\nTOTAL_ERR_COR 9",
			},
			want: []results.Counter{
				{Device: "ib0 (mlx5_0)", Name: "aer_dev_correctable", Class: "recovered", By: 5},
				{Device: "ib0 (mlx5_0)", Name: "aer_dev_fatal", Class: "link", By: 1},
			},
		},
		"a port": {
			after: map[string]string{
				port + "counters/symbol_error": "3", port + "counters/port_xmit_data": "99",
				port + "hw_counters/out_of_sequence": "6",
			},
			want: []results.Counter{
				{Device: "mlx5_1:1", Name: "out_of_sequence", Class: "recovered", By: 1}, {
					Device: "mlx5_1:1", Name: "symbol_error", Class: "link", By: 3,
				},
			},
		},
		"reset meanwhile": {
			before: map[string]string{port + "counters/symbol_error": "60000"},
			after:  map[string]string{port + "counters/symbol_error": "2"},
			want:   []results.Counter{{Device: "mlx5_1:1", Name: "symbol_error", Class: "link", By: 2}},
		},
		"reset and quiet since": {before: map[string]string{port + "counters/symbol_error": "60000"}},
		"one that was not there before": {
			before: map[string]string{port + "counters/symbol_error": ""},
			after:  map[string]string{port + "counters/symbol_error": "9"},
		},
		"one that is gone": {after: map[string]string{port + "counters/symbol_error": ""}},
	} {
		for i := range test.want {
			test.want[i].Node = "n1"
		}
		got := ReadCounters(troubled(test.after)).Since(ReadCounters(troubled(test.before)), "n1")
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestCountersWatched(t *testing.T) {
	want := map[string]int{
		results.ThrottleClass: 4, results.MemoryClass: 2, results.LinkClass: 6, results.RecoveredClass: 3,
	}
	if diff := cmp.Diff(want, ReadCounters(troubled(nil)).Watched()); diff != "" {
		t.Error(diff)
	}
	if got := ReadCounters(fstest.MapFS{}).Watched(); got != nil {
		t.Errorf("an empty host: %v", got)
	}
	if got := (Counters)(nil).Since(nil, "n"); got != nil {
		t.Errorf("a host that does not answer: %v", got)
	}
}

// What is read of a real host is of the classes that documents know.
func TestCountersOfThisHost(t *testing.T) {
	c := ReadCounters(os.DirFS("/"))
	known := map[string]bool{
		results.ThrottleClass: true, results.MemoryClass: true, results.LinkClass: true, results.RecoveredClass: true,
	}
	for k := range c {
		if !known[k.class] || k.device == "" || k.name == "" {
			t.Errorf("%+v", k)
		}
	}
	if got := c.Since(c, "n"); got != nil {
		t.Errorf("moved at one instant: %v", got)
	}
}

func BenchmarkReadCounters(b *testing.B) {
	root := os.DirFS("/")
	for b.Loop() {
		ReadCounters(root)
	}
}
