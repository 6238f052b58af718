package agent

import (
	"os"
	"slices"

	"weir/engine"
	"weir/executor/environ"
	"weir/fabric"
	"weir/results"
)

// environment composes that of a process which this agent starts: its own and the shell's
// variables are the same for all.
func (a *Agent) environment(l environ.Layers) environ.Composed {
	l.Own, l.Shell = a.o.RankUser.Environment(os.Environ()), a.shell
	return l.Compose()
}

// rankEnvironment is that of a rank of the launch.
func (l *launch) rankEnvironment(seat results.Seat, scratch string, secrets map[string]string) environ.Composed {
	// libraries make their shared memory as files here, so that removing the directory
	// removes whatever a killed rank left
	weir := append(fabric.RankEnv(), fabric.ScratchEnv(scratch)...)
	if engine.RunsCommands(l.task.launch.Runner) {
		weir = append(weir, engine.LaunchScratch+"="+scratch, engine.SessionScratch+"="+l.a.o.ScratchDir)
		if l.lent != nil {
			weir = append(weir, engine.EtcdURL+"="+l.lent.URL, engine.EtcdLookup+"="+l.lent.Lookup)
		}
	}
	return l.a.environment(environ.Layers{
		Seat: seatVariables(seat, l.a.self.Node), Scenario: l.task.Env, Unset: l.task.Unset,
		Secrets: secrets, Weir: weir, Defaults: fabric.Defaults(l.task.launch.Fabric),
	})
}

// record keeps which library variables a rank has.
func (l *launch) record(rank int, c environ.Composed) {
	for _, v := range c.Record {
		v.Value, v.Ranks = l.hidden.Text(v.Value), []int{rank}
		l.variables = append(l.variables, v)
	}
	for _, name := range c.Replaced {
		l.replaced = append(l.replaced, results.Ignored{Name: name, ByWeir: true})
	}
}

// ownVariables are the library variables of this node's own environment, without secrets.
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

// Reveals says whether a text holds the value of a secret, as this host has it.
func Reveals(text string, references []string) bool {
	return vault{anywhere: true}.hidden(references).Text(text) != text
}
