package workload

import (
	"strings"
	"testing"
)

func TestNUMA(t *testing.T) {
	o, _ := Transfer.Option("numa")
	for text, want := range map[string]Placement{"default": Default, "local": Local, "0": 0, "7": 7, "007": 7, "1023": 1023} {
		p, err := ParseNUMA(text)
		if err != nil || p != want || (TransferOptions{NUMA: text}).Placement() != want {
			t.Errorf("%q: %v, %v", text, p, err)
		}
		if v, err := o.Parse(text); err != nil || v != want.String() {
			t.Errorf("%q is kept as %v, %v", text, v, err)
		}
	}
	for _, bad := range []string{"-1", "-2", "1024", "0x1", "node0", "Local", "1.5", " 1", "9999999999999999999999"} {
		if p, err := ParseNUMA(bad); err == nil || !strings.Contains(err.Error(), "neither default nor local nor the number of a NUMA node") {
			t.Errorf("%q: %v, %v", bad, p, err)
		}
	}
	if p := (TransferOptions{}).Placement(); p != Default {
		t.Errorf("nothing said is %v", p)
	}
}
