package launch

import (
	"strconv"
	"strings"
)

// Identity is what a process can tell about itself from its environment when
// something else than weir has started it, one of many.
type Identity struct {
	Rule      string // which of the rules told; "none" if none did
	Rank      int    // of all; -1: not known
	Size      int    // how many there are; 0: not known
	LocalRank int    // of those on this node; -1: not known
	LocalSize int    // how many there are on this node; 0: not known
	Node      string // how the scheduler calls this node; "": it does not say, so the host name will do
	// Coordinator is the host that rank 0 or the leader can be reached at, with a port if
	// there is one; "": not known.
	Coordinator string
	// Notes say which variables looked as if they told, and why they were not believed.
	Notes []string
}

// rule is one way of being told. Every variable that it names must be there.
type rule struct {
	name                 string
	rank, size           string // size "": it is not known
	localRank, localSize string // these need not be there
	with                 []string
	coordinator, port    string // these neither
	only                 func(environment) (refused string)
	rankOf               func(environment) (int, bool) // instead of rank
}

// rules in the order of who is right where several speak. What launches ranks inside of
// something else (mpirun in a Slurm job, torchrun in a pod) stands before it, and what is
// often exported by hand, and then inherited by processes that it is not about, behind
// what is set for each process.
var rules = []rule{
	{name: "weir", rank: "WEIR_RANK", size: "WEIR_WORLD_SIZE", localRank: "WEIR_LOCAL_RANK"},
	{name: "torchrun", rank: "RANK", size: "WORLD_SIZE", localRank: "LOCAL_RANK", localSize: "LOCAL_WORLD_SIZE",
		with:        []string{"LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "TORCHELASTIC_RUN_ID"},
		coordinator: "MASTER_ADDR", port: "MASTER_PORT"},
	{name: "openmpi", rank: "OMPI_COMM_WORLD_RANK", size: "OMPI_COMM_WORLD_SIZE",
		localRank: "OMPI_COMM_WORLD_LOCAL_RANK", localSize: "OMPI_COMM_WORLD_LOCAL_SIZE"},
	{name: "pmi", rank: "PMI_RANK", size: "PMI_SIZE", localRank: "MPI_LOCALRANKID", localSize: "MPI_LOCALNRANKS"},
	{name: "pals", rank: "PALS_RANKID", localRank: "PALS_LOCAL_RANKID"},
	{name: "flux", rank: "FLUX_TASK_RANK", size: "FLUX_JOB_SIZE", localRank: "FLUX_TASK_LOCAL_ID"},
	{name: "slurm", rank: "SLURM_PROCID", size: "SLURM_STEP_NUM_TASKS", localRank: "SLURM_LOCALID", only: slurmTask},
	{name: "pmix", rank: "PMIX_RANK"},
	{name: "leaderworkerset", rank: "LWS_WORKER_INDEX", size: "LWS_GROUP_SIZE", coordinator: "LWS_LEADER_ADDRESS"},
	{
		name: "trainer", rank: "PET_NODE_RANK", size: "PET_NNODES", coordinator: "PET_MASTER_ADDR",
		port: "PET_MASTER_PORT",
	},
	{name: "torch", rank: "RANK", size: "WORLD_SIZE", localRank: "LOCAL_RANK", localSize: "LOCAL_WORLD_SIZE",
		with: []string{"MASTER_ADDR"}, coordinator: "MASTER_ADDR", port: "MASTER_PORT"},
	{name: "indexed-job", rank: "JOB_COMPLETION_INDEX"},
	{name: "statefulset", with: []string{"KUBERNETES_SERVICE_HOST", "HOSTNAME"}, rankOf: ordinal},
}

// Identify reads an environment of NAME=VALUE.
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

// read fills in what the rule says, or says why it is not believed; nothing, if it
// only looked alike.
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
	if n, ok := e.count(r.localSize); ok && n > id.LocalRank {
		id.LocalSize = n
	}
	return ""
}

// count reads a small number that is not negative.
func (e environment) count(name string) (int, bool) {
	n, err := strconv.ParseUint(e[name], 10, 31)
	return int(n), name != "" && err == nil
}

// slurmTask tells a task of a job step from the shell of a batch script, which has
// the same variables, as if it were rank 0 of all, without a step; and from that of
// salloc, whose step has a number from the top of the range (SLURM_INTERACTIVE_STEP).
func slurmTask(e environment) (refused string) {
	switch step, err := strconv.ParseUint(e["SLURM_STEP_ID"], 10, 32); {
	case e["SLURM_STEP_ID"] == "":
		return "SLURM_PROCID without SLURM_STEP_ID is a batch script's, not a task's"
	case err != nil || step >= 0xfffffff0:
		return "SLURM_STEP_ID=" + e["SLURM_STEP_ID"] + " is no step with tasks"
	}
	return ""
}

// ordinal reads the number at the end of a pod's name, as StatefulSets give it. Pods of
// others end in five characters of chance.
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
		return "" // HOSTNAME is a habit of shells, and inherited over hosts by mpirun and srun
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
		return "" // no file is read because of an environment
	}
	hosts, err := Hosts(list)
	if err != nil {
		return ""
	}
	return hosts[0]
}
