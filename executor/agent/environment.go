package agent

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/host/environ"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/results"
)

// environment composes the variables of a process from the agent's own, the shell's and further layers.
func (a *Agent) environment(l environ.Layers) environ.Composed {
	l.Own, l.Shell = a.o.RankUser.Environment(os.Environ()), a.shell
	return l.Compose()
}

func (l *nodeLaunch) rankEnvironment(b results.Binding, scratch string, secrets map[string]string) environ.Composed {
	// libraries create shared memory as files in scratch, which is removed after the launch
	weir := append(fabric.RankEnv(), fabric.ScratchEnv(scratch)...)
	if engine.RunsCommands(l.task.launch.Runner) {
		weir = append(weir, engine.LaunchScratch+"="+scratch, engine.SessionScratch+"="+l.a.o.ScratchDir)
		if l.etcdRelay != nil {
			weir = append(weir, engine.EtcdURL+"="+l.etcdRelay.url)
		}
	}
	return l.a.environment(environ.Layers{
		Binding: bindingVariables(b, l.a.self.Node), Scenario: l.task.Env, Unset: l.task.Unset,
		Secrets: secrets, Weir: weir, Defaults: fabric.Defaults(l.task.launch.Fabric, len(b.GPUs) > 0),
	})
}

func (l *nodeLaunch) recordEnvironment(rank int, c environ.Composed) {
	for _, v := range c.Record {
		v.Value, v.Ranks = l.hidden.Text(v.Value), []int{rank}
		l.variables = append(l.variables, v)
	}
	for _, name := range c.Replaced {
		l.overridden = append(l.overridden, results.Ignored{Name: name, ByWeir: true})
	}
}

// ownVariables are the library variables of the agent's own environment, without secrets.
func (a *Agent) ownVariables() map[string]string {
	own := environ.OfNode(os.Environ(), a.shell)
	h := a.hidden(a.o.Secrets)
	for name, value := range own {
		own[name] = h.Text(value)
		if slices.Contains(a.o.Secrets, name) {
			own[name] = environ.Redacted
		}
	}
	return own
}

// Reveals reports whether a text contains the value of a secret of this host.
func Reveals(text string, references []string) bool {
	return vault{anywhere: true}.hidden(references).Text(text) != text
}

// bindingVariables are the environment variables that restrict a rank's libraries to the GPUs and NICs of its
// binding; nil: none. CUDA_DEVICE_ORDER makes CUDA count GPUs by address, as the kernel does.
func bindingVariables(b results.Binding, n results.Node) map[string]string {
	if len(b.GPUs)+len(b.NICs) == 0 {
		return nil
	}
	env := map[string]string{}
	if len(b.GPUs) > 0 {
		env["CUDA_VISIBLE_DEVICES"] = strings.Join(b.GPUs, ",")
		env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
	}
	if len(b.NICs) == 0 {
		return env
	}
	devices := fabric.Devices{Ports: b.NICs}
	for _, nic := range b.NICs {
		device, _, _ := strings.Cut(nic, ":")
		devices.Names = append(devices.Names, device)
		for _, d := range n.RDMA {
			if d.Name == device {
				devices.Driver = d.Driver
			}
		}
	}
	maps.Copy(env, fabric.DeviceEnv(devices))
	return env
}

// Variables of NIXL's Prometheus exporter, which listens at a port and does not run where the port is in use.
const (
	telemetryExporter = "NIXL_TELEMETRY_EXPORTER"
	telemetryPort     = "NIXL_TELEMETRY_PROMETHEUS_PORT"
	firstPort         = 9090 // NIXL's own default
	lastPort          = 65535
)

// withTelemetryPort gives the i-th rank of this node its own port for NIXL's exporter: the configured or default
// port plus i.
func withTelemetryPort(c environ.Composed, i int) environ.Composed {
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
			return c // NIXL reports it
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
