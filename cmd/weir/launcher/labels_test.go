package launcher

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNodeLabels(t *testing.T) {
	hosts := []string{"root@gpu1", "gpu2", "gpu3"}
	got, err := nodeLabels([]string{"zone=a", "gpu[1-2]:rail=3", "gpu3:rail=4", "gpu3:url=http://x:1/?a=b"}, hosts)
	want := map[string]map[string]string{
		"*": {"zone": "a"}, "gpu1": {"rail": "3"}, "gpu2": {"rail": "3"},
		"gpu3": {"rail": "4", "url": "http://x:1/?a=b"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for asked, fit := range map[string][]string{
		"": hosts, "zone=a rail=3": hosts[:2], "rail=4": hosts[2:], "rail=5": nil, "other=": nil,
	} {
		labels := map[string]string{}
		for _, text := range strings.Fields(asked) {
			name, value, _ := strings.Cut(text, "=")
			labels[name] = value
		}
		got, err := labelled(hosts, want, labels)
		if !slices.Equal(got, fit) || (err != nil) != (fit == nil) {
			t.Errorf("%q: %v, %v, want %v", asked, got, err, fit)
		}
	}
	for _, bad := range []string{"rail", "=3", ":rail=3", "gpu1:=3", "gpu4:rail=3", "gpu[:rail=3"} {
		if _, err := nodeLabels([]string{bad}, hosts); err == nil || !strings.Contains(err.Error(), "--node-label") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
