package executor

import (
	"cmp"
	"context"

	"weir/executor/agent"
	"weir/executor/cluster"
)

// place starts the ranks.
func (l *launched) place(ctx context.Context) {
	err := l.begin(ctx)
	l.packed = nil // it may be long, and launches of a background are kept
	l.err = cmp.Or(l.err, err)
}

func (l *launched) begin(ctx context.Context) error {
	specs, all, err := l.specs()
	if err != nil {
		return err
	}
	host, err := l.s.cluster.Host(ctx, l.id, l.engine.Nodes)
	if err != nil {
		return err
	}
	if l.task, err = l.s.start(ctx, l.id, specs, all, l.take, l.gone); err != nil {
		host.Close()
		return err
	}
	l.task.host = host
	return nil
}

// specs are the launch's tasks, by node, and what they share.
func (l *launched) specs() (map[string][]byte, *shared, error) {
	ranks := map[string][]int{}
	for r, node := range l.engine.Nodes {
		ranks[node] = append(ranks[node], r)
	}
	specs, all := make(map[string][]byte, len(ranks)), &shared{cluster.TextFor(l.packed, len(ranks)), l.packed}
	dir, logs := l.s.ledger.GroupDir(l.g.ID), map[string][]string{}
	env, err := l.cases[0].SettledEnv(l.known)
	if err != nil {
		return nil, nil, err
	}
	for node, list := range ranks {
		spec, err := agent.Task{Redact: l.s.secrets, Launch: &agent.LaunchTask{
			Text: all.where, Ranks: list, Env: env, Unset: l.cases[0].Unset, Secrets: l.cases[0].Secrets,
			LogDir:    dir,
			Deadlines: phases(l.s.ledger.Run(l.g.Run).Phases), CPUs: l.cpus[node], Seats: l.seatsOf(list), Etcd: l.etcd,
		}}.Encode()
		if err != nil {
			return nil, nil, err
		}
		specs[node] = spec
		for _, rank := range list {
			logs[node] = append(logs[node], agent.RankLog(dir, l.engine.Index, rank))
		}
	}
	l.s.expect(l.id, logs)
	return specs, all, nil
}

// phases are the deadlines that a run sets itself.
func phases(p map[string]float64) agent.Deadlines {
	return agent.Deadlines{
		Ready: seconds(p["ready"]), Connect: seconds(p["connect"]), Teardown: seconds(p["teardown"]),
		Run: seconds(p["run"]), Verify: seconds(p["verify"]),
	}
}
