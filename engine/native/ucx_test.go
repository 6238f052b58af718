package native

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

func api(name string) func(*move.Spec) {
	return withOptions("api", name)
}

func window(n int64) func(*move.Spec) {
	return func(o *move.Spec) { o.InFlight = n }
}

var (
	overSockets = map[string]string{"UCX_TLS": "tcp", "UCX_NET_DEVICES": "lo"}
	// Over shared memory: with a copy by the receiver's kernel, through a queue, and with every message,
	// however small, as a rendezvous.
	overKernel, overQueue, announced = map[string]string{"UCX_TLS": "posix,cma"}, map[string]string{"UCX_TLS": "posix"},
		map[string]string{"UCX_RNDV_THRESH": "0"}
)

// overUCX runs a test with each API that sends messages in these environments; with tag_sync, which differs
// from tag in one call, only in the first of them. Outside make rest it uses a single one.
func overUCX(t *testing.T, test func(t *testing.T, api string), envs ...map[string]string) {
	needs(t, "ucx")
	for i, env := range envs {
		for _, name := range []string{"am", "tag", "tag_sync"} {
			if name == "tag_sync" && i > 0 || !phase.Whole() && (i > 0 || name == "tag_sync") {
				continue
			}
			t.Run(fmt.Sprint(name, " ", env), func(t *testing.T) {
				for k, v := range env {
					t.Setenv(k, v)
				}
				test(t, name)
			})
		}
	}
}

func TestUCXTransport(t *testing.T) {
	needs(t, "ucx")
	t.Setenv("UCX_TLS", "posix")
	for _, name := range []string{"rma", "am", "tag", "tag_sync"} {
		got := runCases(t, "ucx", 2, options(4096, api(name)))[0][0].Transport
		if want := regexp.MustCompile(`^ucx/` + name + ` [0-9.]+ \(posix/memory`); !want.MatchString(got) {
			t.Errorf("api %s: transport %q, want %v", name, got, want)
		}
	}
}

// Ranks with different APIs do not connect.
func TestUCXUnequalAPIs(t *testing.T) {
	needs(t, "ucx")
	names := []string{"am", "tag"}
	ranks, addresses := openUnequal(t, "ucx", options(8, api(names[0])), options(8, api(names[1])))
	for i, r := range ranks {
		want := fmt.Sprintf("it uses api %s and this rank %s", names[1-i], names[i])
		if err := r.Connect(addresses); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("rank %d: got %v, want %q", i, err, want)
		}
	}
}
