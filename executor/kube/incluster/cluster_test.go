package incluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/lab/kube"
	"github.com/weir-bench/weir/test/port"
	"github.com/weir-bench/weir/workload"
)

// buffer is a log that is read while it is written.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func freePort(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(port.Free(t, "127.0.0.1", 1)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// web is a Deployment of a pod with a shell script, and its Service.
func web(name, script string, port int) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {automountServiceAccountToken: false, containers: [{name: main, image: "any.test/python:3", command: [sh, -c, %[2]q]}]}
---
apiVersion: v1
kind: Service
metadata: {name: %[1]s}
spec: {selector: {app: %[1]s}, ports: [{name: http, port: 80, targetPort: %[3]d}]}
`, name, script, port)
}

// serving is a script that says its BACKEND and serves this directory.
func serving(port int) string {
	return fmt.Sprintf("echo backend $BACKEND; exec python3 -u -m http.server --bind 127.0.0.1 %d", port)
}

type world struct {
	*testing.T
	c   *kube.Cluster
	log buffer
}

func (w *world) request(name string, spec workload.InCluster) Request {
	spec.Stop = time.Second
	if spec.Within == 0 {
		spec.Within = time.Minute
	}
	spec.Ready = 30 * time.Second
	return Request{
		Session: "s-" + strings.ToLower(strings.ReplaceAll(w.Name(), "/", "-")), Service: name, Spec: &spec,
		Address: "127.0.0.1", Log: &w.log, Kubectl: w.c.Kubectl,
		Names: func(string) (string, error) { return "", errors.New("it has no value here") },
	}
}

func (w *world) start(r Request) *Service {
	w.Helper()
	s, err := Start(w.Context(), r)
	if err != nil {
		w.Fatalf("%v\n%s", err, w.log.String())
	}
	return s
}

// nothingLeft looks for anything of a session.
func (w *world) nothingLeft(r Request) {
	w.Helper()
	if out := w.c.Ask("get", "deployments,services,pods,jobs,configmaps,secrets", "--selector", ofSession+"="+r.Session,
		"--output", "name"); out != "" {
		w.Errorf("the cluster still has %s", out)
	}
}

func (w *world) get(url string) (string, error) {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

func (w *world) until(what string, right func() bool) {
	w.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if right() {
			return
		}
	}
	w.Fatalf("%s did not come\n%s", what, w.log.String())
}

// crd is a kind with a status that the test sets, as an operator would.
const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: dynamographdeployments.nvidia.com}
spec:
  group: nvidia.com
  scope: Namespaced
  names: {plural: dynamographdeployments, singular: dynamographdeployment, kind: DynamoGraphDeployment}
  versions:
    - name: v1alpha1
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

func TestCluster(t *testing.T) {
	c := kube.New(t, []kube.Node{{Name: "h1"}, {Name: "h2"}})
	test := func(name string, f func(w *world)) {
		t.Run(name, func(t *testing.T) { f(&world{T: t, c: c}) })
	}

	test("life", func(w *world) {
		port := freePort(w.T)
		r := w.request("web", workload.InCluster{
			Manifests: []string{web("web", serving(port), port)},
			Change:    workload.ContainerChange{Env: []workload.NamedText{{Name: "BACKEND", Value: "UCX"}}},
			Wait:      []workload.Condition{{Object: "Deployment/web", Is: "Available"}},
			Tunnel:    &workload.Tunnel{Service: "web", Port: "http"}, HTTP: "/",
		})
		s := w.start(r)
		if text, err := w.get(s.URL()); err != nil || !strings.Contains(text, "Directory listing") {
			t.Errorf("the url says %q (%v)", text, err)
		}
		w.until("the pod's output", func() bool { return strings.Contains(w.log.String(), "/main] backend UCX\n") })
		for _, want := range []string{
			"weir: applying Deployment/web, Service/web", "weir: tunnel to web",
		} {
			if !strings.Contains(w.log.String(), want) {
				t.Errorf("the log lacks %q:\n%s", want, w.log.String())
			}
		}

		// the tunnel dies, and another has the same port
		before := s.URL()
		s.tunnel.now.kill()
		w.until("another tunnel", func() bool { _, err := w.get(before); return err == nil })
		if !strings.Contains(w.log.String(), "the tunnel broke and is restarted") {
			t.Errorf("nobody was told of the tunnel:\n%s", w.log.String())
		}

		if _, err := Start(w.Context(), r); err == nil || !strings.Contains(err.Error(), "AlreadyExists") {
			t.Errorf("the same again: %v", err)
		}
		if _, err := w.get(before); err != nil {
			t.Errorf("a failed start has taken away what it did not make: %v", err)
		}
		if err := s.Stop(w.Context()); err != nil {
			t.Error(err)
		}
		w.nothingLeft(r)
		select {
		case err := <-s.Failed():
			t.Errorf("it failed: %v", err)
		default:
		}
	})

	test("crash", func(w *world) {
		r := w.request("web", workload.InCluster{
			Manifests: []string{web("crash", "echo no such model; exit 3", 1)},
			Wait:      []workload.Condition{{Object: "deployment/crash", Is: "status.readyReplicas=2"}},
		})
		_, err := Start(w.Context(), r)
		if err == nil || !strings.Contains(err.Error(), "pod crash-") ||
			!strings.Contains(err.Error(), ", container main: exit code 3; it said last:\nno such model") {
			t.Errorf("error %v", err)
		}
		w.nothingLeft(r)
	})

	test("crash when it was ready", func(w *world) {
		port := freePort(w.T)
		file := w.TempDir() + "/end"
		script := fmt.Sprintf("echo up; until [ -e %s ]; do sleep 0.1; done; echo out of luck; exit 4", file)
		r := w.request("web", workload.InCluster{
			Manifests: []string{web("later", script, port)},
			Wait:      []workload.Condition{{Object: "deployment/later", Is: "status.readyReplicas=1"}},
		})
		s := w.start(r)
		if err := os.WriteFile(file, nil, 0o644); err != nil { // pods have this machine's files
			t.Fatal(err)
		}
		select {
		case err := <-s.Failed():
			if !strings.Contains(err.Error(), "exit code 4; it said last:\nup\nout of luck") {
				t.Errorf("error %v", err)
			}
		case <-time.After(time.Minute):
			t.Errorf("nobody noticed:\n%s", w.log.String())
		}
		if err := s.Stop(w.Context()); err != nil {
			t.Error(err)
		}
		w.nothingLeft(r)
	})

	test("a kind of its own", func(w *world) {
		file := filepath.Join(w.TempDir(), "crd.yaml")
		if err := os.WriteFile(file, []byte(crd), 0o644); err != nil {
			t.Fatal(err)
		}
		w.c.Ask("apply", "--filename", file)
		w.c.Ask("wait", "--for=condition=Established", "crd/dynamographdeployments.nvidia.com", "--timeout=30s")
		r := w.request("dynamo", workload.InCluster{
			Manifests: []string{
				"apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: trtllm}\nspec: {services: {Decode: {extraPodSpec: {mainContainer: {image: a}}}}}\n",
			},
			Change: workload.ContainerChange{Image: "registry/nixl@sha256:aaaa"},
			Wait:   []workload.Condition{{Object: "DynamoGraphDeployment/trtllm", Is: "Ready"}},
		})
		ready := make(chan *Service, 1)
		go func() { ready <- w.start(r) }()
		w.until("the wait", func() bool {
			return strings.Contains(
				w.log.String(),
				"DynamoGraphDeployment/trtllm to be Ready (it has no condition Ready yet)",
			)
		})
		if image := w.c.Ask("get", "dynamographdeployment/trtllm", "--output",
			"jsonpath={.spec.services.Decode.extraPodSpec.mainContainer.image}"); image != "registry/nixl@sha256:aaaa" {
			t.Errorf("the image is %q", image)
		}
		w.c.Ask("patch", "dynamographdeployment/trtllm", "--subresource=status", "--type=merge", "--patch",
			`{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`)
		s := <-ready
		if err := s.Stop(w.Context()); err != nil {
			t.Error(err)
		}
		if out := w.c.Ask("get", "dynamographdeployments", "--output", "name"); out != "" {
			t.Errorf("left: %s", out)
		}
	})

	test("a deadline", func(w *world) {
		r := w.request("web", workload.InCluster{
			Manifests: []string{
				"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: never}\n",
			}, Within: 2 * time.Second,
			Wait: []workload.Condition{{Object: "Deployment/nobody", Is: "Available"}},
		})
		_, err := Start(w.Context(), r)
		if err == nil || !strings.Contains(err.Error(),
			"after 2s still waiting for Deployment/nobody to be Available (there is none yet)") {
			t.Errorf("error %v", err)
		}
		w.nothingLeft(r)
	})

	test("kept", func(w *world) {
		r := w.request("web", workload.InCluster{Keep: true,
			Manifests: []string{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept}\n"}})
		for range 2 { // the second finds it there
			if err := w.start(r).Stop(w.Context()); err != nil {
				t.Error(err)
			}
		}
		if out := w.c.Ask("get", "configmap/kept", "--output", "name"); out == "" {
			t.Error("it is gone")
		}
		w.c.Ask("delete", "configmap/kept")
	})

	// Nobody stops it, as after kill -9: the cluster takes it away by itself.
	test("killed", func(w *world) {
		lifetime, renewed = 20*time.Second, 4*time.Second
		defer func() { lifetime, renewed = 3*time.Minute, time.Minute }()
		r := w.request("web", workload.InCluster{
			Manifests: []string{web("orphan", "sleep 600", 1)},
			Wait:      []workload.Condition{{Object: "deployment/orphan", Is: "Available"}},
		})
		s := w.start(r)
		for range 13 { // renewed beyond its first lifetime
			time.Sleep(2 * time.Second)
			of := ofSession + "=" + r.Session
			if w.c.Ask("get", "deployments", "--selector", of, "--output", "name") == "" {
				t.Fatal("it is gone though weir lives")
			}
		}
		s.stop() // what kill -9 would do to all goroutines and kubectls
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		for ctx.Err() == nil && w.c.Ask("get", "deployments,services,pods,jobs", "--selector",
			ofSession+"="+r.Session, "--output", "name") != "" {
			time.Sleep(500 * time.Millisecond)
		}
		w.nothingLeft(r)
	})
}
