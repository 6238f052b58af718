package incluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weir-bench/weir/executor/kube"
	"github.com/weir-bench/weir/internal/child"
)

// release is the name of the release.
func (s *Service) release() string {
	if s.r.Spec.Helm.Release != "" {
		return s.r.Spec.Helm.Release
	}
	return s.name()
}

// helm runs the user's helm in the context and namespace of the service.
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
	// Ctrl-C at a terminal goes to weir alone; helm is killed with this thread
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	child.DieWithThread(cmd.SysProcAttr)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	out, errs := kube.Bounded{Most: 16 << 20}, kube.Bounded{Most: 64 << 10}
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	switch {
	case err == nil:
		return out.Bytes(), nil
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%s is not installed here, and weir needs it for releases; install it, or put it on the PATH of weir",
			program)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("helm %s: %w", args[0], context.Cause(ctx))
	}
	said := strings.Join(strings.Fields(strings.ReplaceAll(errs.String(), "Error: ", "")), " ")
	return nil, fmt.Errorf("helm %s: %s", args[0], said)
}

// installArguments are the arguments of helm upgrade --install with files of values.
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

// install installs the release, and waits until it is ready.
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
			return fmt.Errorf("release %s exists already and would be uninstalled at the end: remove it, or set keep: true",
				s.release())
		}
	}
	s.say("helm installs %s as release %s, and waits until it is ready", h.Chart, s.release())
	s.released = true // a partial release is uninstalled too
	unbroken, cancel := s.unlessBroken(ctx)
	defer cancel()
	if err := s.adoptWhile(ctx, running, func() error {
		_, err := s.helm(unbroken, s.installArguments(files)...)
		return err
	}); err != nil {
		return errors.Join(s.pods.wrong(), err)
	}
	_, err = s.adoptRelease(ctx, running)
	return err
}

// adoptWhile runs an installation and adopts its objects while helm still waits for them: a crashed pod then
// ends the wait, and nothing stays if weir is killed.
func (s *Service) adoptWhile(ctx, running context.Context, install func() error) error {
	installed := make(chan error, 1)
	go func() { installed <- install() }()
	for adopted := false; ; {
		var next <-chan time.Time
		if !adopted {
			next = time.After(pollTime)
		}
		select {
		case err := <-installed:
			return err
		case <-next:
			if all, err := s.adoptRelease(ctx, running); err == nil {
				adopted = all
			}
		}
	}
}

// adoptRelease gives an owner to the objects of the release, and reports whether all of them exist.
func (s *Service) adoptRelease(ctx, running context.Context) (bool, error) {
	out, err := s.helm(ctx, "get", "manifest", s.release())
	if err != nil {
		return false, err
	}
	all, err := read([]string{string(out)}, "the release "+s.release())
	if err != nil {
		return false, err
	}
	planned := len(all)
	if all, err = s.made(ctx, all, "get", "--ignore-not-found"); err != nil {
		return false, err
	}
	complete := len(all) == planned
	s.pods.include(running, all)
	if s.r.Spec.Keep {
		return complete, nil
	}
	var records struct{ Items []object }
	if err := s.client.Get(ctx, &records, "secrets", "--selector", "owner=helm,name="+s.release()); err != nil {
		return false, err
	}
	for _, o := range records.Items { // items of a list have no kind
		o["kind"], o["apiVersion"] = "Secret", "v1"
		all = append(all, o)
	}
	if err := s.own(ctx, running, all); err != nil {
		return false, err
	}
	return complete, s.adopt(ctx, all)
}

// uninstall removes the release.
func (s *Service) uninstall(ctx context.Context) error {
	if !s.released {
		return nil
	}
	_, err := s.helm(ctx, "uninstall", s.release(), "--ignore-not-found", "--wait", "--timeout",
		strconv.Itoa(int((s.r.Spec.Stop+slack/2).Seconds()))+"s")
	return err
}
