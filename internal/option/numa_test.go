package option_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/transfer"
)

func TestNUMA(t *testing.T) {
	o, _ := transfer.Kind.Option("numa")
	for text, want := range map[string]option.Placement{
		"default": option.Default, "local": option.Local, "0": 0, "7": 7, "007": 7, "1023": 1023,
	} {
		p, err := option.ParseNUMA(text)
		if err != nil || p != want || (move.Spec{NUMA: text}).Placement() != want {
			t.Errorf("%q: %v, %v", text, p, err)
		}
		if v, err := o.Parse(text); err != nil || v != want.String() {
			t.Errorf("%q is kept as %v, %v", text, v, err)
		}
	}
	for _, bad := range []string{"-1", "-2", "1024", "0x1", "node0", "Local", "1.5", " 1", "9999999999999999999999"} {
		if p, err := option.ParseNUMA(bad); err == nil ||
			!strings.Contains(err.Error(), "not default, local or the number of a NUMA node") {
			t.Errorf("%q: %v, %v", bad, p, err)
		}
	}
	if p := (move.Spec{}).Placement(); p != option.Default {
		t.Errorf("nothing said is %v", p)
	}
}
