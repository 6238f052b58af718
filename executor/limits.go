package executor

import (
	"weir/executor/agent"
	"weir/executor/cluster"
	"weir/executor/rlimit"
	"weir/workload"
)

// etcdThreads are those that the session's own etcd brings, and some more.
const etcdThreads = 10

// checkLimits says, before anything is started, what the limits of this process do not
// leave room for.
func (s *session) checkLimits() error {
	var n rlimit.Needs
	agents := max(len(s.o.Nodes), 1)
	if s.o.Fleet == nil && s.o.inside == nil {
		ranks := s.perNode(func(workload.Demand) int { return 1 })
		n = agent.Needs(agents*ranks, agents*s.threadsPerNode())
		n.Threads += etcdThreads
	}
	if len(s.o.Etcd.Endpoints) == 0 && s.o.inside == nil {
		n.Descriptors = max(n.Descriptors, cluster.Descriptors(1+agents))
	}
	return rlimit.Check(n)
}
