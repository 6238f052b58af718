package incluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"weir/executor/kubectl"
)

// release is the name of the release.
func (s *Service) release() string {
	if s.r.Spec.Helm.Release != "" {
		return s.r.Spec.Helm.Release
	}
	return s.name()
}

// helm runs the user's helm where the service is.
func (s *Service) helm(ctx context.Context, args ...string) ([]byte, error) {
	program := s.r.Helm
	if program == "" {
		program = "helm"
	}
	if s.r.Spec.Context != "" {
		args = append(args, "--kube-context", s.r.Spec.Context)
	}
	if s.r.Spec.Namespace != "" {
		args = append(args, "--namespace", s.r.Spec.Namespace)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = time.Second
	out, errs := kubectl.Bounded{Most: 16 << 20}, kubectl.Bounded{Most: 64 << 10}
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	switch {
	case err == nil:
		return out.Bytes(), nil
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%s is not installed here: weir makes releases through it; install it, or put it on the PATH of weir",
			program)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("helm %s: %w", args[0], context.Cause(ctx))
	}
	said := strings.Join(strings.Fields(strings.ReplaceAll(errs.String(), "Error: ", "")), " ")
	return nil, fmt.Errorf("helm %s: %s", args[0], said)
}

// installArguments are those of helm upgrade --install with files of values.
func (s *Service) installArguments(values []string) []string {
	h := s.r.Spec.Helm
	args := []string{
		"upgrade", s.release(), h.Chart, "--install", "--wait", "--timeout",
		strconv.Itoa(max(1, int(s.r.Spec.Within.Seconds()))) + "s",
	}
	if h.Version != "" {
		args = append(args, "--version", h.Version)
	}
	for _, file := range values {
		args = append(args, "--values", file)
	}
	return args
}

// install makes the release, and waits until what is in it is ready.
func (s *Service) install(ctx, running context.Context) error {
	h := s.r.Spec.Helm
	if h == nil {
		return nil
	}
	dir, err := os.MkdirTemp("", "weir-helm-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var files []string
	for i, text := range h.Values {
		file := filepath.Join(dir, fmt.Sprintf("values-%d.yaml", i))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
		files = append(files, file)
	}
	if !s.r.Spec.Keep {
		if _, err := s.helm(ctx, "status", s.release()); err == nil {
			return fmt.Errorf("there is a release %s already, which would be uninstalled at the end: remove it, or say keep: true",
				s.release())
		}
	}
	s.say("helm installs %s as release %s, and waits until it is ready", h.Chart, s.release())
	s.released = true // also half of it is to be taken away
	unbroken, cancel := s.unlessBroken(ctx)
	_, err = s.helm(unbroken, s.installArguments(files)...)
	if cancel(); err != nil {
		return errors.Join(s.pods.wrong(), err)
	}
	return s.adoptRelease(ctx, running)
}

// adoptRelease makes what helm has made go with an owner, also when weir is killed.
func (s *Service) adoptRelease(ctx, running context.Context) error {
	out, err := s.helm(ctx, "get", "manifest", s.release())
	if err != nil {
		return err
	}
	all, err := read([]string{string(out)}, "the release "+s.release())
	if err != nil {
		return err
	}
	if all, err = s.made(ctx, all, "get"); err != nil {
		return err
	}
	s.pods.claim(running, all)
	if s.r.Spec.Keep {
		return nil
	}
	var records struct{ Items []object }
	if err := s.client.Get(ctx, &records, "secrets", "--selector", "owner=helm,name="+s.release()); err != nil {
		return err
	}
	all = append(all, records.Items...)
	for i, o := range all {
		if textOf(o, "kind") == "" { // items of a list need not say it
			all[i]["kind"], all[i]["apiVersion"] = "Secret", "v1"
		}
	}
	if err := s.own(ctx, running, all); err != nil {
		return err
	}
	return s.adopt(ctx, all)
}

// uninstall takes the release away.
func (s *Service) uninstall(ctx context.Context) error {
	if !s.released {
		return nil
	}
	_, err := s.helm(ctx, "uninstall", s.release(), "--ignore-not-found", "--wait", "--timeout",
		strconv.Itoa(int((s.r.Spec.Stop+slack/2).Seconds()))+"s")
	return err
}
