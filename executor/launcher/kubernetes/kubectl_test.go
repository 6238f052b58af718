package kubernetes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// saying makes a kubectl that is a script.
func saying(t *testing.T, script string, change func(*Options)) *Launcher {
	t.Helper()
	program := filepath.Join(t.TempDir(), "kubectl")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return launcherOf(t, options(func(o *Options) {
		o.Kubectl = program
		if change != nil {
			change(o)
		}
	}))
}

func TestKubectlErrors(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"forbidden": {`echo 'Error from server (Forbidden): jobs.batch is forbidden: User "u" cannot create resource "jobs"' >&2; exit 1`,
			`kubectl get: Error from server (Forbidden): jobs.batch is forbidden: User "u" cannot create resource "jobs" (your account lacks a right: weir needs create`},
		"no cluster": {`echo 'E1122 03:04:05.6 memcache.go: noise' >&2; echo 'The connection to the server 127.0.0.1:6443 was refused - did you specify the right host or port?' >&2; exit 1`,
			`kubectl get: The connection to the server 127.0.0.1:6443 was refused - did you specify the right host or port? (is this the right cluster?`},
		"no configuration": {`echo 'The connection to the server localhost:8080 was refused - did you specify the right host or port?' >&2; exit 1`,
			`(kubectl has no cluster: set KUBECONFIG, or write ~/.kube/config)`},
		"no context": {`echo 'error: context "x" does not exist' >&2; exit 1`,
			`("kubectl config get-contexts" lists the contexts)`},
		"quota": {`echo 'Error from server (Forbidden): error when creating "STDIN": jobs.batch "x" is forbidden: exceeded quota: jobs, requested: count/jobs.batch=1' >&2; exit 1`,
			`(ask for less with --kube-resource, or for more quota)`},
		"webhook": {`echo 'Error from server (Forbidden): admission webhook "policy.test" denied the request: no owner label' >&2; exit 1`,
			`denied the request: no owner label (an admission policy of this cluster`},
		"silent": {`exit 7`, `kubectl get: exit status 7`},
		"several lines": {`printf 'Warning: deprecated\nerror: one\n\nerror: two\n' >&2; exit 1`,
			`kubectl get: error: one; error: two`},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := saying(t, c.script, nil).kube.Run(t.Context(), nil, "get")

			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

func TestKubectlMissing(t *testing.T) {
	l := launcherOf(t, options(func(o *Options) { o.Kubectl = "kubectl-that-nobody-has" }))
	_, _, err := l.kube.Run(t.Context(), nil, "get")
	if err == nil || !strings.Contains(err.Error(), "kubectl-that-nobody-has is not installed here") {
		t.Errorf("error %v", err)
	}
}

func TestKubectlHangs(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, _, err := saying(t, "exec sleep 600", nil).kube.Run(ctx, nil, "get")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that the deadline has passed", err)
	}
}

func TestKubectlIsToldWhere(t *testing.T) {
	l := saying(t, `echo "$@"; cat; echo 'Warning: old' >&2`,
		func(o *Options) { o.Context, o.Namespace = "prod", "bench" })
	out, warnings, err := l.kube.Run(t.Context(), strings.NewReader("in"), "get", "pods")
	if err != nil || string(out) != "--context prod --namespace bench get pods\nin" || len(warnings) != 1 ||
		warnings[0] != "old" {
		t.Errorf("%q %q %v", out, warnings, err)
	}
}

func TestOldClusterIsRefused(t *testing.T) {
	for version, want := range map[string]string{
		"28": "the cluster has Kubernetes 1.28: 1.29 or newer is needed", "29+": "",
	} {
		l := saying(t, `echo '{"serverVersion":{"major":"1","minor":"`+version+`"}}'`, nil)
		err := l.checkVersion(t.Context())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("1.%s: error %v, want %q", version, err, want)
		}
	}
}

// The Secret's content goes to kubectl by its standard input, never by arguments.
func TestNoSecretInArguments(t *testing.T) {
	dir := t.TempDir()
	l := saying(t, `printf '%s\n' "$@" >> `+dir+`/args; cat >> `+dir+`/in; echo '{"metadata":{"uid":"u"}}'`, nil)
	r := request(t, 1)
	r.Env = map[string]string{"HF_TOKEN": "hf_verysecret"}
	h, err := l.begin(t.Context(), &r)
	if err != nil {
		t.Fatal(err)
	}
	values, err := secretValues(&r)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.manifests(t.Context(), &r, values)
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.ReadFile(filepath.Join(dir, "in"))
	if err != nil {
		t.Fatal(err)
	}
	args, err := os.ReadFile(filepath.Join(dir, "args"))
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range m.secret["data"].(object) {
		if !strings.Contains(string(in), value.(string)) {
			t.Errorf("%s was not given to kubectl", key)
		}
		if strings.Contains(string(args), value.(string)) || strings.Contains(string(args), string(values[key])) {
			t.Errorf("%s is among the arguments", key)
		}
	}
	if !strings.Contains(string(in), `"uid":"u"`) {
		t.Errorf("what was created has no owner: %s", h.name)
	}
}
