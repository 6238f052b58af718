package kubernetes

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/internal/yamlsyntax"
	"github.com/weir-bench/weir/test/golden"
	"github.com/weir-bench/weir/test/lab/kube"
)

const session = "20261121-101500-quickstart-3f9a"

// request is a request of a session with n nodes and a real bootstrap.
func request(t testing.TB, n int) launcher.Request {
	t.Helper()
	a, err := link.NewAuthority(session, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	id, err := a.Issue(link.Agent, "*", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return launcher.Request{
		Session: session, Nodes: n, Binary: binary, Dir: t.TempDir(), Say: t.Logf,
		Bootstrap: func(node string) (launcher.Bootstrap, error) {
			return launcher.Bootstrap{Session: session, Node: node, Identity: id,
				Coordinator: []string{"coordinator.test:4711"}}, nil
		},
	}
}

func options(change func(*Options)) Options {
	o := Default()
	o.Image = "registry.test/weir:1.7"
	if change != nil {
		change(&o)
	}
	return o
}

func launcherOf(t testing.TB, o Options) *Launcher {
	t.Helper()
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func patches(t testing.TB, text string) []Patch {
	t.Helper()
	all, err := ReadPatches([]byte(text), "patch.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The manifests as people read them; each is also held to the API's own description.
func TestManifests(t *testing.T) {
	for name, c := range map[string]struct {
		nodes   int
		options func(*Options)
		request func(*launcher.Request)
	}{
		"plain": {nodes: 2},
		"gpu-efa": {nodes: 4, options: func(o *Options) {
			o.Image = "registry.test/weir@sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
			o.PullPolicy, o.PullSecrets, o.Command = "IfNotPresent", []string{"registry"}, "/opt/weir/bin/weir"
			o.Resources = map[string]string{
				"cpu": "90", "memory": "900Gi", "nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32",
				"hugepages-2Mi": "5120Mi", "hugepages-1Gi": "2Gi",
			}
			o.SharedMemory = "80Gi"
			o.Capabilities = []string{"IPC_LOCK", "SYS_PTRACE"}
			o.ServiceAccount, o.HostNetwork, o.HostIPC = "bench", true, true
			o.NodeSelector = map[string]string{"node.kubernetes.io/instance-type": "p5.48xlarge"}
			o.Tolerations = []string{"nvidia.com/gpu:NoSchedule", "team=bench"}
			o.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "bench"}
			o.Deadline, o.Namespace = 0, "team-a"
		}, request: func(r *launcher.Request) {
			r.AllowCommands = true
			r.Env = map[string]string{"UCX_TLS": "rc,cuda", "HF_TOKEN": "hf_verysecret"}
		}},
		"privileged": {nodes: 1, options: func(o *Options) {
			o.Privileged, o.Capabilities, o.SharedMemory = true, nil, "0"
		}},
		"patched": {nodes: 2, options: func(o *Options) {
			o.Kubectl = kube.Kubectl(t)
			o.Patches = patches(t, `
# all of it is about the pods
metadata: {annotations: {k8s.v1.cni.cncf.io/networks: rdma-net}}
spec:
  priorityClassName: high
  affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app.kubernetes.io/name: weir}}}}]}}
  containers:
  - name: agent
    env:
    - {name: NCCL_DEBUG, value: "1"}
    - {name: WEIR_ADDRESS, $patch: delete}
    volumeMounts: [{name: models, mountPath: /models, readOnly: true}]
  - {name: sidecar, image: registry.test/exporter:3, ports: [{containerPort: 9400}]}
  volumes: [{name: models, persistentVolumeClaim: {claimName: models}}]
---
kind: Job
spec: {ttlSecondsAfterFinished: null, podReplacementPolicy: Failed}
---
kind: Service
spec: {ports: [{name: agent, port: 4711}]}
`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(t, c.nodes)
			if c.request != nil {
				c.request(&r)
			}
			l := launcherOf(t, options(c.options))
			text, err := l.Render(r)
			if err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, filepath.Join("testdata", "manifests", name+".yaml"), text)
			conforms(t, text)
			whole, err := l.RenderWithSecret(r)
			if err != nil {
				t.Fatal(err)
			}
			conforms(t, whole)
			if bytes.Contains(text, []byte("hf_verysecret")) ||
				bytes.Contains(whole, []byte("hf_verysecret")) {
				t.Error("the value of a variable is in the open")
			}
		})
	}
}

func apiSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("testdata/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// violations is what Kubernetes' description says against each document, "" if nothing.
func violations(t testing.TB, text []byte) string {
	t.Helper()
	documents, err := yamlsyntax.ReadData(text, "manifest")
	if err != nil {
		t.Fatal(err)
	}
	if len(documents) != 3 {
		t.Fatalf("%d documents, want a Job, a Service and a Secret", len(documents))
	}
	schema := apiSchema(t)
	var all []string
	for _, d := range documents {
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			all = append(all, err.Error())
		}
	}
	return strings.Join(all, "\n")
}

func conforms(t *testing.T, text []byte) {
	t.Helper()
	if v := violations(t, text); v != "" {
		t.Errorf("against Kubernetes' API: %s\n%s", v, text)
	}
}

// The check against the API's description must be able to fail.
func TestDescriptionRefuses(t *testing.T) {
	kubectl := kube.Kubectl(t)
	for name, patch := range map[string]string{
		"unknown field":  "spec: {hostNetwrok: true}",
		"unknown deeper": "spec: {containers: [{name: agent, securityContext: {capabilites: {add: [X]}}}]}",
		"wrong type":     "spec: {terminationGracePeriodSeconds: soon}",
		"not required":   "spec: {volumes: [{name: x, configMap: {items: [{key: a}]}}]}",
	} {
		t.Run(name, func(t *testing.T) {
			l := launcherOf(t, options(func(o *Options) { o.Kubectl, o.Patches = kubectl, patches(t, patch) }))
			text, err := l.Render(request(t, 1))
			if err != nil {
				t.Fatal(err)
			}
			if violations(t, text) == "" {
				t.Error("passes")
			}
		})
	}
}

// What an agent reads is in the Secret alone, and all of it.
func TestSecret(t *testing.T) {
	r := request(t, 1)
	r.Env = map[string]string{"HF_TOKEN": "hf_verysecret"}
	values, err := secretValues(&r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := launcher.DecodeBootstrap(values[bootstrapKey]); err != nil {
		t.Error(err)
	}
	if got := string(values["env.HF_TOKEN"]); got != "hf_verysecret" {
		t.Errorf("HF_TOKEN is %q", got)
	}
	l := launcherOf(t, options(nil))
	whole, err := l.manifests(t.Context(), &r, values)
	if err != nil {
		t.Fatal(err)
	}
	empty, err := l.manifests(t.Context(), &r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(empty.job, whole.job); d != "" {
		t.Errorf("the Job differs with the values of the Secret: %s", d)
	}
}

func TestOptionsRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"no image": {func(o *Options) { o.Image = "" }, "no image: pods need one, which may be any"},
		"no tag": {func(o *Options) { o.Image = "registry.test:5000/weir" },
			"has no tag, which means registry.test:5000/weir:latest"},
		"empty tag":   {func(o *Options) { o.Image = "weir:" }, "has no tag, which means weir:latest"},
		"blank":       {func(o *Options) { o.Image = "weir:1 x" }, "a name has no blanks"},
		"pull policy": {func(o *Options) { o.PullPolicy = "always" }, `pull policy "always": must be Always`},
		"quantity": {func(o *Options) { o.Resources = map[string]string{"memory": "32GB"} },
			`resource memory: "32GB" is no quantity`},
		"huge pages": {func(o *Options) { o.Resources = map[string]string{"hugepages-2Mi": "1Gi"} },
			"only to pods that also ask for memory or cpu"},
		"shared memory": {func(o *Options) { o.SharedMemory = "" }, "shared memory"},
		"user":          {func(o *Options) { o.User = "nobody" }, "must be UID or UID:GID"},
		"capability":    {func(o *Options) { o.Capabilities = []string{"CAP_IPC_LOCK"} }, "without CAP_"},
		"toleration": {func(o *Options) { o.Tolerations = []string{"a:Never"} },
			`toleration "a:Never": must be KEY[=VALUE][:EFFECT]`},
		"namespace": {func(o *Options) {
			o.Namespace = "Perf"
		}, `namespace "Perf": must be`},
		"long namespace": {func(o *Options) {
			o.Namespace = strings.Repeat("a", 64)
		}, "at most 63"},
		"service account": {func(o *Options) {
			o.ServiceAccount = "a b"
		}, `service account "a b": must be`},
		"pull secret": {func(o *Options) {
			o.PullSecrets = []string{"a", "{name: b}"}
		}, `pull secret "{name: b}": must be`},
		"label key": {func(o *Options) {
			o.Labels = map[string]string{"a/b/c": "d"}
		}, `label "a/b/c=d": must be`},
		"label value": {func(o *Options) {
			o.Labels = map[string]string{"a": "b\nc: d"}
		}, `label "a=b\nc: d": must be`},
		"node selector": {func(o *Options) {
			o.NodeSelector = map[string]string{"-": ""}
		}, `node selector "-=": must be`},
		"resource": {func(o *Options) {
			o.Resources = map[string]string{"a,b": "1"}
		}, `resource "a,b": no name`},
		"names": {func(o *Options) {
			o.Namespace, o.ServiceAccount, o.PullSecrets = "perf-1", "ci.weir", []string{"a.b"}
			o.Labels = map[string]string{"x.io/team_a": "B.c"}
			o.NodeSelector = map[string]string{"kubernetes.io/os": ""}
		}, ""},
		"latest, spoken": {func(o *Options) { o.Image = "weir:latest" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(options(c.change))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestName(t *testing.T) {
	for session, want := range map[string]string{
		session:                  "weir-" + session,
		"20261121-101500-P5_x":   "weir-20261121-101500-p5-x-",
		"a.b":                    "weir-a-b-",
		"trailing-":              "weir-trailing-",
		strings.Repeat("x", 200): "weir-" + strings.Repeat("x", 42) + "-",
	} {
		got := Name(session)
		if !strings.HasPrefix(got, want) || strings.HasSuffix(want, "-") && len(got) != len(want)+8 ||
			!strings.HasSuffix(want, "-") && got != want {
			t.Errorf("Name(%q) = %q, want %s and a digest where it ends in -", session, got, want)
		}
		if host := Node(session, 99_999); len(host) > 63 {
			t.Errorf("the host name %s has %d characters", host, len(host))
		}
	}
	if Name("a.b") == Name("a-b") || Name("A") == Name("a") {
		t.Error("different sessions have the same name")
	}
}
