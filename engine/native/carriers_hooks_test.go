//go:build weirtest

package native

import (
	"fmt"
	"strings"
	"testing"
)

// UCX's output for endpoints, by version; InfiniBand from its sources' formats.
const (
	lanesPosix = `#                 lane[0]:  0:posix/memory.0 md[0]          -> md[0]/posix/sysdev[255] am am_bw#0
#                  put[0]: 0..<short>..4294967296..<bcopy>..(inf)
#                  get[0]: 0..<bcopy>..(inf)
#                  rma_bw: mds #`
	lanesTCP = `#                 lane[0]:  0:tcp/lo.0 md[0]                -> md[0]/tcp/sysdev[255] am am_bw#0 wireup
#                  rma_bw: mds #`
	lanesAll = `#                 lane[0]:  3:sysv/memory.0 md[2]           -> md[2]/sysv/sysdev[255] am am_bw#0
#                 lane[1]:  4:posix/memory.0 md[3]          -> md[3]/posix/sysdev[255]
#                  put[0]: 0..<short>..4294967296..<bcopy>..(inf)
#                  put[1]: 0..<short>..4294967296..<bcopy>..(inf)`
	lanesIB = `#                 lane[0]:  5:rc_mlx5/mlx5_0:1.0 md[4]      -> md[4]/ib/sysdev[0] rma_bw#0 am am_bw#0
#                 lane[1]:  7:ud_mlx5/mlx5_0:1.0 md[4]      -> md[4]/ib/sysdev[0] wireup
#                  put[0]: 0..<short>..220..<bcopy>..(inf)`
	lanesRails = `#                 lane[0]:  5:rc_mlx5/mlx5_0:1.0 md[4]      -> md[4]/ib/sysdev[0] rma_bw#0 am
#                 lane[1]:  9:rc_mlx5/mlx5_1:1.0 md[5]      -> md[5]/ib/sysdev[1] rma_bw#1
#                 lane[2]:  0:tcp/eth0.100.0 md[0]          -> md[0]/tcp/sysdev[2] wireup`
	lanesCMA = `#                 lane[0]:  0:posix/memory.0 md[0]          -> md[0]/posix/sysdev[255] seg 4294967295 am
#                 lane[1]:  1:cma/memory.0 md[1]            -> md[1]/cma/sysdev[255] seg 4294967295 rma_bw#0`
)

func TestCarriersOfUCX(t *testing.T) {
	for _, c := range []struct {
		name, text, mapped string
		second             bool
		want               string
	}{
		{"mapped", lanesPosix, "posix", false, "d posix/memory\n"},
		{"allocated otherwise", lanesPosix, "", false, "e posix/memory\n"},
		{"tcp has no put", lanesTCP, "", false, "e tcp/lo\n"},
		{"the mapping decides", lanesAll, "posix", false, "c sysv/memory\nd posix/memory\n"},
		{"the mapping decides for the other", lanesAll, "sysv", false, "d sysv/memory\nc posix/memory\n"},
		{"no mapping", lanesAll, "", false, "e sysv/memory\nc posix/memory\n"},
		{"rdma", lanesIB, "", false, "d rc_mlx5/mlx5_0:1\nc ud_mlx5/mlx5_0:1\n"},
		{"rails", lanesRails, "", true, "p rc_mlx5/mlx5_0:1\np rc_mlx5/mlx5_1:1\nc tcp/eth0.100\n"},
		{"second, mapped or copied", lanesCMA, "posix", true, "p posix/memory\np cma/memory\n"},
		{"second, not mapped", lanesCMA, "", true, "c posix/memory\nd cma/memory\n"},
		{"nothing", "# no lanes", "", true, ""},
	} {
		if got := carriersOfUCX(c.text, c.mapped, c.second); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

const (
	resourcesIB = `#     component 4  :  ib
#            md 0  :  component 1  tcp 
#      resource 0  :  md 0  dev 0  flags -- tcp/eth0
#      resource 1  :  md 4  dev 1  flags -- rc_verbs/mlx5_0:1
#      resource 2  :  md 4  dev 1  flags -- rc_mlx5/mlx5_0:1
#      resource 3  :  md 5  dev 2  flags -- rc_mlx5/mlx5_1:1
#      resource 4  :  md 4  dev 1  flags -s ud_mlx5/mlx5_0:1`
	resourcesEFA = `#      resource 0  :  md 0  dev 0  flags -- tcp/eth0
#      resource 1  :  md 4  dev 1  flags -- ud_verbs/rdmap0:1`
	lanesEFA = `#                 lane[0]:  1:ud_verbs/rdmap0:1.0 md[4]     -> md[4]/ib/sysdev[0] am am_bw#0 wireup`
	// sockets that protocols v2 count among those that put.
	lanesSockets = `#                 lane[0]:  0:tcp/eth0.0 md[0]              -> md[0]/tcp/sysdev[255] rma_bw#0 am am_bw#0 wireup`
)

// A path to other hosts has RDMA if UCX itself would put blocks on it and the device supports it.
func TestPathsOfUCX(t *testing.T) {
	for _, c := range []struct {
		name, resources, lanes string
		second                 bool
		want                   string
	}{
		{"sockets", "# resource 0  :  md 0  dev 0  flags -- tcp/eth0", strings.ReplaceAll(lanesTCP, "lo.0", "eth0.0"),
			false, "[tcp/eth0 (software)]"},
		{"sockets that put", "# resource 0  :  md 0  dev 0  flags -- tcp/eth0", lanesSockets, true,
			"[tcp/eth0 (software)]"},
		{"a card and its rails", resourcesIB, lanesIB, false,
			"[tcp/eth0 rc_verbs/mlx5_0:1 rc_mlx5/mlx5_0:1 (rdma) rc_mlx5/mlx5_1:1 (rdma) ud_mlx5/mlx5_0:1]"},
		{"rails", resourcesIB, lanesRails, true,
			"[tcp/eth0 rc_verbs/mlx5_0:1 rc_mlx5/mlx5_0:1 (rdma) rc_mlx5/mlx5_1:1 (rdma) ud_mlx5/mlx5_0:1]"},
		{"a card for messages", resourcesEFA, lanesEFA, false, "[tcp/eth0 ud_verbs/rdmap0:1 (software)]"},
		{"the way back", "# resource 0  :  md 0  dev 0  flags -- tcp/lo", lanesTCP, false, "[]"},
		{"nothing", "", "", false, "[]"},
	} {
		if got := fmt.Sprint(pathsOfUCX(c.resources, c.lanes, c.second)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A truncated list must not look like transports that were not used.
func TestCarriersThatDoNotFitAreNotForgotten(t *testing.T) {
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf("transport%d", i))
	}
	list := addCarriers(names)
	if !strings.HasSuffix(list, "d \n") || strings.Count(list, "d \n") != 1 {
		t.Errorf("the end is %q", list[max(0, len(list)-40):])
	}
	if got := addCarriers([]string{"tcp", "tcp", "cp"}); got != "d tcp\nd cp\n" {
		t.Errorf("%q", got)
	}
	if got := addCarriers([]string{strings.Repeat("x", 200)}); got != "d \n" {
		t.Errorf("%q", got)
	}
}
