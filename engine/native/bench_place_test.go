//go:build weirtest

package native

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// benchCPUs returns the processors of both sides of a comparison: of the initiator, or client, and of the
// other side. BENCH_CPUS overrides defaultCPUs; on a machine with many cores several runs, each with a pair,
// may go on at a time.
func benchCPUs(tb testing.TB) [2]int {
	tb.Helper()
	text := os.Getenv("BENCH_CPUS")
	if text == "" {
		return defaultCPUs(os.ReadFile)
	}
	pair, err := cpuPair(text)
	if err != nil {
		tb.Fatalf("BENCH_CPUS: %v", err)
	}
	return pair
}

func cpuPair(text string) (pair [2]int, err error) {
	fields := strings.Split(text, ",")
	if len(fields) != 2 {
		return pair, fmt.Errorf("%q is not a pair of processors, such as 0,1", text)
	}
	for i, field := range fields {
		if pair[i], err = strconv.Atoi(field); err != nil || pair[i] < 0 {
			return pair, fmt.Errorf("%q is no processor", field)
		}
	}
	if pair[0] == pair[1] {
		return pair, fmt.Errorf("both sides cannot have processor %d", pair[0])
	}
	return pair, nil
}

// defaultCPUs returns processor 0 and the next one that is not a hardware thread of the same core, which
// would halve the speed of both; 1 if the kernel does not report it, or all are.
func defaultCPUs(read func(name string) ([]byte, error)) [2]int {
	siblings, err := read("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list")
	if err != nil {
		return [2]int{0, 1}
	}
	own := map[int]bool{}
	for part := range strings.SplitSeq(strings.TrimSpace(string(siblings)), ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		for cpu := from; err1 == nil && err2 == nil && cpu <= to; cpu++ {
			own[cpu] = true
		}
	}
	for cpu := 1; ; cpu++ {
		if _, err := read(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/core_id", cpu)); err != nil {
			return [2]int{0, 1}
		}
		if !own[cpu] {
			return [2]int{0, cpu}
		}
	}
}

// Both sides have a core each if there are two.
func TestBothSidesHaveACore(t *testing.T) {
	for siblings, want := range map[string][2]int{
		"0\n": {0, 1}, "0-1\n": {0, 2}, "0,8\n": {0, 1}, "0-1,4-5\n": {0, 2}, "0-7\n": {0, 1}, "": {0, 1},
	} {
		got := defaultCPUs(func(name string) ([]byte, error) {
			var cpu int
			if _, err := fmt.Sscanf(name, "/sys/devices/system/cpu/cpu%d/topology/core_id", &cpu); err == nil &&
				cpu < 8 {
				return []byte("0\n"), nil
			}
			if strings.HasSuffix(name, "cpu0/topology/thread_siblings_list") && siblings != "" {
				return []byte(siblings), nil
			}
			return nil, os.ErrNotExist
		})
		if got != want {
			t.Errorf("with the siblings %q of processor 0: %v, want %v", siblings, got, want)
		}
	}
	for _, text := range []string{"0", "0,0", "0,-1", "a,1", "0,1,2"} {
		if pair, err := cpuPair(text); err == nil {
			t.Errorf("%q is taken for %v", text, pair)
		}
	}
	if pair, err := cpuPair("3,12"); err != nil || pair != [2]int{3, 12} {
		t.Errorf("3,12 is %v, %v", pair, err)
	}
}
