package launcher

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What Slurm 22.05, Open MPI 4.1.4 and Kubernetes 1.36 set, as seen.
const (
	slurmStep = `SLURM_PROCID=1 SLURM_LOCALID=0 SLURM_NODEID=1 SLURM_NTASKS=2 SLURM_NNODES=2 SLURM_STEP_ID=0 SLURM_JOB_ID=3
		SLURM_JOB_NODELIST=node[1-2] SLURM_STEP_NODELIST=node[1-2] SLURM_STEP_NUM_TASKS=2 SLURM_STEP_TASKS_PER_NODE=1(x2) SLURM_GTIDS=1
		SLURMD_NODENAME=node2 SLURM_SUBMIT_DIR=/home/u`
	slurmBatch = `SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_NTASKS=6 SLURM_JOB_ID=4 SLURM_JOB_NODELIST=wl[1-3] SLURMD_NODENAME=wl1 HOSTNAME=login-1`
	mpirun     = `OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1 OMPI_COMM_WORLD_NODE_RANK=0
		PMIX_RANK=2`
	pod = `KUBERNETES_SERVICE_HOST=10.96.0.1 `
)

func TestIdentify(t *testing.T) {
	unknown := Identity{Rule: "none", Rank: -1, LocalRank: -1}
	for _, c := range []struct {
		name, env string
		want      Identity
	}{
		{"nothing", "PATH=/bin HOME=/root HOSTNAME=gpu-3", unknown},
		{"weir's own win", "WEIR_RANK=7 WEIR_WORLD_SIZE=8 WEIR_LOCAL_RANK=3 " + slurmStep,
			Identity{Rule: "weir", Rank: 7, Size: 8, LocalRank: 3, Node: "node2"}},
		{"a rank outside of its size", "WEIR_RANK=8 WEIR_WORLD_SIZE=8",
			Identity{
				Rule: "none", Rank: -1, LocalRank: -1, Notes: []string{`WEIR_RANK=8 is no rank of WEIR_WORLD_SIZE="8"`},
			}},
		{"torchrun", "RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4 GROUP_RANK=1 TORCHELASTIC_RUN_ID=x MASTER_ADDR=h0 MASTER_PORT=29500",
			Identity{Rule: "torchrun", Rank: 5, Size: 8, LocalRank: 1, Coordinator: "h0:29500"}},
		{"torchrun in a Slurm step", slurmStep +
			" RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4 GROUP_RANK=1 TORCHELASTIC_RUN_ID=x",
			Identity{Rule: "torchrun", Rank: 5, Size: 8, LocalRank: 1, Node: "node2"}},
		{"mpirun", mpirun, Identity{Rule: "openmpi", Rank: 2, Size: 3, LocalRank: 0}},
		{"mpirun in a job: the step is that of its daemon", mpirun + " " + slurmStep,
			Identity{Rule: "openmpi", Rank: 2, Size: 3, LocalRank: 0, Node: "node2"}},
		{"srun --mpi=pmi2", "PMI_RANK=1 PMI_SIZE=2 " + slurmStep, Identity{
			Rule: "pmi", Rank: 1, Size: 2, LocalRank: -1, Node: "node2",
		}},
		{"srun", slurmStep, Identity{
			Rule: "slurm", Rank: 1, Size: 2, LocalRank: 0, Node: "node2", Coordinator: "node1",
		}},
		{"srun after exports of a batch script", "RANK=0 WORLD_SIZE=2 MASTER_ADDR=node1 MASTER_PORT=1 " + slurmStep,
			Identity{Rule: "slurm", Rank: 1, Size: 2, LocalRank: 0, Node: "node2", Coordinator: "node1"}},
		// it has no SLURM_STEP_NUM_TASKS either
		{"a batch script", slurmBatch, Identity{Rule: "none", Rank: -1, LocalRank: -1, Node: "wl1"}},
		{"a batch script, were it to say", slurmBatch + " SLURM_STEP_NUM_TASKS=6",
			Identity{Rule: "none", Rank: -1, LocalRank: -1, Node: "wl1",
				Notes: []string{"SLURM_PROCID without SLURM_STEP_ID is a batch script's, not a task's"}}},
		{"salloc's shell", "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 SLURM_STEP_ID=4294967290 SLURMD_NODENAME=wl1",
			Identity{Rule: "none", Rank: -1, LocalRank: -1,
				Node: "wl1", Notes: []string{"SLURM_STEP_ID=4294967290 is no step with tasks"}}},
		{"flux", "FLUX_TASK_RANK=3 FLUX_JOB_SIZE=4 FLUX_TASK_LOCAL_ID=1",
			Identity{Rule: "flux", Rank: 3, Size: 4, LocalRank: 1}},
		{"a group of LeaderWorkerSet", pod + "LWS_WORKER_INDEX=1 LWS_GROUP_SIZE=2 LWS_LEADER_ADDRESS=w-0.w HOSTNAME=w-0-1",
			Identity{Rule: "leaderworkerset", Rank: 1, Size: 2, LocalRank: -1, Node: "w-0-1", Coordinator: "w-0.w"}},
		{"Kubeflow's trainer", pod + "PET_NODE_RANK=1 PET_NNODES=2 PET_NPROC_PER_NODE=8 PET_MASTER_ADDR=j-0 PET_MASTER_PORT=29400 JOB_COMPLETION_INDEX=1 HOSTNAME=j-1",
			Identity{Rule: "trainer", Rank: 1, Size: 2, LocalRank: -1, Node: "j-1", Coordinator: "j-0:29400"}},
		{"a PyTorchJob", pod + "RANK=1 WORLD_SIZE=2 MASTER_ADDR=p-master-0 MASTER_PORT=23456 POD_NAME=p-worker-0 HOSTNAME=x",
			Identity{
				Rule: "torch", Rank: 1, Size: 2, LocalRank: -1, Node: "p-worker-0", Coordinator: "p-master-0:23456",
			}},
		{"an Indexed Job", pod + "JOB_COMPLETION_INDEX=4 HOSTNAME=weir-4", Identity{
			Rule: "indexed-job", Rank: 4, LocalRank: -1, Node: "weir-4",
		}},
		{"a StatefulSet", pod + "HOSTNAME=weir-agents-11", Identity{
			Rule: "statefulset", Rank: 11, LocalRank: -1, Node: "weir-agents-11",
		}},
		{"a Deployment", pod + "HOSTNAME=weir-7d4b9c-24567", Identity{
			Rule: "none", Rank: -1, LocalRank: -1, Node: "weir-7d4b9c-24567",
		}},
		{"PMIx alone", "PMIX_RANK=3", Identity{Rule: "pmix", Rank: 3, LocalRank: -1}},
		{"PALS alone", "PALS_RANKID=3 PALS_LOCAL_RANKID=1", Identity{Rule: "pals", Rank: 3, LocalRank: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Identify(strings.Fields(c.env))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever the environment, an identity makes sense in itself.
func FuzzIdentify(f *testing.F) {
	for _, seed := range []string{
		slurmStep, slurmBatch, mpirun, pod + "HOSTNAME=a-1", "RANK=-1 WORLD_SIZE=x MASTER_ADDR=y",
		"WEIR_RANK=1 WEIR_WORLD_SIZE=99999999999",
	} {
		f.Add(strings.Join(strings.Fields(seed), "\n"))
	}
	f.Fuzz(func(t *testing.T, env string) {
		id := Identify(strings.Split(env, "\n"))
		if id.Rank < -1 || id.Size < 0 || id.Size > 0 && id.Rank >= id.Size {
			t.Errorf("%+v", id)
		}
		if known := slices.ContainsFunc(rules,
			func(r rule) bool { return r.name == id.Rule }); known != (id.Rank >= 0) {
			t.Errorf("rule %s gives rank %d", id.Rule, id.Rank)
		}
	})
}
