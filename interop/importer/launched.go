package importer

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/ordered"
)

// launcherCall describes the processes that a launcher before a tool starts; 0: unknown.
type launcherCall struct {
	by    string // the launcher; "": none
	nodes int64
	each  int64 // processes on a node
	all   int64 // processes
}

// alone reports whether the launcher starts one process: one side of a test.
func (l launcherCall) alone() bool {
	return l.all == 1 || l.by == "srun" && l.all == 0 && l.nodes == 1 && l.each < 2
}

// ofSbatch matches a line with flags of sbatch.
var ofSbatch = lazyregexp.New(`(?m)^#SBATCH\s+([^#\n]*)`)

// allocate keeps the nodes and processes that a script asks sbatch for. Who submits it may ask for others.
func (s *script) allocate(text string) {
	words := []string{"srun"} // which has the same flags
	for _, m := range ofSbatch().FindAllStringSubmatch(text, -1) {
		words = append(words, strings.Fields(m[1])...)
	}
	if len(words) == 1 {
		return
	}
	s.allocated = launcherCallOf(words)
	if s.allocated.all == 0 {
		s.allocated.all = s.allocated.nodes * s.allocated.each
	}
	for variables, n := range map[string]int64{
		"SLURM_NNODES|SLURM_JOB_NUM_NODES": s.allocated.nodes, "SLURM_NTASKS|SLURM_NPROCS": s.allocated.all,
		"SLURM_NTASKS_PER_NODE": s.allocated.each,
	} {
		for _, name := range names(variables) {
			if n > 0 {
				s.known.set(name, strconv.FormatInt(n, 10), true)
				s.known.assume(name, true)
			}
		}
	}
}

// launcherFlags are the flags of a launcher that set the number of nodes and processes.
type launcherFlags struct{ nodes, each, all, hosts []string }

// launchers start all processes of a tool from one command line.
var launchers = map[string]launcherFlags{
	"srun": {nodes: names("-N|--nodes"), each: names("--ntasks-per-node"), all: names("-n|--ntasks"),
		hosts: names("-w|--nodelist")},
	"mpirun":        ofMPI,
	"mpiexec":       ofMPI,
	"orterun":       ofMPI,
	"mpiexec.hydra": ofMPI,
	"torchrun":      ofTorch,
}

var (
	ofMPI = launcherFlags{each: names("-N|-npernode|--npernode|-ppn|--ppn"), all: names("-n|-np|--np|-c"),
		hosts: names("-H|-host|--host|-hosts|--hosts")}
	ofTorch = launcherFlags{nodes: names("--nnodes|-nnodes"),
		each: names("--nproc-per-node|--nproc_per_node|-nproc-per-node|-nproc_per_node")}
	// perResource matches a value of --map-by of Open MPI.
	perResource = lazyregexp.New(`^ppr:(\d+):node`)
	pythonName  = lazyregexp.New(`^python[0-9.]*$`)
)

// neutralWrappers are wrappers without influence on what is measured, or where.
var neutralWrappers = names("env|time|nohup|exec|stdbuf|bash|sh")

// insteadOf says what weir has for a wrapper.
var insteadOf = map[string]string{
	"numactl": "place chooses processors and memory (cpus_per_rank, numa)",
	"taskset": "place chooses processors (cpus_per_rank)",
	"sudo":    "ranks run as the user of weir",
	"timeout": "a run has its own timeout",
	"chrt":    "ranks have the priority of weir",
	"nice":    "ranks have the priority of weir",
}

// launcherOf returns the launcher that a word names; "" if none.
func launcherOf(word string) string {
	name := path.Base(word)
	if _, ok := launchers[name]; ok {
		return name
	}
	if name == "torch.distributed.run" || name == "torch.distributed.launch" { // after python -m
		return "torchrun"
	}
	return ""
}

// isWrapper reports whether a word is a program that starts the one after it.
func isWrapper(word string) bool {
	name := path.Base(word)
	return slices.Contains(wrappers, name) || pythonName().MatchString(name)
}

// launcherCallOf reads the words before a tool.
func launcherCallOf(words []string) launcherCall {
	i := slices.IndexFunc(words, func(w string) bool { return launcherOf(w) != "" })
	if i < 0 {
		return launcherCall{}
	}
	l := launcherCall{by: launcherOf(words[i])}
	flags := launchers[l.by]
	rest := words[i+1:]
	for i, w := range rest {
		value := ""
		if i+1 < len(rest) {
			value = rest[i+1]
		}
		name, own, has := strings.Cut(w, "=")
		if has {
			value = own
		} else if len(w) > 2 && w[0] == '-' && w[1] != '-' && isCount(w[2:]) { // -N2
			name, value = w[:2], w[2:]
		}
		l.take(flags, name, value)
	}
	if l.nodes == 0 && l.each > 0 && l.all%l.each == 0 {
		l.nodes = l.all / l.each
	}
	if l.each == 0 && l.nodes > 0 && l.all%l.nodes == 0 {
		l.each = l.all / l.nodes
	}
	return l
}

func (l *launcherCall) take(flags launcherFlags, name, value string) {
	for _, f := range []struct {
		names []string
		to    *int64
	}{{flags.nodes, &l.nodes}, {flags.each, &l.each}, {flags.all, &l.all}} {
		if isCount(value) && slices.Contains(f.names, name) {
			*f.to, _ = strconv.ParseInt(value, 10, 64)
		}
	}
	if m := perResource().FindStringSubmatch(value); name == "--map-by" && m != nil {
		l.each, _ = strconv.ParseInt(m[1], 10, 64)
	}
	if slices.Contains(flags.hosts, name) && !strings.ContainsAny(value, "[]") && value != "" {
		var hosts []string
		for _, h := range strings.Split(value, ",") {
			h, _, _ = strings.Cut(h, ":")
			if !slices.Contains(hosts, h) {
				hosts = append(hosts, h)
			}
		}
		l.nodes = int64(len(hosts))
	}
}

// isCount reports whether a word is a number of nodes or processes.
func isCount(word string) bool {
	n, err := strconv.ParseInt(word, 10, 64)
	return err == nil && n > 0 && n <= mostProcesses
}

// skipped notes ignored words before the tool's name that say where it runs, or how often.
func skipped(words []string) []Note {
	var named []string
	var notes []Note
	for i, w := range words {
		name := path.Base(w)
		starts := i == 0 || isWrapper(words[i-1]) || strings.HasPrefix(words[i-1], "-") || insteadOf[name] != ""
		silent := slices.Contains(neutralWrappers, name) || pythonName().MatchString(name) || launcherOf(w) != ""
		switch {
		case !starts || !slices.Contains(wrappers, name) || silent || slices.Contains(named, name):
		case insteadOf[name] != "":
			notes = ordered.Append(notes, Note{Text: name + " is not taken over: " + insteadOf[name]})
		default:
			named = append(named, name)
		}
	}
	if named != nil {
		notes = append(notes, Note{Text: "words before the tool's name are ignored: " + strings.Join(named, ", ")})
	}
	return notes
}
