package kubernetes

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/weir-bench/weir/executor/kube"
	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/internal/yamlsyntax"
)

type object = kube.Object

// Names in the template.
const (
	bootstrapDir = "/run/weir"
	bootstrapKey = "bootstrap.json"
	variableKey  = "env." // followed by a variable's name
	agent        = "agent"
)

// manifests are the three objects of a session.
type manifests struct{ job, service, secret object }

//go:embed manifests.yaml.tmpl
var manifestsText string

var manifestsTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("manifests").Funcs(template.FuncMap{
		"lower": strings.ToLower,
		"json":  func(v any) (string, error) { text, err := json.Marshal(v); return string(text), err }, // is YAML, too
	}).Parse(manifestsText))
})

// values are the values for the template.
type values struct {
	*Options
	Name, Session string
	Nodes         int
	Labels        map[string]string
	Seconds       int // until the cluster ends the session; 0: never
	Taints        []object
	Env           map[string]string
	Copies        bool // weir is copied into the pods
	MayAll        bool // no restriction of new privileges, which SYS_ADMIN can gain anyway
	UID, GID      int64
	HugePages     []string // sizes
	Program       []string
	Arguments     []string
	Values        map[string][]byte // of the Secret; nil: left out
}

// Render returns the manifests with a Secret without values.
func (l *Launcher) Render(r launcher.Request) ([]byte, error) { return l.render(&r, nil) }

// RenderWithSecret returns the manifests with the Secret's values: any reader can join the session.
func (l *Launcher) RenderWithSecret(r launcher.Request) ([]byte, error) {
	secret, err := secretValues(&r)
	if err != nil {
		return nil, err
	}
	return l.render(&r, secret)
}

func (l *Launcher) render(r *launcher.Request, secret map[string][]byte) ([]byte, error) {
	m, err := l.manifests(context.Background(), r, secret) // without a cluster
	if err != nil {
		return nil, err
	}
	return yamlsyntax.WriteData(m.job, m.service, m.secret)
}

// secretValues are the bootstrap document for any node and the agents' environment.
func secretValues(r *launcher.Request) (map[string][]byte, error) {
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

// manifests makes a session's objects; with secret nil, the Secret has no values.
func (l *Launcher) manifests(ctx context.Context, r *launcher.Request, secret map[string][]byte) (*manifests, error) {
	if r.Session == "" {
		return nil, errors.New("kubernetes: a request needs a session")
	}
	if r.Nodes < 1 || r.Nodes > math.MaxInt32 {
		return nil, fmt.Errorf("%d nodes: there must be at least one", r.Nodes)
	}
	var text bytes.Buffer
	if err := manifestsTemplate().Execute(&text, l.values(r, secret)); err != nil {
		return nil, err
	}
	all, err := yamlsyntax.ReadData(text.Bytes(), "manifests")
	if err != nil {
		return nil, err
	}
	m := &manifests{job: all[0].(object), service: all[1].(object), secret: all[2].(object)}
	for _, p := range l.o.Patches {
		if err := p.apply(ctx, l.kube, m); err != nil {
			return nil, err
		}
	}
	if len(l.o.Patches) > 0 {
		return m, l.intact(m, r)
	}
	return m, nil
}

func (l *Launcher) values(r *launcher.Request, secret map[string][]byte) *values {
	o := &l.o
	v := &values{
		Options: o, Name: Name(r.Session), Session: r.Session, Nodes: r.Nodes, Env: r.Env, Values: secret,
		Labels: map[string]string{}, Taints: tolerations(o.Tolerations), Copies: l.NeedsCopy(),
		MayAll: slices.Contains(o.Capabilities, "SYS_ADMIN"), Program: l.programOf(),
		Arguments: r.AgentArguments(path.Join(bootstrapDir, bootstrapKey)),
	}
	maps.Copy(v.Labels, o.Labels)
	maps.Copy(v.Labels, map[string]string{
		mark: v.Name, "app.kubernetes.io/name": "weir", "app.kubernetes.io/managed-by": "weir",
	})
	if o.Deadline > 0 {
		v.Seconds = int(max(o.Deadline, time.Second) / time.Second)
	}
	user, group, _ := strings.Cut(o.User, ":")
	v.UID, v.GID = integer(user), integer(group)
	for _, name := range slices.Sorted(maps.Keys(o.Resources)) {
		if size, ok := strings.CutPrefix(name, hugePages); ok {
			v.HugePages = append(v.HugePages, size)
		}
	}
	return v
}

// tolerations parses KEY[=VALUE][:EFFECT].
func tolerations(all []string) []object {
	var out []object
	for _, text := range all {
		m := toleration().FindStringSubmatch(text)
		t := object{"key": m[1], "operator": "Exists"}
		if strings.Contains(text, "=") {
			t["operator"], t["value"] = "Equal", m[2]
		}
		if m[3] != "" {
			t["effect"] = m[3]
		}
		out = append(out, t)
	}
	return out
}
