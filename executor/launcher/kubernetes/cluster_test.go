package kubernetes

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/test/lab/kube"
	"github.com/weir-bench/weir/test/phase"
)

// TestMain makes this test binary the weir in the pods' image, and the one that is copied.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println("weir of a test")
		return
	}
	if len(os.Args) > 1 && os.Args[1] == agent {
		os.Exit(beAgent(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// beAgent acts like an agent: it reads its bootstrap, prints its name, and ends when it is
// told to. BEHAVIOUR is "NODE CODE": that one ends by itself, once a
// file of the name that LEAVE has is there.
func beAgent(args []string) int {
	terminated, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	text, err := os.ReadFile(args[1])
	if err != nil {
		fmt.Println(err)
		return 9
	}
	b, err := launcher.DecodeBootstrap(text)
	if err != nil {
		fmt.Println(err)
		return 9
	}
	host, _ := os.Hostname()
	node := os.Getenv("WEIR_NODE")
	fmt.Printf("agent %s of %s on %s at %s, host name %s, arguments %v\n", node, b.Session, os.Getenv("WEIR_HOST"),
		os.Getenv("WEIR_ADDRESS"), host, args)
	var target string
	var code int
	fmt.Sscan(os.Getenv("BEHAVIOUR"), &target, &code)
	for {
		if _, err := os.Stat(os.Getenv("LEAVE")); err == nil && target == node {
			fmt.Println("something is wrong here")
			return code
		}
		select {
		case <-terminated.Done():
			fmt.Println("told to end")
			return 0
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// onCluster is a launcher for a cluster with this test binary in its pods.
func onCluster(t *testing.T, c *kube.Cluster, change func(*Options)) *Launcher {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // where the test has failed
		c.Try("delete", "jobs,pods,services,secrets", "--selector", mark, "--grace-period=1")
	})
	return launcherOf(t, options(func(o *Options) {
		o.Kubectl, o.Command, o.Wait = c.Kubectl, binary, 2*time.Minute
		if change != nil {
			change(o)
		}
	}))
}

// nothingLeft looks for anything that belongs to a session.
func nothingLeft(t *testing.T, c *kube.Cluster) {
	t.Helper()
	if out := c.Ask("get", "jobs,pods,services,secrets", "--selector", mark, "--output", "name"); out != "" {
		t.Errorf("the cluster still has %s", out)
	}
}

func start(t *testing.T, l *Launcher, r launcher.Request) launcher.Handle {
	t.Helper()
	h, err := l.Start(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func poll(t *testing.T, h launcher.Handle) []launcher.Worker {
	t.Helper()
	workers, err := h.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return workers
}

// until polls until the worker is as the test wants it.
func until(
	t *testing.T, h launcher.Handle, i int, within time.Duration, right func(launcher.Worker) bool,
) []launcher.Worker {
	t.Helper()
	var workers []launcher.Worker
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if workers = poll(t, h); right(workers[i]) {
			return workers
		}
	}
	t.Fatalf("after %v worker %d is %+v", within, i, workers[i])
	return nil
}

func fails(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %v\nmust say %q", err, w)
		}
	}
}

// Against a real control plane: what it does not take, or does otherwise than we think,
// shows here.
func TestCluster(t *testing.T) {
	c := kube.New(t, []kube.Node{{Name: "h1"}, {Name: "h2"}, {Name: "h3"}}, "nvidia.com/gpu=8",
		"vpc.amazonaws.com/efa=32", "hugepages-2Mi=8Gi")

	t.Run("a session's life", func(t *testing.T) {
		l := onCluster(t, c, func(o *Options) {
			o.Resources = map[string]string{
				"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32",
				"hugepages-2Mi": "1Gi",
			}
			o.NodeSelector = map[string]string{"kubernetes.io/os": "linux"}
			o.Patches = patches(t, "spec: {containers: [{name: agent, env: [{name: EXTRA, value: \"1\"}]}]}")
		})
		r := request(t, 3)
		r.AllowCommands, r.Env = true, map[string]string{"BEHAVIOUR": "nobody 0"}
		if err := l.Check(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		nothingLeft(t, c)
		h := start(t, l, r)
		for i, w := range poll(t, h) {
			if w.Node != Node(session, i) || w.State != launcher.Running {
				t.Errorf("worker %d is %+v, want running", i, w)
			}
		}
		if _, err := l.Start(t.Context(), r); err == nil ||
			!strings.Contains(err.Error(), "\"kubectl delete job\" removes it with all its objects") {
			t.Errorf("the session's second start: %v", err)
		}
		if err := h.Stop(t.Context(), 5*time.Second); err != nil {
			t.Error(err)
		}
		nothingLeft(t, c)
		hosts := map[string]bool{}
		said := regexp.MustCompile(`^agent (\S+) of ` + session +
			` on (h[123]) at 127\.0\.0\.1, host name (\S+), arguments \[--bootstrap /run/weir/bootstrap\.json --allow-commands\]\ntold to end\n$`)
		for i := range 3 {
			text, err := os.ReadFile(filepath.Join(r.Dir, Node(session, i)+".log"))
			if err != nil {
				t.Fatal(err)
			}
			m := said.FindStringSubmatch(string(text))
			if m == nil || m[1] != Node(session, i) || m[3] != Node(session, i) {
				t.Fatalf("agent %d said %q", i, text)
			}
			hosts[m[2]] = true
		}
		if len(hosts) != 3 {
			t.Errorf("the agents were on %v, want each on a host of its own", hosts)
		}
	})

	t.Run("an image without weir is given it", func(t *testing.T) {
		l := onCluster(t, c, func(o *Options) { o.Image, o.Command = "nvcr.test/nixl:1.5.1", "" })
		r := request(t, 2)
		binary, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		var messages []string
		r.Binary = binary
		r.Say = func(format string, args ...any) { messages = append(messages, fmt.Sprintf(format, args...)) }
		if err := l.Check(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		h := start(t, l, r)
		if text := strings.Join(messages, "\n"); !strings.Contains(text, "copying weir (") ||
			!strings.Contains(text, "MiB) into ") {
			t.Errorf("the user was told %q", text)
		}
		if err := h.Stop(t.Context(), 5*time.Second); err != nil {
			t.Error(err)
		}
		nothingLeft(t, c)
		for i := range 2 {
			text, err := os.ReadFile(filepath.Join(r.Dir, Node(session, i)+".log"))
			if err != nil || !strings.HasPrefix(string(text), "agent "+Node(session, i)+" of "+session) ||
				!strings.HasSuffix(string(text), "told to end\n") {
				t.Errorf("agent %d said %q (%v)", i, text, err)
			}
		}
	})

	t.Run("a weir that does not start in the image", func(t *testing.T) {
		r := request(t, 1)
		r.Binary = filepath.Join(t.TempDir(), "weir")
		if err := os.WriteFile(r.Binary, []byte("#!/no/such/loader\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := onCluster(t, c, func(o *Options) { o.Command = "" }).Start(t.Context(), r)
		fails(t, err, "copying weir into the pod of "+Node(session, 0), "it lacks the C library",
			"kubernetes.command")
		nothingLeft(t, c)
	})

	t.Run("one delete removes all", func(t *testing.T) {
		l, r := onCluster(t, c, nil), request(t, 2)
		h := start(t, l, r)
		c.Ask("delete", "job", Name(session))
		until(t, h, 0, 30*time.Second, func(w launcher.Worker) bool {
			return w.State == launcher.Lost && strings.Contains(w.Reason, "it was deleted")
		})
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end) &&
			c.Ask("get", "jobs,pods,services,secrets", "--selector", mark, "--output", "name") != ""; {
			time.Sleep(100 * time.Millisecond)
		}
		nothingLeft(t, c)
		if err := h.Stop(t.Context(), time.Second); err != nil {
			t.Error(err)
		}
	})

	t.Run("an agent fails and the others go on", func(t *testing.T) {
		r := request(t, 3)
		leave := filepath.Join(r.Dir, "leave")
		r.Env = map[string]string{"BEHAVIOUR": Node(session, 1) + " 3", "LEAVE": leave}
		h := start(t, onCluster(t, c, nil), r)
		if err := os.WriteFile(leave, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		workers := until(t, h, 1, 30*time.Second, func(w launcher.Worker) bool { return w.State == launcher.Exited })
		if w := workers[1]; w.Code != 3 || len(w.Log) != 2 || w.Log[1] != "something is wrong here" {
			t.Errorf("the agent that failed is %+v", w)
		}
		time.Sleep(3 * time.Second) // for a Job that would take the others along
		workers = poll(t, h)
		if workers[0].State != launcher.Running || workers[2].State != launcher.Running ||
			workers[1].State != launcher.Exited {
			t.Errorf("after one has failed they are %+v", workers)
		}
		if err := h.Stop(t.Context(), 5*time.Second); err != nil {
			t.Error(err)
		}
		nothingLeft(t, c)
		if text, err := os.ReadFile(filepath.Join(r.Dir, Node(session, 1)+".log")); err != nil ||
			!strings.Contains(string(text), "something is wrong here") {
			t.Errorf("of the agent that failed there is %q, %v", text, err)
		}
	})

	t.Run("a pod is deleted", func(t *testing.T) {
		h := start(t, onCluster(t, c, nil), request(t, 2))
		c.Ask("delete", "pod", "--selector", indexMark+"=1", "--grace-period=1")
		workers := until(t, h, 1, 30*time.Second, func(w launcher.Worker) bool {
			return w.State == launcher.Lost && strings.Contains(w.Reason, "it was deleted")
		})
		if workers[0].State != launcher.Running {
			t.Errorf("the other is %+v", workers[0])
		}
		if err := h.Stop(t.Context(), 5*time.Second); err != nil {
			t.Error(err)
		}
		nothingLeft(t, c)
	})

	t.Run("an agent fails at once", func(t *testing.T) {
		r := request(t, 1)
		r.Env = map[string]string{"BEHAVIOUR": Node(session, 0) + " 7", "LEAVE": r.Dir}
		h, err := onCluster(t, c, nil).Start(t.Context(), r)
		if err != nil {
			fails(t, err, Node(session, 0), "exit code 7", "something is wrong here")
		} else { // it was seen to run
			w := until(t, h, 0, 30*time.Second, func(w launcher.Worker) bool { return w.State == launcher.Exited })[0]
			if w.Code != 7 || !strings.Contains(strings.Join(w.Log, "\n"), "something is wrong here") {
				t.Errorf("the agent is %+v", w)
			}
			if err := h.Stop(t.Context(), time.Second); err != nil {
				t.Error(err)
			}
		}
		nothingLeft(t, c)
	})

	t.Run("no such image", func(t *testing.T) {
		l := onCluster(t, c, func(o *Options) { o.Image = "registry.invalid/weir:1" })
		l.hopelessTime = time.Second
		_, err := l.Start(t.Context(), request(t, 2))
		fails(t, err, "ImagePullBackOff", "registry.invalid/weir:1", "kubernetes.pull_secret")
		nothingLeft(t, c)
	})

	t.Run("fewer machines than nodes", func(t *testing.T) {
		var messages []string
		r := request(t, 4)
		r.Say = func(format string, args ...any) { messages = append(messages, fmt.Sprintf(format, args...)) }
		_, err := onCluster(t, c, func(o *Options) { o.Wait = 5 * time.Second }).Start(t.Context(), r)
		fails(t, err, "is not yet running: Unschedulable: 0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules",
			"kubernetes.wait")
		nothingLeft(t, c)
		if !strings.Contains(strings.Join(messages, "\n"), "Unschedulable") {
			t.Errorf("meanwhile the user was told %q", messages)
		}
	})

	t.Run("pods are not permitted", func(t *testing.T) {
		l := onCluster(t, c, func(o *Options) { o.ServiceAccount = "nobody" })
		l.hopelessTime = time.Second
		_, err := l.Start(t.Context(), request(t, 1))
		fails(t, err, "FailedCreate", `serviceaccount "nobody" not found`)
		nothingLeft(t, c)
	})

	t.Run("interrupted while it waits", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := onCluster(t, c, nil).Start(ctx, request(t, 4))
		fails(t, err, context.DeadlineExceeded.Error())
		nothingLeft(t, c)
	})

	t.Run("what a killed coordinator left", func(t *testing.T) {
		l, r := onCluster(t, c, nil), request(t, 2)
		start(t, l, r)
		other := r
		other.Session = "another"
		start(t, l, launcher.Request{
			Session: "another", Nodes: 1, Binary: r.Binary, Dir: r.Dir, Bootstrap: r.Bootstrap,
		})
		for range 2 { // what is gone is no error
			if err := l.Reap(t.Context(), session); err != nil {
				t.Fatal(err)
			}
		}
		if out := c.Ask("get", "jobs", "--output", "name"); out != "job.batch/"+Name(other.Session)+"\n" {
			t.Errorf("after reaping one of two sessions there is %q", out)
		}
		if err := l.Reap(t.Context(), other.Session); err != nil {
			t.Fatal(err)
		}
		nothingLeft(t, c)
	})

	t.Run("manifests applied by hand", func(t *testing.T) {
		l, r := onCluster(t, c, nil), request(t, 1)
		text, err := l.RenderWithSecret(r)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(r.Dir, "all.yaml")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c.Ask("apply", "--server-side", "--filename", file)
		c.Ask("wait", "--for", "jsonpath={.status.active}=1", "job/"+Name(session), "--timeout", "30s")
		if err := l.Reap(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		nothingLeft(t, c)
	})

	t.Run("what would not be taken", func(t *testing.T) {
		l := onCluster(t, c, func(o *Options) { o.Patches = patches(t, "spec: {hostNetwrok: true}") })
		fails(t, l.Check(t.Context(), request(t, 1)), "the cluster would not accept the session's objects",
			"hostNetwrok")
		l = onCluster(t, c, func(o *Options) { o.Namespace = "nowhere" })
		fails(t, l.Check(t.Context(), request(t, 1)), `namespaces "nowhere" not found`, "--kube-namespace")
		l = onCluster(t, c, func(o *Options) { o.Context = "prod" })
		fails(t, l.Check(t.Context(), request(t, 1)), `context "prod" does not exist`, "get-contexts")
	})

	t.Run("an account without rights", func(t *testing.T) {
		as := filepath.Join(t.TempDir(), "kubectl")
		if err := os.WriteFile(as, []byte("#!/bin/sh\nexec "+c.Kubectl+" --as somebody \"$@\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		l := onCluster(t, c, func(o *Options) { o.Kubectl = as })
		err := l.Check(t.Context(), request(t, 1))
		if err == nil || !strings.Contains(err.Error(), "your account may not") &&
			!strings.Contains(err.Error(), "your account lacks a right") {
			t.Errorf("error %v", err)
		}
		nothingLeft(t, c)
	})

	t.Run("a node is away", func(t *testing.T) {
		phase.Rest(t)
		l, r := onCluster(t, c, nil), request(t, 1)
		h := start(t, l, r)
		c.StopNodes()
		defer c.ContinueNodes()
		workers := until(t, h, 0, 2*time.Minute, func(w launcher.Worker) bool { return w.State == launcher.Lost })
		t.Logf("lost: %s", workers[0].Reason)
		err := l.end(t.Context(), Name(session), "jobs.batch", -slack+3*time.Second)
		fails(t, err, "pod/"+Name(session)+"-0-",
			"a pod on an unreachable node stays until the node is back or removed")
		c.ContinueNodes()
		if err := l.Reap(t.Context(), session); err != nil {
			t.Error(err)
		}
		nothingLeft(t, c)
	})
}
