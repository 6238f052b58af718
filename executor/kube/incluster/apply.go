package incluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weir-bench/weir/executor/kube"
)

// lifetime is the time to live of a session's objects without renewal; renewed is the renewal interval.
var (
	lifetime = 3 * time.Minute
	renewed  = time.Minute
)

// apply creates the objects.
func (s *Service) apply(ctx, running context.Context) error {
	all, err := objects(ctx, s.client, s.r.Spec, s.r.Names)
	if err != nil || len(all) == 0 {
		return err
	}
	label(all, s.r.Session, s.r.Service)
	// a dry run fills in the namespaces
	if all, err = s.made(ctx, all, "create", "--dry-run=client"); err != nil {
		return err
	}
	if s.r.Spec.Keep {
		s.say("applying %s, which stay", names(all))
		s.applied, err = s.made(ctx, all, "apply")
		return err
	}
	if err := s.own(ctx, running, all); err != nil {
		return err
	}
	s.say("applying %s", names(all))
	s.applied = nil
	for _, o := range all { // one at a time, so that s.applied is right after a failure
		made, err := s.made(ctx, []object{o}, "create")
		if err != nil {
			return err
		}
		s.applied = append(s.applied, made...)
	}
	return nil
}

func names(all []object) string {
	var list []string
	for _, o := range all {
		list = append(list, whatIs(o))
	}
	return strings.Join(list, ", ")
}

// made runs a verb of kubectl on objects and returns the resulting objects.
func (s *Service) made(ctx context.Context, all []object, verb string, args ...string) ([]object, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	all, _, err := s.client.Do(ctx, verb, all, args...)
	return all, err
}

// own creates an owner in each namespace of the objects, except in namespaces that are among the objects.
func (s *Service) own(ctx, running context.Context, all []object) error {
	fresh := map[string]bool{}
	for _, o := range all {
		if textOf(o, "kind") == "Namespace" {
			fresh[nameOf(o)] = true
		}
	}
	for _, o := range all {
		ns := namespaceOf(o)
		if ns == "" || fresh[ns] || s.owners[ns] != nil {
			continue
		}
		owner, err := s.made(ctx, []object{s.owner(ns)}, "create")
		if err != nil {
			return err
		}
		s.owners[ns] = owner[0]
		s.background.Go(func() { s.renew(running, owner[0], time.Now()) })
	}
	own(all, s.owners)
	return nil
}

// owner is a Job without pods: it is complete at once, and the cluster removes it after its time to live.
func (s *Service) owner(namespace string) object {
	labels := object{"app.kubernetes.io/name": "weir", "app.kubernetes.io/managed-by": "weir"}
	mark(labels, s.r.Session, s.r.Service)
	return object{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": object{"name": s.name(), "namespace": namespace, "labels": labels},
		"spec": object{
			"completions": 0, "parallelism": 0, "ttlSecondsAfterFinished": int(lifetime / time.Second),
			"template": object{"spec": object{
				"restartPolicy": "Never",
				"containers":    []any{object{"name": "none", "image": "none.invalid/none:none"}},
			}},
		},
	}
}

// name is the unique name of an owner, for this start of this service of this session.
func (s *Service) name() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", s.r.Session, s.r.Service, s.r.Start))
	plain := kube.Plain(s.r.Service)
	return "weir-" + strings.Trim(plain[:min(len(plain), 24)], "-") + "-" + hex.EncodeToString(sum[:6])
}

// renew extends the time to live of an owner until the session ends.
func (s *Service) renew(ctx context.Context, owner object, since time.Time) {
	for tick := time.NewTicker(renewed); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		until := time.Since(since) + lifetime
		patch := fmt.Sprintf(`{"spec":{"ttlSecondsAfterFinished":%d}}`, until/time.Second)
		bounded, cancel := context.WithTimeout(ctx, lifetime/3)
		_, _, err := s.client.Run(bounded, nil, "patch", "job", nameOf(owner), "--namespace", namespaceOf(owner),
			"--type", "merge", "--patch", patch)
		cancel()
		switch {
		case err == nil || ctx.Err() != nil:
		case strings.Contains(err.Error(), "NotFound"):
			s.fail(fmt.Errorf("%s, the owner of all applied objects, was deleted", whatIs(owner)))
			return
		default:
			s.log.note("renewing " + whatIs(owner) + ": " + err.Error())
		}
	}
}

// Stop removes all objects of the service, and returns when they are gone. The last output of pods is kept.
func (s *Service) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.r.Spec.Stop+slack)
	defer cancel()
	s.pods.over()
	var err error
	if !s.r.Spec.Keep {
		err = errors.Join(s.uninstall(ctx), s.remove(ctx))
	}
	s.pods.drainLogs(ctx)
	s.stop()
	s.background.Wait()
	return err
}

// remove deletes the objects and waits until they and their pods are gone.
func (s *Service) remove(ctx context.Context) error {
	all := append([]object{}, s.applied...)
	for _, o := range s.owners {
		all = append(all, o)
	}
	if len(all) == 0 && !s.released {
		return nil
	}
	objects := bare(all)
	if len(all) > 0 {
		if _, _, err := s.client.Run(ctx, kube.Documents(objects), "delete", "--filename", "-", "--ignore-not-found",
			"--wait=false", "--cascade=background"); err != nil {
			return fmt.Errorf("deleting %s: %w", names(all), err)
		}
	}
	s.pods.end(ctx, s.r.Spec.Stop)
	for {
		gone, left, err := s.gone(ctx, objects)
		if err == nil && gone {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the cluster has not yet removed %s: a pod on an unreachable node stays until the node is back or removed",
				left)
		case <-time.After(pollTime):
		}
	}
}

// bare are objects reduced to their identity.
func bare(all []object) (out []object) {
	for _, o := range all {
		m := object{"name": nameOf(o)}
		if ns := namespaceOf(o); ns != "" {
			m["namespace"] = ns
		}
		out = append(out, object{"apiVersion": o["apiVersion"], "kind": o["kind"], "metadata": m})
	}
	return out
}

func (s *Service) gone(ctx context.Context, objects []object) (bool, string, error) {
	var left []string
	if len(objects) > 0 {
		out, _, err := s.client.Run(ctx, kube.Documents(objects), "get", "--filename", "-", "--ignore-not-found",
			"--output", "name")
		if err != nil {
			return false, "the applied objects", err
		}
		left = strings.Fields(string(out))
	}
	left = append(left, s.pods.left()...)
	return len(left) == 0, strings.Join(left, ", "), nil
}

// adopt adds the owner reference to existing objects.
func (s *Service) adopt(ctx context.Context, all []object) error {
	var group errgroup.Group
	group.SetLimit(4)
	for _, o := range all {
		owner := s.owners[namespaceOf(o)]
		if owner == nil {
			continue
		}
		group.Go(func() error {
			patch, err := json.Marshal(object{"metadata": object{"ownerReferences": []any{reference(owner)}}})
			if err != nil {
				return err
			}
			_, _, err = s.client.Run(ctx, kube.Documents(bare([]object{o})), "patch", "--filename", "-", "--type",
				"merge", "--patch", string(patch))
			return err
		})
	}
	return group.Wait()
}
