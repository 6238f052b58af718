package agent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"weir/executor/environ"
)

// NIXL's exporter for Prometheus listens at a port, the same in all ranks unless each is told
// another: the second rank of a host would run without it.
const (
	telemetryExporter = "NIXL_TELEMETRY_EXPORTER"
	telemetryPort     = "NIXL_TELEMETRY_PROMETHEUS_PORT"
	firstPort         = 9090 // NIXL's own default
	lastPort          = 65535
)

// apart gives the i-th rank of this node a port of its own for NIXL's exporter: the first has
// the port that is set, or NIXL's own, and each further one the next.
func apart(c environ.Composed, i int) environ.Composed {
	value := func(name string) string {
		at := slices.IndexFunc(c.Env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		if at < 0 {
			return ""
		}
		return c.Env[at][len(name)+1:]
	}
	if i == 0 || !strings.HasPrefix(strings.ToLower(value(telemetryExporter)), "prometheus") {
		return c
	}
	port := firstPort
	if text := value(telemetryPort); text != "" {
		set, err := strconv.Atoi(text)
		if err != nil {
			return c // NIXL will say so
		}
		port = set
	}
	if port+i > lastPort {
		return c
	}
	c.Env = slices.DeleteFunc(slices.Clone(c.Env),
		func(e string) bool { return strings.HasPrefix(e, telemetryPort+"=") })
	c.Env = append(c.Env, fmt.Sprintf("%s=%d", telemetryPort, port+i))
	c.Record = slices.Clone(c.Record)
	for n := range c.Record {
		if c.Record[n].Name == telemetryPort {
			c.Record[n].Value = strconv.Itoa(port + i)
		}
	}
	return c
}
