package hosts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/lab/kube"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/test/port"
)

// served is a Deployment with a pod that prints its BACKEND and serves its directory at $PORT, and its
// Service.
const served = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      automountServiceAccountToken: false
      containers:
        - name: main
          image: any.test/python:3
          command: [sh, -c, "echo Backend $BACKEND was instantiated; exec python3 -u -m http.server --bind 127.0.0.1 PORT"]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: PORT}]}
`

const inCluster = `scenario: incluster
services:
  web:
    kubernetes:
      apply: web.yaml
      patch: ${variant.patch}
      wait: {Deployment/web: Available, within: 2m}
      tunnel: {service: web, port: 80}
    ready: {http: /, contains: Directory listing}
    fresh: variant
    stop: {within: 1s}
    proof: {pod: "^web-", log: "^Backend ${variant.backend} was instantiated"}
    metrics:
      requests: {log: "GET /asked", count: true, better: none}
      asked: {log: "GET /asked", first: true, better: lower}
variants:
  baseline: ucx
  ucx: {backend: UCX, patch: {env: {BACKEND: UCX}}}
  libfabric: {backend: LIBFABRIC, patch: {env: {BACKEND: LIBFABRIC}}}
runs:
  load:
    workload: command
    launches: 2
    timeout: 1m
    options:
      roles: {client: {command: [curl, --silent, --output, /dev/null, "${service.web.url}/asked", "${service.web.url}/asked"]}}
    sweep: {variant: [ucx, libfabric], order: {by: interleave, axis: variant}}
    assert:
      - requests >= 2
      - requests <= 2
      - asked <= 60s
`

// leftInCluster is what services have in a cluster.
func leftInCluster(c *kube.Cluster) string {
	out, err := c.Try("get", "deployments,jobs,pods,services", "--selector", "weir.dev/service", "--output", "name")
	if err != nil {
		return err.Error()
	}
	return out
}

// A service in a real control plane is started for each variant, measured through weir's tunnel,
// and gone afterwards.
func TestServicesInCluster(t *testing.T) {
	phase.Rest(t)
	c := kube.New(t, []kube.Node{{Name: "k1"}, {Name: "k2"}})
	run := func(t *testing.T, manifest, scenario string) (*process, string) {
		t.Helper()
		file := write(t, "incluster.yaml", scenario)
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "web.yaml"), []byte(manifest), 0o644); err != nil {
			t.Fatal(err)
		}
		out := t.TempDir() + "/out"
		cmd := exec.Command(weir(t), "run", file, "--out", out)
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(c.Kubectl)+":"+os.Getenv("PATH"), "WEIR_SITE=none")
		return start(t, cmd), out
	}
	manifest := strings.ReplaceAll(served, "PORT", port.Free(t, "127.0.0.1", 1)[0])

	t.Run("variants", func(t *testing.T) {
		p, out := run(t, manifest, inCluster)
		p.ends(0)
		if left := leftInCluster(c); left != "" {
			t.Errorf("the cluster still has %s", left)
		}
		doc := document(t, out)
		if n := len(doc.Services); n < 2 || n > 4 {
			t.Errorf("%d starts of the service", n)
		}
		for _, s := range doc.Services {
			text := read(t, filepath.Join(out, s.Log))
			want := map[string]string{"ucx": "Backend UCX was", "libfabric": "Backend LIBFABRIC was"}[s.For]
			if s.Status != results.OK || s.Ready <= 0 || want == "" || !strings.Contains(text, want) {
				t.Errorf("service %+v said\n%s", s, text)
			}
		}
	})

	t.Run("a crash fails the launch", func(t *testing.T) {
		broken := strings.ReplaceAll(manifest, "exec python3", "echo out of memory; exit 7; exec python3")
		p, out := run(t, broken, inCluster)
		p.ends(6)
		if left := leftInCluster(c); left != "" {
			t.Errorf("the cluster still has %s", left)
		}
		text := read(t, filepath.Join(out, "results.json"))
		for _, want := range []string{"service web: pod web-", "container main: exit code 7", "out of memory"} {
			if !strings.Contains(text, want) {
				t.Errorf("the result lacks %q", want)
			}
		}
	})

	t.Run("interrupted", func(t *testing.T) {
		p, out := run(t, manifest, strings.ReplaceAll(inCluster, `[curl, --silent`, `[sleep, "600", --silent`))
		events(t, p, out, `"service_ready"`, 2*time.Minute)
		p.signal(syscall.SIGINT)
		p.ends(130)
		if left := leftInCluster(c); left != "" {
			t.Errorf("the cluster still has %s", left)
		}
	})
}
