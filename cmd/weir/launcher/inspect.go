package launcher

import (
	"cmp"
	"context"

	"github.com/weir-bench/weir/executor/kube"
	"github.com/weir-bench/weir/executor/launcher/slurm"
	"github.com/weir-bench/weir/planner"
)

// Used is the name of the launcher of Fleet; Local before.
func (f *Flags) Used() string { return cmp.Or(f.used, Local) }

// Inspect asks Kubernetes or Slurm what it lacks for a check. Kubernetes is that of the launcher's settings, or the
// current context of kubectl.
func (f *Flags) Inspect(ctx context.Context, c *planner.ClusterCheck) ([]string, error) {
	if c.OfSlurm() {
		return slurm.Lacks(ctx, slurm.Wanted{
			Partition: c.Partition, Features: c.Features, GRES: c.GRES, Nodes: c.Nodes,
		})
	}
	o := f.config.kube.Access()
	client := &kube.Client{
		Program: o.Kubectl, Context: o.Context, Namespace: o.Namespace, Missing: "install it",
		Hints: []kube.Hint{{Said: "(Forbidden)", Do: "your account needs get and list of what the check is about; " +
			"severity: warn of the check goes on without"}},
	}
	return client.Lacks(ctx, kube.Wanted{
		DaemonSet: c.DaemonSet, Deployment: c.Deployment, CRD: c.CRD, Namespace: c.Namespace, Exists: c.Exists,
		Labels: c.Labels, Allocatable: c.Allocatable, Nodes: c.Nodes,
	})
}
