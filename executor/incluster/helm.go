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
	// Ctrl-C at a terminal is for weir alone. A helm that waits ends with weir: it is a child of this thread.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
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

// adoptWhile runs an installation. While helm waits for what it has made, that is claimed already: a pod that
// crashes ends the wait, and nothing stays when weir is killed.
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
		case <-next: // until helm has made a release, there is nothing to adopt
			if all, err := s.adoptRelease(ctx, running); err == nil {
				adopted = all
			}
		}
	}
}

// adoptRelease gives an owner to what helm has made, and says whether that is all of the release.
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
	whole := len(all) == planned
	s.pods.claim(running, all)
	if s.r.Spec.Keep {
		return whole, nil
	}
	var records struct{ Items []object }
	if err := s.client.Get(ctx, &records, "secrets", "--selector", "owner=helm,name="+s.release()); err != nil {
		return false, err
	}
	for _, o := range records.Items { // items of a list need not say their kind
		o["kind"], o["apiVersion"] = "Secret", "v1"
		all = append(all, o)
	}
	if err := s.own(ctx, running, all); err != nil {
		return false, err
	}
	return whole, s.adopt(ctx, all)
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
