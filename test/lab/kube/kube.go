// Package kube is a Kubernetes cluster for tests: a real etcd, API server, controller
// manager and scheduler, with kubectl, and nodes that run pods as plain processes of this
// machine or of hosts of a lab, each with its own process tree, host name and mounts.
// What images hold is this machine's files; images of registry.invalid cannot be pulled.
//
// Its program is built by test/kube/build, which takes minutes the first time.
package kube

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/port"
)

// Required is the environment variable that, as "required", makes a cluster that cannot
// be had a failure instead of a skipped test.
const Required = "WEIR_LAB"

// Node is a machine of the cluster.
type Node struct {
	Name    string
	Address string // of its pods; "": 127.0.0.1
	Machine int    // process (lab.Host.Process) with the network and files of its pods; 0: the test's
}

// Cluster is one that runs until the test ends.
type Cluster struct {
	Dir        string // files and logs of the cluster
	Kubeconfig string
	Kubectl    string // program that speaks to this cluster, whatever the environment says

	t       testing.TB
	program string
	token   string
	nodes   *exec.Cmd
}

// New starts a cluster with the nodes. Each has 64 processors, 256 GiB and what
// resources say beside, as NAME=QUANTITY.
func New(t testing.TB, nodes []Node, resources ...string) *Cluster {
	t.Helper()
	c := &Cluster{Dir: t.TempDir(), t: t, program: built(t), token: rand.Text()}
	c.Kubeconfig, c.Kubectl = filepath.Join(c.Dir, "kubeconfig"), filepath.Join(c.Dir, "kubectl")
	ports := port.Free(t, "127.0.0.1", 6)
	etcd, api := "http://127.0.0.1:"+ports[0], "https://127.0.0.1:"+ports[2]
	c.write("tokens.csv", c.token+`,admin,1,"system:masters"`+"\n", 0o600)
	c.write("kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: lab, cluster: {server: %q, insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: %s}}]
contexts: [{name: lab, context: {cluster: lab, user: admin}}]
current-context: lab
`, api, c.token), 0o600)
	c.write("kubectl", fmt.Sprintf("#!/bin/sh\nexport KUBECONFIG=%s HOME=%s\nexec %s kubectl \"$@\"\n", c.Kubeconfig,
		c.Dir, c.program), 0o755)
	c.serviceKey()

	c.start("etcd", "--name", "lab", "--data-dir", c.path("etcd"), "--listen-client-urls", etcd,
		"--advertise-client-urls", etcd,
		"--listen-peer-urls", "http://127.0.0.1:"+ports[1], "--initial-advertise-peer-urls",
		"http://127.0.0.1:"+ports[1], "--initial-cluster", "lab=http://127.0.0.1:"+ports[1],
		"--unsafe-no-fsync", "--log-level", "warn")
	c.start("kube-apiserver", "--etcd-servers="+etcd, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--secure-port="+ports[2], "--cert-dir="+c.path("apiserver"), "--service-account-issuer="+api,
		"--service-account-key-file="+c.path("service.key"),
		"--service-account-signing-key-file="+c.path("service.key"), "--token-auth-file="+c.path("tokens.csv"),
		"--authorization-mode=Node,RBAC",
		"--service-cluster-ip-range=10.96.0.0/16", "--allow-privileged=true",
		"--kubelet-preferred-address-types=ExternalIP,InternalIP")
	c.await("the API server", func() error { return c.ready(api + "/readyz") })
	c.start("kube-controller-manager", "--kubeconfig="+c.Kubeconfig, "--leader-elect=false", "--bind-address=127.0.0.1",
		"--secure-port="+ports[3],
		"--cert-dir="+c.path("controllers"), "--service-account-private-key-file="+c.path("service.key"),
		"--node-monitor-grace-period=20s")
	c.start("kube-scheduler", "--kubeconfig="+c.Kubeconfig, "--leader-elect=false", "--bind-address=127.0.0.1",
		"--secure-port="+ports[4], "--cert-dir="+c.path("scheduler"))
	args := []string{"-kubeconfig", c.Kubeconfig, "-dir", c.path("pods"), "-port", ports[5]}
	for _, r := range resources {
		args = append(args, "-resource", r)
	}
	for _, n := range nodes {
		if n.Address == "" {
			n.Address = "127.0.0.1"
		}
		at := n.Name + "=" + n.Address
		if n.Machine != 0 {
			at += "@" + strconv.Itoa(n.Machine)
		}
		args = append(args, "-node", at)
	}
	if err := os.Mkdir(c.path("pods"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.nodes = c.start("nodes", args...)
	c.await("the nodes", func() error {
		if _, err := c.Try("get", "serviceaccount", "default"); err != nil { // no pod without it
			return err
		}
		out, err := c.Try("get", "nodes", "--output", "name")
		if err == nil && strings.Count(out, "node/") != len(nodes) {
			err = fmt.Errorf("there are %s", out)
		}
		return err
	})
	return c
}

// Helm is a helm of a major version that speaks to this cluster. It is built by test/kube/build.
func (c *Cluster) Helm(major int) string {
	c.t.Helper()
	name := fmt.Sprintf("helm%d", major)
	program := filepath.Join(filepath.Dir(c.program), name)
	if _, err := os.Stat(program); err != nil {
		c.t.Fatalf("there is no .build/kube/%s: test/kube/build makes it", name)
	}
	c.write(name, fmt.Sprintf("#!/bin/sh\nexport KUBECONFIG=%s HOME=%s\nexec %s \"$@\"\n", c.Kubeconfig, c.Dir,
		program), 0o755)
	return c.path(name)
}

// built is the cluster's program; without it, or without the rights that its nodes
// need, the test is skipped.
func built(t testing.TB) string {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	program := filepath.Join(filepath.Dir(here), "../../../.build/kube/lab")
	why := ""
	if _, err := os.Stat(program); err != nil {
		why = "there is no .build/kube/lab: test/kube/build makes it"
	} else {
		probe := exec.Command("true")
		probe.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWPID,
		}
		if err := probe.Run(); err != nil {
			why = "pods need namespaces of their own, which are not permitted here: " + err.Error()
		}
	}
	switch {
	case why != "" && os.Getenv(Required) == "required":
		t.Fatal(why)
	case why != "":
		t.Skip(why)
	}
	return program
}

// Kubectl is a kubectl for what needs no cluster: this host's, or else that of the lab.
func Kubectl(t testing.TB) string {
	t.Helper()
	if program, err := exec.LookPath("kubectl"); err == nil {
		return program
	}
	c := &Cluster{Dir: t.TempDir(), t: t}
	c.write("kubectl", fmt.Sprintf("#!/bin/sh\nexec %s kubectl \"$@\"\n", built(t)), 0o755)
	return c.path("kubectl")
}

func (c *Cluster) path(name string) string { return filepath.Join(c.Dir, name) }

func (c *Cluster) write(name, text string, mode os.FileMode) {
	c.t.Helper()
	if err := os.WriteFile(c.path(name), []byte(text), mode); err != nil {
		c.t.Fatal(err)
	}
}

// serviceKey makes the key that service accounts' tokens are signed with.
func (c *Cluster) serviceKey() {
	c.t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		c.t.Fatal(err)
	}
	c.write("service.key", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY",
		Bytes: x509.MarshalPKCS1PrivateKey(key)})), 0o600)
}

// start runs a part of the cluster until the test ends.
func (c *Cluster) start(part string, args ...string) *exec.Cmd {
	c.t.Helper()
	log, err := os.Create(c.path(part + ".log"))
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(c.program, append([]string{part}, args...)...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, c.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	log.Close()
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	c.t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGCONT) // a test may have stopped it
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			cmd.Process.Kill()
			<-ended
		}
	})
	return cmd
}

// StopNodes freezes what stands for the kubelets: to the control plane all nodes are
// away. Pods go on.
func (c *Cluster) StopNodes() { c.nodes.Process.Signal(syscall.SIGSTOP) }

// ContinueNodes ends what StopNodes began.
func (c *Cluster) ContinueNodes() { c.nodes.Process.Signal(syscall.SIGCONT) }

func (c *Cluster) await(what string, ready func() error) {
	c.t.Helper()
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = ready(); err == nil {
			return
		}
	}
	c.t.Fatalf("%s did not come: %v\n%s", what, err, c.said())
}

// said is the end of each part's log.
func (c *Cluster) said() string {
	var out strings.Builder
	logs, _ := filepath.Glob(c.path("*.log"))
	for _, file := range logs {
		text, _ := os.ReadFile(file)
		fmt.Fprintf(&out, "%s:\n%s\n", filepath.Base(file), text[max(0, len(text)-1500):])
	}
	return out.String()
}

func (c *Cluster) ready(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	client := http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && string(text) != "ok" {
		err = fmt.Errorf("%s says %s", url, text)
	}
	return err
}

// Try asks the cluster with kubectl.
func (c *Cluster) Try(args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(c.Kubectl, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

// Ask is Try that ends the test where it fails.
func (c *Cluster) Ask(args ...string) string {
	c.t.Helper()
	out, err := c.Try(args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}
