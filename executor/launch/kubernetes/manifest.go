package kubernetes

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"weir/dsl/yamlsyntax"
	"weir/executor/launch"
)

// object is a part of a manifest, in the words of Kubernetes' API.
type object = map[string]any

// Where the bootstrap document is in a pod and in its Secret.
const (
	bootstrapDir = "/run/weir"
	bootstrapKey = "bootstrap.json"
	variableKey  = "env." // and a variable's name
	agent        = "agent"
)

// manifests are the three objects of a session.
type manifests struct{ job, service, secret object }

// Render writes what would be created, with a Secret that has no values.
func (l *Launcher) Render(r launch.Request) ([]launch.File, error) {
	m, err := l.manifests(&r, nil)
	if err != nil {
		return nil, err
	}
	text, err := m.yaml()
	return []launch.File{{Name: Name(r.Session) + ".yaml", Mode: 0o644, Text: text}}, err
}

// RenderWithSecret writes what would be created with all that is in it: whoever reads
// it can take part in the session.
func (l *Launcher) RenderWithSecret(r launch.Request) ([]byte, error) {
	secret, err := secretValues(&r)
	if err != nil {
		return nil, err
	}
	m, err := l.manifests(&r, secret)
	if err != nil {
		return nil, err
	}
	return m.yaml()
}

func (m *manifests) yaml() ([]byte, error) { return yamlsyntax.WriteData(m.job, m.service, m.secret) }

// secretValues are the bootstrap of any node and the agents' environment.
func secretValues(r *launch.Request) (map[string][]byte, error) {
	b, err := r.Bootstrap("*")
	if err != nil {
		return nil, err
	}
	text, err := b.Encode()
	if err != nil {
		return nil, err
	}
	values := map[string][]byte{bootstrapKey: text}
	for name, value := range r.Env {
		values[variableKey+name] = []byte(value)
	}
	return values, nil
}

// manifests makes a session's objects; values nil leaves the Secret's out.
func (l *Launcher) manifests(r *launch.Request, values map[string][]byte) (*manifests, error) {
	if r.Session == "" {
		return nil, errors.New("kubernetes: a request needs a session")
	}
	if r.Nodes < 1 || r.Nodes > math.MaxInt32 {
		return nil, fmt.Errorf("%d nodes: there must be at least one", r.Nodes)
	}
	m := &manifests{job: l.job(r), service: l.service(r), secret: l.secret(r, values)}
	for _, p := range l.o.Patches {
		if err := p.apply(m); err != nil {
			return nil, err
		}
	}
	if len(l.o.Patches) > 0 {
		if err := l.intact(m, r); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (l *Launcher) metadata(r *launch.Request) object {
	m := object{
		"name":        Name(r.Session),
		"labels":      l.labels(r),
		"annotations": object{wholeMark: r.Session},
	}
	if l.o.Namespace != "" {
		m["namespace"] = l.o.Namespace
	}
	return m
}

func (l *Launcher) labels(r *launch.Request) object {
	out := texts(l.o.Labels)
	out[mark], out["app.kubernetes.io/name"], out["app.kubernetes.io/managed-by"] = Name(r.Session), "weir", "weir"
	return out
}

// job has one pod for each node. When one fails the others go on, because a session
// does; nothing is started again, because an agent that was lost has lost its launch.
func (l *Launcher) job(r *launch.Request) object {
	spec := object{
		"completions":             r.Nodes,
		"parallelism":             r.Nodes,
		"completionMode":          "Indexed",
		"backoffLimitPerIndex":    0,
		"ttlSecondsAfterFinished": 600, // time to look at pods of a session that has ended by itself
		"template": object{
			"metadata": object{"labels": l.labels(r), "annotations": object{wholeMark: r.Session}},
			"spec":     l.pod(r),
		},
	}
	if l.o.Deadline > 0 {
		spec["activeDeadlineSeconds"] = int(max(l.o.Deadline, time.Second) / time.Second)
	}
	return object{"apiVersion": "batch/v1", "kind": "Job", "metadata": l.metadata(r), "spec": spec}
}

// service gives each pod a name that others can look up: the node's, a dot and the
// session's.
func (l *Launcher) service(r *launch.Request) object {
	return object{"apiVersion": "v1", "kind": "Service", "metadata": l.metadata(r), "spec": object{
		"clusterIP":                "None",
		"publishNotReadyAddresses": true, // pods talk to each other before anybody calls them ready
		"selector":                 object{mark: Name(r.Session)},
	}}
}

func (l *Launcher) secret(r *launch.Request, values map[string][]byte) object {
	out := object{"apiVersion": "v1", "kind": "Secret", "metadata": l.metadata(r), "type": "Opaque"}
	if values == nil {
		left := object{bootstrapKey: "left out"}
		for name := range r.Env {
			left[variableKey+name] = "left out"
		}
		out["stringData"] = left
		return out
	}
	data := object{}
	for key, value := range values {
		data[key] = base64.StdEncoding.EncodeToString(value)
	}
	out["data"], out["immutable"] = data, true
	return out
}

func (l *Launcher) pod(r *launch.Request) object {
	o := &l.o
	container, volumes := l.container(r)
	spec := object{
		"restartPolicy":                 "Never",
		"subdomain":                     Name(r.Session),
		"terminationGracePeriodSeconds": 30,
		"automountServiceAccountToken":  false, // an agent asks the cluster for nothing
		"enableServiceLinks":            false,
		"containers":                    []any{container},
		"volumes":                       volumes,
		"tolerations":                   tolerations(o.Tolerations),
		// One agent on a machine: two would share its ports, memory and processors unawares.
		"affinity": object{"podAntiAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": []any{object{
			"topologyKey":   "kubernetes.io/hostname",
			"labelSelector": object{"matchLabels": object{mark: Name(r.Session)}},
		}}}},
	}
	if o.ServiceAccount != "" {
		spec["serviceAccountName"] = o.ServiceAccount
	}
	if len(o.NodeSelector) > 0 {
		spec["nodeSelector"] = texts(o.NodeSelector)
	}
	if len(o.PullSecrets) > 0 {
		var names []any
		for _, name := range o.PullSecrets {
			names = append(names, object{"name": name})
		}
		spec["imagePullSecrets"] = names
	}
	if o.HostNetwork {
		spec["hostNetwork"], spec["dnsPolicy"] = true, "ClusterFirstWithHostNet"
	}
	if o.HostIPC {
		spec["hostIPC"] = true
	}
	return spec
}

// container is the agent's, with the volumes that it has.
func (l *Launcher) container(r *launch.Request) (c object, volumes []any) {
	o := &l.o
	var mounts []any
	mount := func(name, where string, volume object, more ...string) {
		volume["name"] = name
		volumes = append(volumes, volume)
		m := object{"name": name, "mountPath": where}
		if slices.Contains(more, "readOnly") {
			m["readOnly"] = true
		}
		mounts = append(mounts, m)
	}
	// Only this container sees it, whatever user its image runs as.
	mount("bootstrap", bootstrapDir, object{"secret": object{"secretName": Name(r.Session), "defaultMode": 0o444,
		"items": []any{object{"key": bootstrapKey, "path": bootstrapKey}}}}, "readOnly")
	if l.copies() {
		mount(programVolume, programDir, object{"emptyDir": object{}})
	}
	if o.SharedMemory != "0" {
		mount("shm", "/dev/shm", object{"emptyDir": object{"medium": "Memory", "sizeLimit": o.SharedMemory}})
	}
	for _, name := range slices.Sorted(maps.Keys(o.Resources)) {
		if size, ok := strings.CutPrefix(name, hugePages); ok {
			where := "/dev/hugepages"
			if slices.ContainsFunc(volumes, func(v any) bool {
				return strings.HasPrefix(v.(object)["name"].(string),
					hugePages)
			}) {
				where += "-" + size // the first has the usual place
			}
			mount(strings.ToLower(name), where, object{"emptyDir": object{"medium": "HugePages-" + size}})
		}
	}
	c = object{
		"name":            agent,
		"image":           o.Image,
		"command":         l.programOf(),
		"args":            list(r.AgentArguments(path.Join(bootstrapDir, bootstrapKey))),
		"env":             environment(r),
		"securityContext": o.security(),
		"volumeMounts":    mounts,
	}
	if o.PullPolicy != "" {
		c["imagePullPolicy"] = o.PullPolicy
	}
	if len(o.Resources) > 0 {
		c["resources"] = object{"requests": texts(o.Resources), "limits": texts(o.Resources)}
	}
	return c, volumes
}

// environment tells an agent what its pod is: WEIR_NODE is its name, WEIR_HOST the
// machine that it runs on, WEIR_ADDRESS where it can be reached. Values of the
// request's own variables are in the Secret.
func environment(r *launch.Request) []any {
	from := func(name, field string) object {
		return object{"name": name, "valueFrom": object{"fieldRef": object{"fieldPath": field}}}
	}
	env := []any{
		// The Job sets it too, but behind all others, where they cannot refer to it.
		from("JOB_COMPLETION_INDEX", "metadata.annotations['"+indexMark+"']"),
		object{"name": "WEIR_NODE", "value": Name(r.Session) + "-$(JOB_COMPLETION_INDEX)"},
		from("WEIR_HOST", "spec.nodeName"),
		from("WEIR_ADDRESS", "status.podIP"),
	}
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		env = append(env, object{
			"name": name, "valueFrom": object{
				"secretKeyRef": object{"name": Name(r.Session), "key": variableKey + name},
			},
		})
	}
	return env
}

// tolerations are the user's, and a shorter patience with nodes that are away than the
// usual five minutes: the agents have long noticed.
func tolerations(all []string) []any {
	var out []any
	for _, text := range all {
		m := toleration.FindStringSubmatch(text)
		t := object{"key": m[1], "operator": "Exists"}
		if strings.Contains(text, "=") {
			t["operator"], t["value"] = "Equal", m[2]
		}
		if m[3] != "" {
			t["effect"] = m[3]
		}
		out = append(out, t)
	}
	for _, key := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		out = append(out, object{"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 15})
	}
	return out
}

func list(all []string) []any {
	out := make([]any, len(all))
	for i, s := range all {
		out[i] = s
	}
	return out
}

func texts(m map[string]string) object {
	out := object{}
	for name, value := range m {
		out[name] = value
	}
	return out
}
