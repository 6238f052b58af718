package toolimport

import (
	"fmt"
	"slices"
	"strings"

	"weir/workload"
	"weir/workload/epelastic"
)

// The values of --nvlink-backend.
const (
	overNVLink = "ipc"
	overNIXL   = "nixl"
	overRDMA   = "none"
)

var nvlinkBackends = map[string]string{overNVLink: overNVLink, overNIXL: overNIXL, overRDMA: overRDMA}

// backendFlags say how the tests' libraries reach a GPU of the same host, in both versions of the tests.
var backendFlags = []flag{
	{
		names: names("nvlink-backend"), takes: text, initial: overNVLink, fate: used, values: nvlinkBackends,
		doc: "`fabric` and `memory`: ipc is cuda with vram, nixl is nixl, none is ucx with an assertion that RDMA carried the data",
	},
	use("disable-ll-nvlink", nothing, "", "`fabric`, as --nvlink-backend none"),
}

// transportsOfRDMA are those of UCX, by the names that UCX_TLS has for them.
var transportsOfRDMA = map[string][]string{
	"ib": {"rc_mlx5", "rc_verbs", "dc_mlx5", "ud_mlx5", "ud_verbs"}, "rc": {"rc_mlx5", "rc_verbs"},
	"rc_x": {"rc_mlx5"}, "rc_mlx5": {"rc_mlx5"}, "rc_v": {"rc_verbs"}, "rc_verbs": {"rc_verbs"},
	"dc": {"dc_mlx5"}, "dc_x": {"dc_mlx5"}, "dc_mlx5": {"dc_mlx5"}, "ud": {"ud_mlx5", "ud_verbs"},
	"ud_x": {"ud_mlx5"}, "ud_mlx5": {"ud_mlx5"}, "ud_v": {"ud_verbs"}, "ud_verbs": {"ud_verbs"}, "srd": {"srd"},
}

// setPath sets the fabric, the memory and what is asserted of the transports.
func (c *call) setPath() error {
	path := c.text("disable-ll-nvlink")
	if f := c.tool.flag("nvlink-backend"); f != nil && path == "" {
		if path = nvlinkBackends[c.text("nvlink-backend")]; path == "" {
			return fmt.Errorf("%s: %q is none of %s", f.shown(), c.text("nvlink-backend"),
				strings.Join(sortedKeys(nvlinkBackends), ", "))
		}
	} else if path != "" {
		path = overRDMA
	} else {
		path = overNVLink
	}
	name := map[string]string{overNVLink: "cuda", overNIXL: "nixl", overRDMA: "ucx"}[path]
	if path == overNVLink && c.run.nodes > 1 {
		name = "ucx"
		c.warn("the test moves over NVLink within a node and by RDMA between nodes; the scenario has fabric ucx for both")
	}
	memory := string(vram)
	switch {
	case c.memory != "" && c.memory != memory:
		c.warn("the command line has %s; --memory puts the buffers into %s", memory, c.memory)
		if memory = c.memory; path == overNVLink {
			name = "auto"
		}
	case !takesVRAM(c.run.kind, name):
		memory = "dram"
		c.warn("the test moves memory of GPUs, which workload %s does not over fabric %s: the scenario has host memory",
			c.run.kind.Name, name)
	case path == overNVLink:
		c.note("the test moves memory of GPUs; --memory dram moves the same between host memories")
	}
	for _, o := range []struct{ option, value string }{{"fabric", name}, {"memory", memory}} {
		if known, _ := c.run.kind.Option(o.option); known.Default != any(o.value) {
			c.set(o.option, literal(o.value))
		}
	}
	if path == overRDMA {
		c.assertRDMA()
	}
	return nil
}

// takesVRAM says whether ranks of a workload have memory of GPUs over a fabric.
func takesVRAM(k *workload.Kind, name string) bool {
	raw := map[string]any{"fabric": name, "memory": string(vram)}
	if k == epelastic.Kind {
		raw["phases"] = `[{"ranks":"0..1"}]`
	}
	v, err := k.Normalize(raw)
	return err == nil && k.Check(v) == nil
}

// assertRDMA asserts that the data went by RDMA, over those transports that UCX_TLS permits.
func (c *call) assertRDMA() {
	permitted := transportsOfRDMA["ib"]
	i := slices.IndexFunc(c.run.env, func(v Variable) bool { return v.Name == "UCX_TLS" })
	if i >= 0 && !strings.HasPrefix(c.run.env[i].Value, "^") {
		permitted = nil
		for _, name := range strings.Split(c.run.env[i].Value, ",") {
			if name = strings.TrimSpace(name); name == "all" {
				name = "ib"
			}
			permitted = append(permitted, transportsOfRDMA[name]...)
		}
	}
	if permitted == nil {
		c.warn("UCX_TLS=%s has no transport of RDMA: nothing is asserted of what carries the data", c.run.env[i].Value)
		return
	}
	var quoted []string
	for _, name := range permitted {
		if name = fmt.Sprintf("%q", name); !slices.Contains(quoted, name) {
			quoted = append(quoted, name)
		}
	}
	c.run.assert = append(c.run.assert, literal("transport in ["+strings.Join(quoted, ", ")+"]"))
}
