package launcher

import (
	"strconv"
	"strings"
)

// Identity is the rank and node of a process, from the variables of the scheduler or launcher that started it.
type Identity struct {
	Rule      string // the rule that applied, or "none"
	Rank      int    // global; -1: unknown
	Size      int    // number of ranks; 0: unknown
	LocalRank int    // on this node; -1: unknown
	Node      string // the scheduler's name of this node; "": use the host name
	// Coordinator is the host of rank 0 or of the leader, with a port if known; "": unknown.
	Coordinator string
	// Notes explain why variables were ignored.
	Notes []string
}

// rule reads the variables of one scheduler or launcher. rank, size and with must be set.
type rule struct {
	name              string
	rank, size        string // size "": unknown
	localRank         string // optional
	with              []string
	coordinator, port string // optional
	only              func(environment) (refused string)
	rankOf            func(environment) (int, bool) // instead of rank
}

// rules are in order of precedence. A launcher that runs inside of a scheduler (mpirun in a Slurm job,
// torchrun in a pod) precedes it; variables that users often export, and that other processes inherit, come
// after variables that are set for each process.
var rules = []rule{
	{name: "weir", rank: "WEIR_RANK", size: "WEIR_WORLD_SIZE", localRank: "WEIR_LOCAL_RANK"},
	{name: "torchrun", rank: "RANK", size: "WORLD_SIZE", localRank: "LOCAL_RANK",
		with:        []string{"LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "TORCHELASTIC_RUN_ID"},
		coordinator: "MASTER_ADDR", port: "MASTER_PORT"},
	{name: "openmpi", rank: "OMPI_COMM_WORLD_RANK", size: "OMPI_COMM_WORLD_SIZE",
		localRank: "OMPI_COMM_WORLD_LOCAL_RANK"},
	{name: "pmi", rank: "PMI_RANK", size: "PMI_SIZE", localRank: "MPI_LOCALRANKID"},
	{name: "pals", rank: "PALS_RANKID", localRank: "PALS_LOCAL_RANKID"},
	{name: "flux", rank: "FLUX_TASK_RANK", size: "FLUX_JOB_SIZE", localRank: "FLUX_TASK_LOCAL_ID"},
	{name: "slurm", rank: "SLURM_PROCID", size: "SLURM_STEP_NUM_TASKS", localRank: "SLURM_LOCALID", only: slurmTask},
	{name: "pmix", rank: "PMIX_RANK"},
	{name: "leaderworkerset", rank: "LWS_WORKER_INDEX", size: "LWS_GROUP_SIZE", coordinator: "LWS_LEADER_ADDRESS"},
	{
		name: "trainer", rank: "PET_NODE_RANK", size: "PET_NNODES", coordinator: "PET_MASTER_ADDR",
		port: "PET_MASTER_PORT",
	},
	{name: "torch", rank: "RANK", size: "WORLD_SIZE", localRank: "LOCAL_RANK",
		with: []string{"MASTER_ADDR"}, coordinator: "MASTER_ADDR", port: "MASTER_PORT"},
	{name: "indexed-job", rank: "JOB_COMPLETION_INDEX"},
	{name: "statefulset", with: []string{"KUBERNETES_SERVICE_HOST", "HOSTNAME"}, rankOf: ordinal},
}

// Identify reads the identity from an environment of NAME=VALUE.
func Identify(env []string) Identity {
	vars := environment{}
	for _, v := range env {
		if name, value, _ := strings.Cut(v, "="); name != "" {
			vars[name] = value
		}
	}
	id := Identity{Rule: "none", Rank: -1, LocalRank: -1, Node: vars.node()}
	for _, r := range rules {
		if !vars.has(r) {
			continue
		}
		refused := r.read(vars, &id)
		if id.Rank >= 0 {
			id.Rule = r.name
			id.Coordinator = vars.coordinator(r)
			return id
		}
		if refused != "" {
			id.Notes = append(id.Notes, refused)
		}
	}
	return id
}

type environment map[string]string

func (e environment) has(r rule) bool {
	for _, name := range append([]string{r.rank, r.size}, r.with...) {
		if name != "" && e[name] == "" {
			return false
		}
	}
	return true
}

// read fills in the identity, or returns why the variables were ignored ("" if the rule does not apply).
func (r rule) read(e environment, id *Identity) (refused string) {
	if r.only != nil {
		if refused := r.only(e); refused != "" {
			return refused
		}
	}
	rank, ok := e.count(r.rank)
	if r.rankOf != nil {
		rank, ok = r.rankOf(e)
	}
	size, sized := e.count(r.size)
	switch {
	case !ok && r.rankOf != nil:
		return ""
	case !ok:
		return r.rank + "=" + strconv.Quote(e[r.rank]) + " is no rank"
	case r.size != "" && (!sized || rank >= size):
		return r.rank + "=" + e[r.rank] + " is no rank of " + r.size + "=" + strconv.Quote(e[r.size])
	}
	id.Rank, id.Size = rank, size
	if n, ok := e.count(r.localRank); ok {
		id.LocalRank = n
	}
	return ""
}

// count reads a non-negative number.
func (e environment) count(name string) (int, bool) {
	n, err := strconv.ParseUint(e[name], 10, 31)
	return int(n), name != "" && err == nil
}

// slurmTask distinguishes a task of a job step from the shells of a batch script and of salloc, which have
// the variables of rank 0: a batch script has no step, salloc a reserved step ID (SLURM_INTERACTIVE_STEP).
func slurmTask(e environment) (refused string) {
	switch step, err := strconv.ParseUint(e["SLURM_STEP_ID"], 10, 32); {
	case e["SLURM_STEP_ID"] == "":
		return "SLURM_PROCID without SLURM_STEP_ID is a batch script's, not a task's"
	case err != nil || step >= 0xfffffff0:
		return "SLURM_STEP_ID=" + e["SLURM_STEP_ID"] + " is no step with tasks"
	}
	return ""
}

// ordinal is the number at the end of the name of a StatefulSet's pod. Other pods have five random characters.
func ordinal(e environment) (int, bool) {
	name := e["HOSTNAME"]
	end := name[strings.LastIndexByte(name, '-')+1:]
	n, err := strconv.Atoi(end)
	return n, err == nil && len(end) < 5 && end != name && strconv.Itoa(n) == end && n >= 0
}

func (e environment) node() string {
	if node := e["SLURMD_NODENAME"]; node != "" {
		return node
	}
	if e["KUBERNETES_SERVICE_HOST"] == "" {
		return "" // HOSTNAME is set by shells, and inherited across hosts by mpirun and srun
	}
	if pod := e["POD_NAME"]; pod != "" {
		return pod
	}
	return e["HOSTNAME"]
}

func (e environment) coordinator(r rule) string {
	if r.name == "slurm" {
		return firstHost(e["SLURM_STEP_NODELIST"])
	}
	host, port := e[r.coordinator], e[r.port]
	if host == "" || port == "" {
		return host
	}
	return host + ":" + port
}

func firstHost(list string) string {
	if strings.HasPrefix(list, "@") {
		return "" // never read a file that a variable names
	}
	hosts, err := Hosts(list)
	if err != nil {
		return ""
	}
	return hosts[0]
}
