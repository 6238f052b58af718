package inventory

import (
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/child"
	"github.com/weir-bench/weir/results"
)

// Load is a snapshot of the CPU load of a node.
type Load struct {
	busy, stolen float64      // ticks of all processors since boot
	waited       float64      // microseconds in which some thread waited for a processor
	average      float64      // runnable threads, averaged over a minute
	running      int          // runnable threads, including this one
	others       map[int]bool // other agents with ranks on this node
}

// ticksPerSecond is the unit of CPU times in /proc (USER_HZ).
const ticksPerSecond = 100

// ReadLoad reads the load of the node with a root file system; own is the process that starts this
// session's ranks.
func ReadLoad(root fs.FS, own int) Load {
	t := tree{root}
	l := Load{others: t.sessions(own)}
	first, _, _ := strings.Cut(t.text("proc/stat"), "\n")
	if words := strings.Fields(first); len(words) > 8 && words[0] == "cpu" {
		// user nice system idle iowait irq softirq steal; guests are in user
		for i, w := range words[1:9] {
			v, _ := strconv.ParseFloat(w, 64)
			if i != 3 && i != 4 {
				l.busy += v
			}
			if i == 7 {
				l.stolen = v
			}
		}
	}
	l.readAverage(t)
	some, _, _ := strings.Cut(t.text("proc/pressure/cpu"), "\n")
	if _, total, ok := strings.Cut(some, "total="); ok {
		l.waited, _ = strconv.ParseFloat(total, 64)
	}
	return l
}

// LoadAverage is the number of runnable threads, averaged over a minute, and their present number without
// the reader.
func LoadAverage(root fs.FS) (average float64, others int) {
	var l Load
	l.readAverage(tree{root})
	return l.average, l.Others()
}

// readAverage reads "0.20 0.18 0.12 1/80 11206": averages, running/all threads, the last process (proc_loadavg(5)).
func (l *Load) readAverage(t tree) {
	words := strings.Fields(t.text("proc/loadavg"))
	if len(words) < 4 {
		return
	}
	l.average, _ = strconv.ParseFloat(words[0], 64)
	running, _, _ := strings.Cut(words[3], "/")
	l.running, _ = strconv.Atoi(running)
}

// Others is the number of runnable threads without the reader.
func (l Load) Others() int { return max(l.running-1, 0) }

// sessions are the parents of ranks ("weir rank") on this node, except own.
func (t tree) sessions(own int) map[int]bool {
	found := map[int]bool{}
	entries, _ := fs.ReadDir(t.root, "proc")
	for _, e := range entries {
		folder := path.Join("proc", e.Name())
		if e.Name()[0] < '0' || e.Name()[0] > '9' {
			continue
		}
		argv := strings.Split(t.text(path.Join(folder, "cmdline")), "\x00")
		if len(argv) < 2 || !strings.HasPrefix(path.Base(argv[0]), "weir") || argv[1] != "rank" {
			continue
		}
		if s, ok := child.ParseStat(t.text(path.Join(folder, "stat"))); ok && s.Parent != own {
			found[s.Parent] = true
		}
	}
	return found
}

// Since is the load of a node since an earlier reading, seconds ago.
func (l Load) Since(before Load, seconds float64) results.NodeLoad {
	n := results.NodeLoad{
		Load: before.average, Running: min(before.Others(), l.Others()), Sessions: len(before.others),
	}
	if busy, stolen := l.busy-before.busy, l.stolen-before.stolen; busy > 0 && stolen > 0 {
		n.Steal, n.Stolen = min(stolen/busy, 1), stolen/ticksPerSecond
	}
	if waited := l.waited - before.waited; waited > 0 && seconds > 0 {
		n.Pressure = waited / 1e6 / seconds
	}
	return n
}
