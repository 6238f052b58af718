package agent

import (
	"errors"
	"path/filepath"
	"strconv"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/wire"
	"github.com/weir-bench/weir/results"
)

func (l *nodeLaunch) startAll(scratch string, secrets map[string]string) {
	free := l.a.freeMemory() // before ranks use it
	recorded := map[int]bool{}
	for i, rank := range l.task.Ranks {
		err := l.startFirst(i, func(self engine.Identity) (*process, engine.Identity, error) {
			var binding results.Binding
			if len(l.task.Bindings) > 0 {
				binding = l.task.Bindings[i]
			}
			cpus := binding.Processors()
			self.CPUs, self.Memory, self.Clock = l.cpus(i, cpus), &free, l.clock.Ahead()
			p, err := l.startRank(self, cpus, func() []string {
				env := withTelemetryPort(l.rankEnvironment(binding, scratch, secrets), i)
				if !recorded[rank] {
					l.recordEnvironment(rank, env)
				}
				recorded[rank] = true
				return env.Env
			})
			return p, self, err
		})
		if err != nil {
			l.causes = append(l.causes, startCause(rank, err))
			l.sendStop()
			return
		}
	}
	if l.lives == nil {
		l.task.text, l.task.launch.Nodes = nil, nil // large, and not needed any more
	}
}

func startCause(rank int, err error) cause {
	return cause{
		kind: causeFailed, class: results.FailedReady, rank: rank, at: time.Now(), phase: "ready",
		text: "starting the process: " + err.Error(),
	}
}

func (l *nodeLaunch) startRank(self engine.Identity, cpus []int, env func() []string) (*process, error) {
	if e := l.a.o.Engine; e != nil {
		return startInProcess(e, wire.Launch{Launch: l.task.launch, Self: self}, l.emit), nil
	}
	log, file, err := l.a.logs.create(RankLog(l.task.LogDir, l.task.launch.Index, self.Rank))
	if err != nil {
		return nil, err
	}
	l.logs = append(l.logs, log)
	if w := l.task.Watch; w != nil {
		if err := l.a.followers.follow(log, *w, l.clock); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	as := forRanks
	if engine.RunsCommands(l.task.launch.Runner) {
		as = forCommands
	}
	p, err := startProcess(l.a.spawner, as, cpus, l.a.o.RankCommand, env(), redacted(l.hidden, file), l.emit)
	if err != nil {
		return nil, err
	}
	p.log = log
	l.startSampling(log, p.pid)
	return p, nil
}

// RankLog is the name of a rank's log in a launch with this index in its group.
func RankLog(dir string, launch, rank int) string {
	return filepath.Join(dir, strconv.Itoa(launch), strconv.Itoa(rank)+".log")
}

// cpus are the processors of the node's i-th rank, one for each of its threads: of its binding, if that has enough;
// nil: there are fewer processors than threads of all ranks.
func (l *nodeLaunch) cpus(i int, own []int) []int {
	each := l.task.launch.Threads
	if len(own) >= each {
		return own[:each]
	}
	first := l.task.CPUs.First + i*each
	if max(l.task.CPUs.Threads, l.task.CPUs.First+len(l.task.Ranks)*each) > len(l.a.cpus) {
		return nil
	}
	return l.a.cpus[first : first+each]
}

func (l *nodeLaunch) sendLaunch(m *localRank, self engine.Identity) {
	if m.inProcess != nil {
		return
	}
	body, err := wire.EncodeSelf(self, l.hidden, l.task.text)
	if err != nil {
		l.fail(m, causeFailed, err.Error())
		return
	}
	m.queue(wire.KindLaunch, body...)
}
