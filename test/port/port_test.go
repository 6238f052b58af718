package port

import (
	"net"
	"slices"
	"strconv"
	"testing"
)

func TestFreePortsAreNoneOfConnections(t *testing.T) {
	ports := Free(t, "127.0.0.1", 50)
	if len(slices.Compact(slices.Sorted(slices.Values(ports)))) != 50 {
		t.Errorf("one is there twice: %v", ports)
	}
	for _, p := range ports {
		if n, err := strconv.Atoi(p); err != nil || n < first || n > last {
			t.Errorf("%s may be a connection's", p)
		}
		l, err := net.Listen("tcp", "127.0.0.1:"+p)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
}
