package importer

import (
	"fmt"
	"slices"
	"strings"
)

// The values of --nvlink-backend.
const (
	overNVLink = "ipc"
	overNIXL   = "nixl"
	overRDMA   = "none"
)

// transportsOfRDMA are the RDMA transports of UCX, by their names in UCX_TLS.
var transportsOfRDMA = map[string][]string{
	"ib": {"rc_mlx5", "rc_verbs", "dc_mlx5", "ud_mlx5", "ud_verbs"}, "rc": {"rc_mlx5", "rc_verbs"},
	"rc_x": {"rc_mlx5"}, "rc_mlx5": {"rc_mlx5"}, "rc_v": {"rc_verbs"}, "rc_verbs": {"rc_verbs"},
	"dc": {"dc_mlx5"}, "dc_x": {"dc_mlx5"}, "dc_mlx5": {"dc_mlx5"}, "ud": {"ud_mlx5", "ud_verbs"},
	"ud_x": {"ud_mlx5"}, "ud_mlx5": {"ud_mlx5"}, "ud_v": {"ud_verbs"}, "ud_verbs": {"ud_verbs"}, "srd": {"srd"},
}

// setPath sets the fabric, the memory and the assertions on transports.
func (c *call) setPath() {
	path := c.text("disable-ll-nvlink")
	if f := c.tool.flag("nvlink-backend"); f != nil && path == "" {
		if path = f.Values[c.text("nvlink-backend")]; path == "" {
			c.fail("%s: %q is none of %s", f.shown(), c.text("nvlink-backend"),
				strings.Join(sortedKeys(f.Values), ", "))
		}
	} else if path != "" {
		path = overRDMA
	} else {
		path = overNVLink
	}
	name := map[string]string{overNVLink: "cuda", overNIXL: "nixl", overRDMA: "ucx"}[path]
	if path == overNVLink && c.run.nodes > 1 {
		name = "ucx"
		c.warn("the test uses NVLink within a node and RDMA between nodes; the scenario uses fabric ucx for both")
	}
	memory := string(vram)
	switch {
	case c.memory != "" && c.memory != memory:
		c.warn("the command line has %s; --memory puts the buffers into %s", memory, c.memory)
		if memory = c.memory; path == overNVLink {
			name = "auto"
		}
	case path == overNVLink:
		c.note("the test uses GPU memory; use --memory dram for the same transfer between host memories")
	}
	for _, o := range []struct{ option, value string }{{"fabric", name}, {"memory", memory}} {
		if known, _ := c.run.kind.Option(o.option); known.Default != any(o.value) {
			c.set(o.option, literal(o.value))
		}
	}
	if path == overRDMA {
		c.assertRDMA()
	}
}

// assertRDMA asserts that the data was carried by RDMA, with the transports that UCX_TLS permits.
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
		c.warn("UCX_TLS=%s has no RDMA transport: transports are not asserted", c.run.env[i].Value)
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
