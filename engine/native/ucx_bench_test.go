package native

import (
	"fmt"
	"os/exec"
	"testing"

	"weir/quantity"
	"weir/workload"
)

// Messages of UCX against ucx_perftest's own, compared as comparePeer does. Its am
// tests leave small messages in UCX's buffers; weir's handler puts them at their
// place, which is the copy that the ratio below 1 at such sizes is made of.
var ucxMessageTests = []struct {
	api string
	peerTest
}{
	{"tag", peerTest{"tag_bw", "tag_bw", "stream", 32}},
	{"tag", peerTest{"tag_lat", "tag_lat", "pingpong", 1}},
	{"am", peerTest{"am_bw", "ucp_am_bw", "stream", 32}},
	{"am", peerTest{"am_lat", "ucp_am_lat", "pingpong", 1}},
}

func BenchmarkUCXMessages(b *testing.B) {
	if _, err := exec.LookPath("ucx_perftest"); err != nil {
		b.Skip("no ucx_perftest here (Debian: ucx-utils)")
	}
	for _, tls := range []string{"posix", "posix,cma", "tcp"} {
		for _, test := range ucxMessageTests {
			for _, size := range []quantity.Size{8, 4 << 10, 64 << 10, 1 << 20, 16 << 20} {
				b.Run(fmt.Sprintf("%s/%s/%v", tls, test.name, size), func(b *testing.B) {
					for b.Loop() {
						comparePeer(b, tls, test.peerTest, size, func(o *workload.TransferOptions) { o.API = test.api })
					}
				})
			}
		}
	}
}
