package command

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"weir/placeholder"
	"weir/quantity"
	"weir/workload"
)

// Role is one program. Its texts are those of package placeholder.
type Role struct {
	Name    string     `json:"name"`
	Node    int        `json:"node"`
	Command []string   `json:"command"`
	Env     []Variable `json:"env,omitempty"`
	// Place is what of its node the role has to itself.
	Place workload.Own `json:"place"`
	After []string     `json:"after,omitempty"`
	Ready Ready        `json:"ready"`
	Ends  Ends         `json:"ends"`
	With  string       `json:"with,omitempty"` // of EndsWith
}

// Variable is a name with its text.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Ready says when a role is ready, as readiness.Check does.
type Ready struct {
	Listens  string        `json:"listens,omitempty"`
	HTTP     string        `json:"http,omitempty"`
	Contains string        `json:"contains,omitempty"`
	Log      string        `json:"log,omitempty"` // without names
	File     string        `json:"file,omitempty"`
	Etcd     string        `json:"etcd,omitempty"`
	Command  []string      `json:"command,omitempty"`
	Within   time.Duration `json:"within_ns"`
}

// Ends says what makes a role's program end.
type Ends string

// The ends of roles.
const (
	EndsByItself Ends = "by itself"
	EndsWith     Ends = "with"
	EndsWhenTold Ends = "when told"
)

const (
	readyWithin = 30 * time.Second
	mostRoles   = 64
	mostNodes   = 1 << 16
)

var (
	roleName     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// canonicalRoles checks option roles and writes it without what are defaults.
func canonicalRoles(text string) (string, error) {
	roles, err := readRoles(text)
	if err != nil {
		return "", err
	}
	for _, r := range roles {
		if strings.HasPrefix(r.Ready.HTTP, "/") {
			return "", workload.Wrong([]string{r.Name, "ready", "http"},
				"a role has no url that a path is below: write http://HOST:PORT%s", r.Ready.HTTP)
		}
	}
	var all writer
	for _, r := range roles {
		all.put(r.Name, r.structured(readyWithin))
	}
	return all.mapping().JSON(), nil
}

// structured leaves out what are defaults, of which that of ready.within is given.
func (r *Role) structured(within time.Duration) *workload.Structured {
	var w, ready writer
	if r.Node != 0 {
		w.text("node", strconv.Itoa(r.Node))
	}
	w.texts("command", r.Command)
	w.variables("env", r.Env)
	putPlace(&w, r.Place)
	w.texts("after", r.After)
	ready.text("listens", r.Ready.Listens)
	ready.text("http", r.Ready.HTTP)
	ready.text("contains", r.Ready.Contains)
	ready.text("log", placeholder.Quote(r.Ready.Log))
	ready.text("file", r.Ready.File)
	ready.text("etcd", r.Ready.Etcd)
	ready.texts("command", r.Ready.Command)
	if r.Ready.Within != within {
		ready.text("within", quantity.Time(r.Ready.Within).String())
	}
	if len(ready.pairs) > 0 {
		w.put("ready", ready.mapping())
	}
	switch r.Ends {
	case EndsWith:
		w.text("ends", "with "+r.With)
	case EndsWhenTold:
		w.text("ends", string(r.Ends))
	}
	return w.mapping()
}

func readRoles(text string) ([]Role, error) {
	s, err := workload.ReadStructure(text)
	if err != nil {
		return nil, err
	}
	switch {
	case len(s.Pairs) == 0:
		return nil, fmt.Errorf("it is a mapping from names of roles to their programs, as client: {command: [iperf3, -c, host]}")
	case len(s.Pairs) > mostRoles:
		return nil, fmt.Errorf("%d roles are more than %d", len(s.Pairs), mostRoles)
	}
	var roles []Role
	for _, p := range s.Pairs {
		r, f, err := readRole(p, readyWithin, "ends")
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(r.Ready.HTTP, "/") {
			f.fail([]string{"ready", "http"}, "%q is a path, and a role has no url: write http://ADDRESS:PORT%s",
				r.Ready.HTTP, r.Ready.HTTP)
			return nil, f.err
		}
		roles = append(roles, r)
	}
	return roles, checkRoles(roles)
}

// readRole reads a role that may have further keys, for which it gives the reader. within is
// the default of ready.within.
func readRole(p workload.Pair, within time.Duration, further ...string) (Role, *fields, error) {
	r := Role{Name: p.Key, Place: workload.NothingOwn}
	path := []string{p.Key}
	if !roleName.MatchString(p.Key) || p.Key == anyRole {
		return r, nil, workload.Wrong(path, "a role is named by letters, digits and _, and not %q", anyRole)
	}
	f := mapping(p.Value, path, append([]string{"node", "command", "env", "place", "after", "ready"}, further...)...)
	if f.err != nil {
		return r, f, f.err
	}
	if f.get("command") == nil {
		f.fail(nil, "it has no command")
	}
	r.Command, r.Env, r.After = f.command("command"), f.pairs("env", true), f.words("after")
	if text := f.text("node"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > mostNodes {
			f.fail([]string{"node"}, "%q is no number of a node from 0", text)
		}
		r.Node = n
	}
	for _, v := range r.Env {
		if !variableName.MatchString(v.Name) {
			f.fail([]string{"env", v.Name}, "no variable has such a name")
		}
	}
	if f.err == nil {
		r.Place, f.err = readPlace(f.get("place"), append(slices.Clone(path), "place"))
	}
	r.Ends = EndsByItself
	switch text := f.text("ends"); {
	case text == "" || text == string(EndsByItself):
	case text == string(EndsWhenTold):
		r.Ends = EndsWhenTold
	case strings.HasPrefix(text, "with "):
		r.Ends, r.With = EndsWith, strings.TrimSpace(strings.TrimPrefix(text, "with "))
	default:
		f.fail([]string{"ends"}, "%q is neither by itself, nor with ROLE, nor when told", text)
	}
	if f.err == nil {
		r.Ready, f.err = readReady(f.get("ready"), append(path, "ready"), within)
	}
	return r, f, f.err
}

func readReady(s *workload.Structured, path []string, within time.Duration) (Ready, error) {
	r := Ready{Within: within}
	if s == nil {
		return r, nil
	}
	f := mapping(s, path, "listens", "http", "contains", "log", "file", "etcd", "command", "within")
	if f.err != nil {
		return r, f.err
	}
	r = Ready{
		Listens: f.late("listens"), HTTP: f.late("http"), Contains: f.late("contains"), Log: f.expression("log"),
		File: f.late("file"),
		Etcd: f.late("etcd"), Command: f.command("command"), Within: f.duration("within", within),
	}
	switch {
	case r.Contains != "" && r.HTTP == "":
		f.fail([]string{"contains"}, "it is a part of the answer of http, which is not given")
	case r.Empty():
		f.fail(nil, "it has none of listens, http, log, file, etcd and command")
	}
	return r, f.err
}

// Empty says whether a role is ready when it has started.
func (r *Ready) Empty() bool {
	return r.Listens == "" && r.HTTP == "" && r.Log == "" && r.File == "" && r.Etcd == "" && len(r.Command) == 0
}

// checkRoles holds what no role can say alone.
func checkRoles(roles []Role) error {
	index := map[string]int{}
	var names []string
	for i, r := range roles {
		index[r.Name] = i
		names = append(names, r.Name)
	}
	known := strings.Join(names, ", ")
	for _, r := range roles {
		for _, other := range r.After {
			if _, ok := index[other]; !ok {
				return workload.Wrong([]string{r.Name, "after"}, "there is no role %q; there are %s", other, known)
			}
		}
		if _, ok := index[r.With]; r.Ends == EndsWith && !ok {
			return workload.Wrong([]string{r.Name, "ends"}, "there is no role %q; there are %s", r.With, known)
		}
		for _, name := range r.names() {
			if other, isRole := Address(name); isRole && !slices.Contains(names, other) {
				return workload.Wrong([]string{r.Name}, "%s: there is no role %q; there are %s", placeholder.Of(name),
					other, known)
			}
		}
	}
	for _, r := range roles {
		if loop := cycle(r.Name, func(name string) []string { return roles[index[name]].After }); loop != nil {
			return workload.Wrong([]string{r.Name, "after"}, "the roles wait for each other: %s",
				strings.Join(loop, " after "))
		}
		with := func(name string) []string {
			if other := roles[index[name]]; other.Ends == EndsWith {
				return []string{other.With}
			}
			return nil
		}
		if loop := cycle(r.Name, with); loop != nil {
			return workload.Wrong([]string{r.Name, "ends"}, "nobody ends these roles: %s", strings.Join(loop, " with "))
		}
	}
	if !slices.ContainsFunc(roles, func(r Role) bool { return r.Ends == EndsByItself }) {
		return fmt.Errorf("nobody ends these roles, since none ends by itself: %s", known)
	}
	return nil
}

// cycle is a way from a name back to it; nil: there is none.
func cycle(from string, next func(string) []string) []string {
	seen := map[string]bool{}
	var walk func(at string, path []string) []string
	walk = func(at string, path []string) []string {
		for _, n := range next(at) {
			if n == from {
				return append(path, n)
			}
			if !seen[n] {
				seen[n] = true
				if found := walk(n, append(slices.Clone(path), n)); found != nil {
					return found
				}
			}
		}
		return nil
	}
	return walk(from, []string{from})
}
