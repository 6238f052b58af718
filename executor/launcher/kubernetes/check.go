package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/weir-bench/weir/executor/launcher"
)

// oldest is the first minor version of Kubernetes 1 with Jobs that continue after the pod of an index has failed.
const oldest = 29

// Check validates the objects of Start with a dry run in the cluster, and checks the rights of the user's
// account. It creates nothing.
func (l *Launcher) Check(ctx context.Context, r launcher.Request) error {
	if err := r.Check(); err != nil {
		return err
	}
	m, err := l.manifests(ctx, &r, nil)
	if err != nil {
		return err
	}
	if err := l.checkVersion(ctx); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		_, warnings, err := l.create(ctx, []object{m.job, m.service, m.secret}, "--dry-run=server")
		for _, w := range warnings {
			r.Tell("kubernetes warns: %s", w)
		}
		if err != nil {
			return fmt.Errorf("the cluster would not accept the session's objects: %w", err)
		}
		return nil
	})
	rights := []string{
		"patch jobs.batch", "delete jobs.batch", "list pods", "delete pods", "get pods --subresource=log",
		"list events", "list jobs.batch",
	}
	if l.NeedsCopy() {
		rights = append(rights, "create pods --subresource=exec")
	}
	for _, right := range rights {
		g.Go(func() error { return l.checkRight(ctx, right) })
	}
	return g.Wait()
}

func (l *Launcher) checkVersion(ctx context.Context) error {
	text, _, err := l.kube.Run(ctx, nil, "version", "--output", "json")
	if err != nil {
		return fmt.Errorf("reading the version of the cluster: %w", err)
	}
	var v struct {
		ServerVersion struct{ Major, Minor string }
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return fmt.Errorf("reading the output of kubectl version: %w", err)
	}
	minor, err := strconv.Atoi(strings.TrimRight(v.ServerVersion.Minor, "+")) // some clouds write 29+
	if err == nil && v.ServerVersion.Major == "1" && minor < oldest {
		return fmt.Errorf("the cluster has Kubernetes 1.%d: 1.%d or newer is needed, as older Jobs end when one of their pods fails",
			minor, oldest)
	}
	return nil
}

func (l *Launcher) checkRight(ctx context.Context, right string) error {
	out, _, err := l.kube.Run(ctx, nil, append([]string{"auth", "can-i"}, strings.Fields(right)...)...)
	switch answer := strings.TrimSpace(string(out)); {
	case strings.HasPrefix(answer, "no"): // with exit code 1
		return fmt.Errorf("your account may not %s in this namespace of the cluster: ask for a role with that, or choose another namespace or context",
			right)
	case err != nil:
		return err
	}
	return nil
}
