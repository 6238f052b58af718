package incluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// lifetime is how long the cluster keeps what a session that is silent has made; renewed is how
// often it is told that the session lives.
var (
	lifetime = 3 * time.Minute
	renewed  = time.Minute
)

// apply makes the objects.
func (s *Service) apply(ctx, running context.Context) error {
	all, err := objects(s.r.Spec, s.r.Names)
	if err != nil || len(all) == 0 {
		return err
	}
	label(all, s.r.Session, s.r.Service)
	// This fills in the namespaces of those that have one.
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
	for _, o := range all { // so that what has been made before one fails is known
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

// made has kubectl do something with objects and gives them as it then has them.
func (s *Service) made(ctx context.Context, all []object, verb string, args ...string) ([]object, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	out, _, err := s.client.Run(ctx, written(all),
		append([]string{verb, "--filename", "-", "--output", "json"}, args...)...)
	if err != nil {
		return nil, err
	}
	return decoded(out)
}

// decoded reads objects as kubectl writes them: one behind the other, or as a List.
func decoded(text []byte) (all []object, err error) {
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var o object
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading what kubectl said: %w", err)
		}
		items, isList := o["items"].([]any)
		if !isList {
			all = append(all, o)
			continue
		}
		for _, i := range items {
			if o, ok := i.(object); ok {
				all = append(all, o)
			}
		}
	}
}

// own makes an owner in each namespace that objects are in, but for those that only they make.
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

// owner is a Job that has nothing to do: it is complete when it is made, and the cluster removes
// it a while after.
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

// name is that of an owner: of this start of this service of this session, and no other.
func (s *Service) name() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", s.r.Session, s.r.Service, s.r.Start))
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(s.r.Service))
	return "weir-" + strings.Trim(plain[:min(len(plain), 24)], "-") + "-" + hex.EncodeToString(sum[:6])
}

// renew tells the cluster that the session lives, until it is over.
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
		_, _, err := s.client.Run(
			bounded,
			nil,
			"patch",
			"job",
			nameOf(owner),
			"--namespace",
			namespaceOf(owner),
			"--type",
			"merge",
			"--patch",
			patch,
		)
		cancel()
		switch {
		case err == nil || ctx.Err() != nil:
		case strings.Contains(err.Error(), "NotFound"):
			s.fail(fmt.Errorf("somebody has deleted %s, which owns all that was applied", whatIs(owner)))
			return
		default:
			s.log.note("telling the cluster that the session lives: " + err.Error())
		}
	}
}

// Stop takes away all that the service has made, and returns when nothing is left. The pods' last
// words are kept.
func (s *Service) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.r.Spec.Stop+slack)
	defer cancel()
	s.pods.over()
	var err error
	if !s.r.Spec.Keep {
		err = errors.Join(s.uninstall(ctx), s.remove(ctx))
	}
	s.pods.lastWords(ctx)
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
	text := written(bare(all))
	if len(all) > 0 {
		if _, _, err := s.client.Run(ctx, text, "delete", "--filename", "-", "--ignore-not-found", "--wait=false",
			"--cascade=background"); err != nil {
			return fmt.Errorf("deleting %s: %w", names(all), err)
		}
	}
	s.pods.end(ctx, s.r.Spec.Stop)
	for {
		gone, left, err := s.gone(ctx, text, len(all) > 0)
		if err == nil && gone {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf(
				"the cluster has not yet taken away %s: a pod on a node that does not answer stays until that is back or removed",
				left,
			)
		case <-time.After(pollTime):
		}
	}
}

// bare are objects without all that does not name them.
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

func (s *Service) gone(ctx context.Context, text []byte, any bool) (bool, string, error) {
	var left []string
	if any {
		out, _, err := s.client.Run(ctx, text, "get", "--filename", "-", "--ignore-not-found", "--output", "name")
		if err != nil {
			return false, "what was applied", err
		}
		left = strings.Fields(string(out))
	}
	left = append(left, s.pods.left()...)
	return len(left) == 0, strings.Join(left, ", "), nil
}

// adopt makes objects that are there go with their owner.
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
			_, _, err = s.client.Run(ctx, written(bare([]object{o})), "patch", "--filename", "-", "--type", "merge",
				"--patch", string(patch))
			return err
		})
	}
	return group.Wait()
}
