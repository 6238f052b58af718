package agent

import (
	"errors"
	"path/filepath"
	"strconv"
	"time"

	"weir/engine"
	"weir/executor/wire"
	"weir/results"
)

func (l *launch) spawn(scratch string, secrets map[string]string) {
	free := l.a.free() // before a rank takes any of it
	recorded := map[int]bool{}
	for i, rank := range l.task.Ranks {
		err := l.begin(i, func(self engine.Identity) (*process, engine.Identity, error) {
			var seat results.Seat
			if len(l.task.Seats) > 0 {
				seat = l.task.Seats[i]
			}
			cpus := seat.Processors()
			self.CPUs, self.Memory = l.cpus(i, cpus), &free
			p, err := l.start(self, cpus, func() []string {
				env := apart(l.rankEnvironment(seat, scratch, secrets), i)
				if !recorded[rank] {
					l.record(rank, env)
				}
				recorded[rank] = true
				return env.Env
			})
			return p, self, err
		})
		if err != nil {
			l.suspects = append(l.suspects, notStarted(rank, err))
			l.tellStop()
			return
		}
	}
	if l.lives == nil {
		l.task.text, l.task.launch.Nodes = nil, nil // the ranks and their queues have them for as long as it is needed
	}
}

func notStarted(rank int, err error) suspect {
	return suspect{
		kind: kindFailed, class: results.FailedReady, rank: rank, at: time.Now(), phase: "ready",
		cause: "starting the process: " + err.Error(),
	}
}

func (l *launch) start(self engine.Identity, cpus []int, env func() []string) (*process, error) {
	if e := l.a.o.Engine; e != nil {
		return startInside(e, wire.Launch{Launch: l.task.launch, Self: self}, l.emit), nil
	}
	log, file, err := l.a.logs.create(RankLog(l.task.LogDir, l.task.launch.Index, self.Rank))
	if err != nil {
		return nil, err
	}
	l.logs = append(l.logs, log)
	if w := l.task.Watch; w != nil {
		if err := l.a.followers.follow(log, *w); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	as := ofRanks
	if engine.RunsCommands(l.task.launch.Runner) {
		as = ofCommands
	}
	p, err := startProcess(l.a.spawner, as, cpus, l.a.o.RankCommand, env(), redacted(l.hidden, file), l.emit)
	if err != nil {
		return nil, err
	}
	p.log = log
	return p, nil
}

// RankLog is the name of a rank's log in a launch, which has this number of its group.
func RankLog(dir string, launch, rank int) string {
	return filepath.Join(dir, strconv.Itoa(launch), strconv.Itoa(rank)+".log")
}

// cpus are the processors of the node's i-th rank of the launch, one for each of its
// threads: of its own, if it has any; none where there are fewer processors than threads
// of all ranks.
func (l *launch) cpus(i int, own []int) []int {
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

// tellLaunch tells a rank what it is to do, if it does not know.
func (l *launch) tellLaunch(m *member, self engine.Identity) {
	if m.inside != nil {
		return
	}
	body, err := wire.EncodeSelf(self, l.hidden, l.task.text)
	if err != nil {
		l.suspect(m, kindFailed, err.Error())
		return
	}
	m.tell(wire.KindLaunch, body...)
}
