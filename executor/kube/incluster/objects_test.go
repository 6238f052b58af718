package incluster

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/weir-bench/weir/executor/kube"
	lab "github.com/weir-bench/weir/test/lab/kube"
	"github.com/weir-bench/weir/workload"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: web, image: "web:1", env: [{name: A, valueFrom: {fieldRef: {fieldPath: status.podIP}}},
	{name: KEEP, value: "1"}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`

// graph is a custom resource with pods of its operator, such as Dynamo's deployments.
const graph = `
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: trtllm}
spec:
  services:
    Frontend: {replicas: 1, extraPodSpec: {mainContainer: {image: "dynamo:1"}}}
    Decode: {replicas: 2, extraPodSpec: {mainContainer: {image: "dynamo:1", env: [{name: NIXL_BACKEND,
	value: none}]}}}
`

const sidecar = `
apiVersion: v1
kind: Pod
metadata: {name: two}
spec: {containers: [{name: main, image: "a:1"}, {name: side, image: "b:1"}]}
`

func value(name string) (string, error) {
	if name == `run("fabric").bandwidth` {
		return "46.48", nil
	}
	return "", errors.New("it has no value here")
}

// at is the JSON of a part of an object.
func at(t *testing.T, o object, path ...string) string {
	t.Helper()
	var v any = o
	for _, key := range path {
		if list, ok := v.([]any); ok {
			v = list[key[0]-'0']
		} else {
			v = v.(object)[key]
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPatches(t *testing.T) {
	client := &kube.Client{Program: lab.Kubectl(t)}
	container := []string{"spec", "template", "spec", "containers", "0"}
	for name, c := range map[string]struct {
		spec workload.InCluster
		of   int
		path []string
		want string
	}{
		"env": {workload.InCluster{Manifests: []string{deployment}, Change: workload.ContainerChange{
			Env: []workload.NamedText{{Name: "A", Value: "x"}, {Name: "B", Value: "$${run(\"fabric\").bandwidth}"}},
		}}, 0, append(container, "env"),
			`[{"name":"A","value":"x"},{"name":"KEEP","value":"1"},{"name":"B","value":"${run(\"fabric\").bandwidth}"}]`},
		"a value of a run": {workload.InCluster{Manifests: []string{deployment}, Change: workload.ContainerChange{
			Args: []string{"--bandwidth", `${run("fabric").bandwidth}`},
		}}, 0, append(container, "args"), `["--bandwidth","46.48"]`},
		"image": {workload.InCluster{Manifests: []string{deployment},
			Change: workload.ContainerChange{Image: "web@sha256:aa"}},
			0, append(container, "image"), `"web@sha256:aa"`},
		"a custom resource": {workload.InCluster{Manifests: []string{graph}, Change: workload.ContainerChange{
			Image: "dynamo:2", Env: []workload.NamedText{{Name: "NIXL_BACKEND", Value: "LIBFABRIC"}},
		}}, 0, []string{"spec", "services"},
			`{"Decode":{"extraPodSpec":{"mainContainer":{"env":[{"name":"NIXL_BACKEND","value":"LIBFABRIC"}],"image":"dynamo:2"}},"replicas":2},` +
				`"Frontend":{"extraPodSpec":{"mainContainer":{"env":[{"name":"NIXL_BACKEND","value":"LIBFABRIC"}],"image":"dynamo:2"}},"replicas":1}}`},
		"one container of two": {workload.InCluster{Manifests: []string{sidecar}, Change: workload.ContainerChange{
			Image: "c:1", Containers: []string{"side"},
		}}, 0, []string{"spec", "containers"}, `[{"image":"a:1","name":"main"},{"image":"c:1","name":"side"}]`},
		"env of all containers": {workload.InCluster{Manifests: []string{sidecar}, Change: workload.ContainerChange{
			Env: []workload.NamedText{{Name: "A", Value: "1"}},
		}}, 0, []string{"spec", "containers", "1", "env"}, `[{"name":"A","value":"1"}]`},
		"strategic merge": {workload.InCluster{Manifests: []string{deployment}, Patches: []string{
			"kind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3, template: {spec: {containers: [{name: web, image: other}]}}}\n",
		}}, 0, append(container, "env", "1"), `{"name":"KEEP","value":"1"}`},
		"merge into a custom resource": {workload.InCluster{Manifests: []string{graph}, Patches: []string{
			"kind: DynamoGraphDeployment\nmetadata: {name: trtllm}\nspec: {services: {Decode: {replicas: 3}, Frontend: null}}\n",
		}}, 0, []string{"spec", "services"},
			`{"Decode":{"extraPodSpec":{"mainContainer":{"env":[{"name":"NIXL_BACKEND","value":"none"}],"image":"dynamo:1"}},"replicas":3}}`},
		"numbers stay": {workload.InCluster{Manifests: []string{deployment}, Patches: []string{
			"kind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n",
		}}, 0, []string{"spec", "replicas"}, `3`},
		"a list": {workload.InCluster{Manifests: []string{
			"kind: List\napiVersion: v1\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]\n",
		}}, 1, []string{"metadata", "name"}, `"b"`},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := objects(t.Context(), client, &c.spec, value)
			if err != nil {
				t.Fatal(err)
			}
			if got := at(t, all[c.of], c.path...); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestManifestsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spec workload.InCluster
		want string
	}{
		"not YAML": {workload.InCluster{Manifests: []string{"a: b: c\n"}}, "apply: yaml: "},
		"a text":   {workload.InCluster{Manifests: []string{"hello\n"}}, "not an object of Kubernetes"},
		"no kind":  {workload.InCluster{Manifests: []string{"metadata: {name: a}\n"}}, "no kind or no apiVersion"},
		"no name": {workload.InCluster{Manifests: []string{"kind: Pod\napiVersion: v1\n"}},
			"a Pod has no metadata.name"},
		"no target": {workload.InCluster{Manifests: []string{deployment},
			Patches: []string{"kind: Pod\napiVersion: v1\nmetadata: {name: web}\n"}},
			"there is no Pod/web in apply, which has Deployment/web, Service/web"},
		"two containers": {workload.InCluster{Manifests: []string{sidecar},
			Change: workload.ContainerChange{Image: "c"}},
			"a pod of Pod/two has several containers"},
		"no such container": {workload.InCluster{Manifests: []string{sidecar},
			Change: workload.ContainerChange{Image: "c",
				Containers: []string{"third"}}}, `no pod has a container "third"; the containers are main, side`},
		"no container": {workload.InCluster{
			Manifests: []string{"kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n"},
			Change:    workload.ContainerChange{Env: []workload.NamedText{{Name: "A"}}}},
			"no object of apply has a container"},
		"unknown value": {workload.InCluster{Manifests: []string{deployment}, Change: workload.ContainerChange{
			Args: []string{"${port.x}"}}}, "it has no value here"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := objects(t.Context(), nil, &c.spec, value)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// Everything is found again by its labels, and goes with its owner.
func TestLabelsAndOwners(t *testing.T) {
	all, err := objects(t.Context(), nil, &workload.InCluster{Manifests: []string{deployment}}, value)
	if err != nil {
		t.Fatal(err)
	}
	label(all, "s-1", "web")
	want := `{"app":"web","weir.dev/service":"web","weir.dev/services-of":"s-1"}`
	if got := at(t, all[0], "spec", "template", "metadata", "labels"); got != want {
		t.Errorf("pods have %s, want %s", got, want)
	}
	kube.Part(all[0], "metadata")["namespace"] = "bench"
	owner := object{"metadata": object{"name": "weir-web-1", "uid": "u"}}
	own(all, map[string]object{"bench": owner})
	want = `[{"apiVersion":"batch/v1","kind":"Job","name":"weir-web-1","uid":"u"}]`
	if got := at(t, all[0], "metadata", "ownerReferences"); got != want {
		t.Errorf("its owners are %s, want %s", got, want)
	}
	if got := at(t, all[1], "metadata", "ownerReferences"); got != "null" {
		t.Errorf("an object in no namespace has the owners %s", got)
	}
}

func TestConditions(t *testing.T) {
	for name, c := range map[string]struct{ object, is, want string }{
		"met":  {`{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, "Ready", ""},
		"case": {`{"status":{"conditions":[{"type":"Available","status":"True"}]}}`, "available", ""},
		"false": {`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Pulling","message":"2 of 3"}]}}`,
			"Ready", "Ready is False: Pulling: 2 of 3"},
		"wanted":    {`{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, "Ready=False", ""},
		"none":      {`{"status":{}}`, "Ready", "it has no condition Ready yet"},
		"no status": {`{}`, "Ready", "it has no condition Ready yet"},
		"old": {`{"metadata":{"generation":2},"status":{"observedGeneration":1,"conditions":[{"type":"Ready","status":"True"}]}}`,
			"Ready", "its controller has not seen it yet"},
		"old alone": {`{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":1}]}}`,
			"Ready", "its controller has not seen it yet"},
		"field":      {`{"status":{"readyReplicas":2}}`, "status.readyReplicas=2", ""},
		"field less": {`{"status":{"readyReplicas":1}}`, "status.readyReplicas=2", "status.readyReplicas is 1"},
		"field text": {`{"status":{"phase":"Running"}}`, "status.phase=Running", ""},
		"field list": {`{"status":{"a":[{"b":true}]}}`, "status.a.0.b=true", ""},
		"no field":   {`{"status":{}}`, "status.phase=Running", "status.phase does not exist"},
	} {
		var o object
		if err := json.Unmarshal([]byte(c.object), &o); err != nil {
			t.Fatal(err)
		}
		ok, why := met(o, c.is)
		if ok != (c.want == "") || why != c.want {
			t.Errorf("%s: %v %q, want %q", name, ok, why, c.want)
		}
	}
}

func TestPodsThatCrash(t *testing.T) {
	const running = `"state":{"running":{}}`
	for name, c := range map[string]struct {
		status, restart string
		ready           bool
		want            string // "": nothing is wrong
	}{
		"running": {`{"containerStatuses":[{"name":"a",` + running + `}]}`, "Always", true, ""},
		"ended": {`{"phase":"Failed","containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":3,"reason":"Error"}}}]}`,
			"Always", false, "a: exit code 3"},
		"memory": {`{"phase":"Failed","containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":137,"reason":"OOMKilled"}}}]}`,
			"Never", true, "a: exit code 137, OOMKilled"},
		"restarted while it starts": {`{"containerStatuses":[{"name":"a","restartCount":1,` + running +
			`,"lastState":{"terminated":{"exitCode":1}}}]}`, "Always", false, ""},
		"restarted when it was ready": {`{"containerStatuses":[{"name":"a","restartCount":1,` + running +
			`,"lastState":{"terminated":{"exitCode":1}}}]}`, "Always", true, "a: exit code 1"},
		"again and again": {`{"containerStatuses":[{"name":"a","restartCount":2,"state":{"waiting":{"reason":"CrashLoopBackOff"}}` +
			`,"lastState":{"terminated":{"exitCode":1}}}]}`, "Always", false, "a: exit code 1"},
		"no image": {`{"containerStatuses":[{"name":"a","state":{"waiting":{"reason":"ErrImagePull","message":"no such host"}}}]}`,
			"Always", false, "a: ErrImagePull: no such host"},
		"pulling": {`{"containerStatuses":[{"name":"a","state":{"waiting":{"reason":"ContainerCreating"}}}]}`,
			"Always", false, ""},
		"evicted": {`{"phase":"Failed","reason":"Evicted","message":"low on memory"}`, "Always", true,
			": Evicted: low on memory"},
		"init done": {`{"initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":0}}}],"containerStatuses":[{"name":"a",` +
			running + `}]}`, "Always", true, ""},
		"a server that ends": {`{"containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":0}}}]}`,
			"Always", true,
			"a: exit code 0"},
		"a job that ends": {`{"phase":"Succeeded","containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":0}}}]}`,
			"Never",
			true, ""},
	} {
		var p pod
		if err := json.Unmarshal([]byte(`{"spec":{"restartPolicy":"`+c.restart+`"},"status":`+c.status+`}`),
			&p); err != nil {
			t.Fatal(err)
		}
		got := ""
		if crash := p.judge(c.ready); crash != nil {
			got = crash.container + ": " + crash.text
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		tunnel workload.Tunnel
		port   int
		want   string
	}{
		{workload.Tunnel{Service: "web", Port: "80"}, 0, "port-forward service/web :80 --address 127.0.0.1"},
		{workload.Tunnel{Service: "Pod/web-0", Port: "http"}, 4711,
			"port-forward Pod/web-0 4711:http --address 127.0.0.1"},
	} {
		if got := strings.Join(forwardArguments(&c.tunnel, "127.0.0.1", c.port), " "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	s := &Service{r: Request{Session: "s", Service: "Web_1", Spec: &workload.InCluster{
		Within: 90e9, Helm: &workload.Helm{Chart: "./chart", Version: "1.2"},
	}}}
	if got := strings.Join(s.installArguments([]string{"v.yaml"}), " "); !strings.HasPrefix(
		got,
		"upgrade weir-web-1-",
	) ||
		!strings.HasSuffix(got, " ./chart --install --wait --timeout 90s --version 1.2 --values v.yaml") {
		t.Errorf("helm %s", got)
	}
	if m := forwarding.FindStringSubmatch("Forwarding from 127.0.0.1:37001 -> 8000"); m == nil || m[1] != "37001" {
		t.Errorf("%v", m)
	}
}
