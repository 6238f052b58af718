package environ

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weir-bench/weir/results"
)

func variable(name, value, from string) results.Variable {
	return results.Variable{Name: name, Value: value, From: from}
}

func TestCompose(t *testing.T) {
	own := []string{
		"PATH=/bin", "UCX_TLS=own", "LD_LIBRARY_PATH=/opt", "WEIR_ETCD_PASSWORD=secret",
		"WEIR_NOTIFY=http://hook",
		"=C:=x",
	}
	for name, c := range map[string]struct {
		layers   Layers
		env      string
		record   []results.Variable
		replaced string
	}{
		"its own": {
			Layers{Own: own}, "LD_LIBRARY_PATH=/opt PATH=/bin UCX_TLS=own",
			[]results.Variable{variable("LD_LIBRARY_PATH", "/opt", "node"), variable("UCX_TLS", "own", "node")}, "",
		},
		"later layers win": {
			Layers{
				Own: own, Shell: map[string]string{"UCX_TLS": "shell", "FI_PROVIDER": "tcp"},
				Scenario: map[string]string{"UCX_TLS": "scenario", "A": "b"},
				Secrets:  map[string]string{"UCX_TLS": "hidden", "NIXL_X": "hidden"},
			}, "A=b FI_PROVIDER=tcp LD_LIBRARY_PATH=/opt NIXL_X=hidden PATH=/bin UCX_TLS=hidden",
			[]results.Variable{variable("FI_PROVIDER", "tcp", "shell"), variable("LD_LIBRARY_PATH", "/opt", "node"),
				variable("NIXL_X", "***", "secret"), variable("UCX_TLS", "***", "secret")}, "",
		},
		"a binding wins over the node alone": {
			Layers{
				Own:      []string{"CUDA_VISIBLE_DEVICES=0,1", "UCX_NET_DEVICES=all", "FI_TCP_IFACE=lo"},
				Shell:    map[string]string{"UCX_NET_DEVICES": "mlx5_1:1"},
				Scenario: map[string]string{"FI_TCP_IFACE": "eth1"},
				Binding: map[string]string{
					"CUDA_VISIBLE_DEVICES": "1", "UCX_NET_DEVICES": "mlx5_0:1", "FI_TCP_IFACE": "eth0",
				},
			}, "CUDA_VISIBLE_DEVICES=1 FI_TCP_IFACE=eth1 UCX_NET_DEVICES=mlx5_1:1",
			[]results.Variable{variable("CUDA_VISIBLE_DEVICES", "1", "seat"),
				variable("FI_TCP_IFACE", "eth1", "scenario"), variable("UCX_NET_DEVICES", "mlx5_1:1", "shell")}, "",
		},
		"weir's own wins, and says so where it changes something": {
			Layers{
				Own:      []string{"UCX_POSIX_DIR=/own", "UCX_MEM_EVENTS=n"},
				Scenario: map[string]string{"UCX_HANDLE_ERRORS": "debug", "UCX_ERROR_SIGNALS": ""},
				Weir: []string{
					"UCX_HANDLE_ERRORS=none", "UCX_ERROR_SIGNALS=", "UCX_MEM_EVENTS=n", "UCX_POSIX_DIR=/dev/shm/1",
				},
			}, "UCX_HANDLE_ERRORS=none UCX_ERROR_SIGNALS= UCX_MEM_EVENTS=n UCX_POSIX_DIR=/dev/shm/1", nil,
			"UCX_HANDLE_ERRORS UCX_POSIX_DIR",
		},
	} {
		got := c.layers.Compose()
		if text := strings.Join(got.Env, " "); text != c.env {
			t.Errorf("%s: %s, want %s", name, text, c.env)
		}
		if diff := cmp.Diff(c.record, got.Record); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if text := strings.Join(got.Replaced, " "); text != c.replaced {
			t.Errorf("%s: weir's own replaced %s, want %s", name, text, c.replaced)
		}
	}
}

// Whatever the layers are, a process has weir's own values, each name once, and of secrets
// nothing is recorded.
func TestWeirsOwnAlwaysWin(t *testing.T) {
	weir := map[string]string{"UCX_HANDLE_ERRORS": "none", "UCX_ERROR_SIGNALS": "", "UCX_POSIX_DIR": "/dev/shm/1"}
	name := rapid.OneOf(rapid.SampledFrom(slices.Concat(slices.Sorted(maps.Keys(weir)), harmful, tuning)),
		rapid.StringMatching(`[A-Z_=\x00]{0,6}`),
		rapid.Map(rapid.SampledFrom(slices.Sorted(maps.Keys(weir))), func(name string) string { return name + "=x" }))
	layer := rapid.MapOfN(name, rapid.StringMatching("[a-z/=\n\x00]{0,5}"), 0, 8)
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.MapOfN(name, rapid.StringMatching("hidden-[a-z]{5}"), 0, 4).Draw(t, "secrets")
		l := Layers{
			Own: Pairs(layer.Draw(t, "own")), Shell: layer.Draw(t, "shell"), Binding: layer.Draw(t, "binding"),
			Scenario: layer.Draw(t, "scenario"),
			Secrets:  secrets, Weir: Pairs(weir),
		}
		c := l.Compose()
		if tail := c.Env[len(c.Env)-len(weir):]; !slices.Equal(tail, Pairs(weir)) {
			t.Fatalf("it ends with %q", tail)
		}
		seen := map[string]string{}
		for _, pair := range c.Env {
			name, value, ok := strings.Cut(pair, "=")
			if _, twice := seen[name]; twice || !ok || name == "" || strings.Contains(pair, "\x00") {
				t.Fatalf("%q among %q", pair, c.Env)
			}
			seen[name] = value
		}
		for name, value := range weir {
			if seen[name] != value {
				t.Fatalf("%s=%q", name, seen[name])
			}
		}
		for _, v := range c.Record {
			if _, ok := weir[v.Name]; ok || strings.Contains(v.Value, "hidden-") {
				t.Fatalf("recorded: %+v", v)
			}
			if v.From != results.FromSecret && seen[v.Name] != v.Value {
				t.Fatalf("recorded %+v, and the process has %q", v, seen[v.Name])
			}
		}
	})
}

// A process sees what was composed.
func TestAProcessSeesIt(t *testing.T) {
	env := Layers{Own: os.Environ(), Scenario: map[string]string{"UCX_HANDLE_ERRORS": "debug"},
		Weir: []string{"UCX_HANDLE_ERRORS=none"}}.Compose().Env
	cmd := exec.Command("sh", "-c", "printenv UCX_HANDLE_ERRORS; env | grep -c ^UCX_HANDLE_ERRORS=")
	cmd.Env = env
	if out, err := cmd.Output(); err != nil || string(out) != "none\n1\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestCarried(t *testing.T) {
	shell := []string{
		"UCX_TLS=tcp", "FI_PROVIDER=", "LD_LIBRARY_PATH=/opt", "CUDA_VISIBLE_DEVICES=0", "UCX_LOG_FILE=/tmp/x",
		"PATH=/bin", "AWS_SECRET_ACCESS_KEY=x", "UCX_RC_PATH_MTU=4096", "NIXL_PLUGIN_DIR=/opt",
	}
	want := map[string]string{"UCX_TLS": "tcp", "FI_PROVIDER": "", "UCX_RC_PATH_MTU": "4096"}
	got, err := Carried(shell)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if diff := cmp.Diff(map[string]string{"LD_LIBRARY_PATH": "/opt", "CUDA_VISIBLE_DEVICES": "0",
		"UCX_LOG_FILE": "/tmp/x", "NIXL_PLUGIN_DIR": "/opt"}, OfNode(shell, got)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"UCX_TLS": "rc"},
		OfNode([]string{"UCX_TLS=rc", "A=b"}, map[string]string{"FI_PROVIDER": "tcp"})); diff != "" {
		t.Error(diff)
	}
	if OfNode([]string{"A=b"}, nil) != nil {
		t.Error("a node without library variables has some")
	}
	if _, err := Carried([]string{"UCX_TLS=" + strings.Repeat("x", MostCarried)}); err == nil {
		t.Error("no bound holds")
	}
}

// A default is there where nobody sets the variable, stands in no record, and is left out where
// the scenario leaves the variable unset.
func TestDefaultsGiveWay(t *testing.T) {
	for name, c := range map[string]struct {
		layers Layers
		want   []string
	}{
		"nobody":   {Layers{}, []string{"UCX_A=d"}},
		"scenario": {Layers{Scenario: map[string]string{"UCX_A": "s"}}, []string{"UCX_A=s"}},
		"shell":    {Layers{Shell: map[string]string{"UCX_A": "h"}}, []string{"UCX_A=h"}},
		"unset":    {Layers{Unset: []string{"UCX_A"}}, nil},
	} {
		c.layers.Defaults = []string{"UCX_A=d"}
		got := c.layers.Compose()
		if !slices.Equal(got.Env, c.want) {
			t.Errorf("%s: %v", name, got.Env)
		}
		if name == "nobody" && len(got.Record) > 0 {
			t.Errorf("recorded: %v", got.Record)
		}
	}
}
