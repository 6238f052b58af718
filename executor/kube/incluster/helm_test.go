package incluster

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/lab/kube"
	"github.com/weir-bench/weir/workload"
)

// release is a request for a release of the chart in testdata, by a helm.
func (w *world) release(helm, name string, values ...string) Request {
	r := w.request("web", workload.InCluster{
		Helm: &workload.Helm{Chart: "testdata/chart", Release: name, Values: values},
	})
	r.Helm = helm
	return r
}

// noRelease looks for anything of a release.
func (w *world) noRelease(r Request) {
	w.Helper()
	w.nothingLeft(r)
	if out := w.c.Ask("get", "secrets", "--selector", "owner=helm", "--output", "name"); out != "" {
		w.Errorf("helm still has %s", out)
	}
	if out := w.c.Ask("get", "deployments,services,replicasets,pods,jobs", "--output", "name"); strings.Contains(
		out, r.Spec.Helm.Release) {
		w.Errorf("the cluster still has %s", out)
	}
}

func said(w *world, helm string, args ...string) string {
	w.Helper()
	out, err := exec.CommandContext(w.Context(), helm, args...).CombinedOutput()
	if err != nil {
		w.Fatalf("helm %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Both major versions of helm that are in use make, keep and remove releases.
func TestHelm(t *testing.T) {
	c := kube.New(t, []kube.Node{{Name: "h1"}})
	for _, major := range []int{3, 4} {
		helm := c.Helm(major)
		test := func(name string, f func(w *world)) {
			t.Run(fmt.Sprintf("%d %s", major, name), func(t *testing.T) { f(&world{T: t, c: c}) })
		}

		test("life", func(w *world) {
			port := freePort(w.T)
			r := w.release(helm, "life", fmt.Sprintf("script: %q\nport: %d\n", serving(port), port), "backend: UCX\n")
			r.Spec.Wait = []workload.Condition{{Object: "Deployment/life-web", Is: "Available"}}
			r.Spec.Tunnel, r.Spec.HTTP = &workload.Tunnel{Service: "life-web", Port: "http"}, "/"
			s := w.start(r)
			if text, err := w.get(s.URL()); err != nil || !strings.Contains(text, "Directory listing") {
				t.Errorf("the url says %q (%v)", text, err)
			}
			w.until("the pod's output", func() bool { return strings.Contains(w.log.String(), "/main] backend UCX\n") })
			if owners := w.c.Ask("get", "secret,deployment,service", "--selector", "name=life", "--output",
				"jsonpath={.items[*].metadata.ownerReferences[*].kind}"); owners != "Job" {
				t.Errorf("the record of the release is owned by %q", owners)
			}
			if _, err := Start(w.Context(), r); err == nil ||
				!strings.Contains(err.Error(), "release life exists already") {
				t.Errorf("the same again: %v", err)
			}
			if _, err := w.get(s.URL()); err != nil {
				t.Errorf("a failed start has taken away what it did not make: %v", err)
			}
			if err := s.Stop(w.Context()); err != nil {
				t.Error(err)
			}
			w.noRelease(r)
		})

		test("crash", func(w *world) {
			r := w.release(helm, "crash", "script: echo no such model; exit 3\n")
			s, err := Start(w.Context(), r)
			if err == nil { // helm 4 has found it available before it crashed
				select {
				case err = <-s.Failed():
				case <-time.After(r.Spec.Within): // helm alone would wait for all of it
				}
				if err := s.Stop(w.Context()); err != nil {
					t.Error(err)
				}
			}
			const why = "container main: exit code 3; it said last:\nno such model"
			if err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("error %v", err)
			}
			w.noRelease(r)
		})

		test("a chart that is not there", func(w *world) {
			r := w.release(helm, "missing")
			r.Spec.Helm.Chart = "./testdata/nothing"
			_, err := Start(w.Context(), r)
			if err == nil || !strings.Contains(err.Error(), "helm upgrade: ") ||
				!strings.Contains(err.Error(), "testdata/nothing") {
				t.Errorf("error %v", err)
			}
			w.noRelease(r)
		})

		test("never ready", func(w *world) {
			r := w.release(helm, "never", "replicas: 1\nscript: sleep 600\n")
			r.Spec.Wait = []workload.Condition{{Object: "Deployment/never-web", Is: "status.readyReplicas=2"}}
			r.Spec.Within = 10 * time.Second
			_, err := Start(w.Context(), r)
			if err == nil || !strings.Contains(err.Error(), "still waiting for Deployment/never-web") {
				t.Errorf("error %v", err)
			}
			w.noRelease(r)
		})

		test("kept", func(w *world) {
			for _, backend := range []string{"one", "two"} { // the second upgrades the first
				r := w.release(helm, "kept", "backend: "+backend+"\n")
				r.Spec.Keep = true
				if err := w.start(r).Stop(w.Context()); err != nil {
					t.Error(err)
				}
			}
			if out := said(w, helm, "get", "values", "kept"); !strings.Contains(out, "backend: two") {
				t.Errorf("the release has %s", out)
			}
			said(w, helm, "uninstall", "kept", "--wait")
		})

		// Nobody stops it after kill -9: the cluster takes it away by itself.
		test("killed", func(w *world) {
			r := w.release(helm, "orphan")
			holder := w.hold(r)
			w.until("a service", func() bool { return strings.Contains(w.log.String(), ready) })
			w.kill(holder)
			w.cleared(r)
		})

		// Neither helm nor what it has made by then stays when weir is killed while helm waits.
		test("killed while helm waits", func(w *world) {
			r := w.release(helm, "orphan", "image: registry.invalid/none\n")
			holder := w.hold(r)
			w.until("an owner", func() bool {
				return w.c.Ask("get", "deployment/orphan-web", "--ignore-not-found", "--output",
					"jsonpath={.metadata.ownerReferences[*].kind}") == "Job"
			})
			w.kill(holder)
			if strings.Contains(w.log.String(), ready) {
				t.Error("helm did not wait")
			}
			w.until("the end of helm", func() bool {
				return exec.Command("pgrep", "--full", "upgrade orphan").Run() != nil
			})
			w.cleared(r)
		})
	}
}

// ready is what a holder says when its service is.
const ready = "the service is ready"

// held is the variable that makes this program a holder.
const held = "WEIR_TEST_HELD"

// holding is what a holder is told of its service.
type holding struct {
	Session, Kubectl, Helm string
	Spec                   *workload.InCluster
}

// TestHolder is a program that starts a service and holds it until it is killed, for tests that kill it.
func TestHolder(t *testing.T) {
	text := os.Getenv(held)
	if text == "" {
		t.Skip("for other tests")
	}
	lifetime, renewed = 15*time.Second, 4*time.Second
	var h holding
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Request{
		Session: h.Session, Service: "web", Spec: h.Spec, Address: "127.0.0.1", Log: os.Stdout,
		Kubectl: h.Kubectl, Helm: h.Helm,
	}); err != nil {
		t.Fatal(err)
	}
	fmt.Println(ready)
	select {}
}

// hold starts a service in another process.
func (w *world) hold(r Request) *exec.Cmd {
	w.Helper()
	text, err := json.Marshal(holding{r.Session, r.Kubectl, r.Helm, r.Spec})
	if err != nil {
		w.Fatal(err)
	}
	cmd := exec.CommandContext(w.Context(), os.Args[0], "-test.run", "^TestHolder$")
	cmd.Env = append(os.Environ(), held+"="+string(text))
	cmd.Stdout, cmd.Stderr = &w.log, &w.log
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	return cmd
}

func (w *world) kill(holder *exec.Cmd) {
	w.Helper()
	if err := holder.Process.Kill(); err != nil {
		w.Error(err)
	}
	_ = holder.Wait() // it was killed
}

// cleared waits until the cluster has taken away what a killed program has made.
func (w *world) cleared(r Request) {
	w.Helper()
	w.until("an empty cluster", func() bool {
		all := w.c.Ask("get", "secrets,deployments,services,replicasets,pods,jobs", "--output", "name")
		return !strings.Contains(all, r.Spec.Helm.Release)
	})
	w.noRelease(r)
}
