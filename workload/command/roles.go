package command

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/placeholder"
	"github.com/weir-bench/weir/internal/structure"
	"github.com/weir-bench/weir/workload"
)

// Program is a program that weir starts. Its late texts may have placeholders.
type Program struct {
	Name    string            `key:"*"`
	Node    int               `key:"node,max=65536"` // index among the nodes of the session
	Command []string          `key:"command,late,program"`
	Env     []structure.Named `key:"env,late"`
	Place   workload.Own      `key:"place"` // resources of its node that are reserved for the program
	After   []string          `key:"after,single"`
	Ready   Ready             `key:"ready"`
}

// Role is a program that its launch waits for.
type Role struct {
	Program
	Ends Ends `key:"ends"`
}

// Ready are the conditions for a program to be ready, see readiness.Check.
type Ready struct {
	Listens  string        `key:"listens,late"`
	HTTP     string        `key:"http,late"`
	Contains string        `key:"contains,late"`
	Log      string        `key:"log,regexp"`
	File     string        `key:"file,late"`
	Etcd     string        `key:"etcd,late"`
	Command  []string      `key:"command,late,program"`
	Within   time.Duration `key:"within"`
}

// Ends says when a role's program ends: EndsByItself, EndsWhenTold, or endsWith and the name of a role.
type Ends string

// The values of Ends.
const (
	EndsByItself Ends = "by itself"
	EndsWhenTold Ends = "when told"
	endsWith          = "with "
)

// With returns the role with which a role ends; false: it ends otherwise.
func (e Ends) With() (role string, ok bool) { return strings.CutPrefix(string(e), endsWith) }

// ReadValue reads a value of Ends.
func (e *Ends) ReadValue(d *structure.Decoder, v *structure.Value) {
	*e = Ends(d.Text(v, false))
	if with, ok := e.With(); ok {
		*e = Ends(endsWith + strings.TrimSpace(with))
	} else if *e != EndsByItself && *e != EndsWhenTold {
		d.Fail("%q is neither by itself, nor with ROLE, nor when told", string(*e))
	}
}

const (
	readyWithin = 30 * time.Second
	maxRoles    = 64
)

var (
	roleName     = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
	variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// texts decodes texts of roles and services, which may contain names of a launch.
var texts = structure.Codec{Names: checkNames}

// role has the defaults of a role.
func role(string, *structure.Value) Role {
	return Role{programOf(readyWithin), EndsByItself}
}

func programOf(readyWithin time.Duration) Program {
	return Program{Place: workload.NothingOwn, Ready: Ready{Within: readyWithin}}
}

// canonicalRoles validates option roles and formats it without defaults.
func canonicalRoles(text string) (string, error) {
	roles, err := readRoles(text)
	if err != nil {
		return "", err
	}
	return structure.EncodeItems(texts, roles, func(Role) Role { return role("", nil) }).JSON(), nil
}

func readRoles(text string) ([]Role, error) {
	v, err := structure.Read(text)
	switch {
	case err != nil:
		return nil, err
	case len(v.Pairs) == 0:
		return nil, fmt.Errorf("it is a mapping from names of roles to their programs, as client: {command: [iperf3, -c, host]}")
	case len(v.Pairs) > maxRoles:
		return nil, fmt.Errorf("%d roles exceed the limit of %d", len(v.Pairs), maxRoles)
	}
	roles, err := structure.DecodeItems(texts, v, role)
	if err != nil {
		return nil, err
	}
	return roles, checkRoles(roles)
}

// Check validates a role.
func (r *Role) Check(d *structure.Decoder) {
	r.check(d)
	if strings.HasPrefix(r.Ready.HTTP, "/") {
		d.At("ready", "http").Fail("%q is a path, but a role has no url: write http://ADDRESS:PORT%s", r.Ready.HTTP,
			r.Ready.HTTP)
	}
}

// check validates a program of a node.
func (p *Program) check(d *structure.Decoder) {
	if p.checkName(d); p.Command == nil {
		d.Fail("it has no command")
	}
	for _, v := range p.Env {
		if !variableName().MatchString(v.Name) {
			d.At("env", v.Name).Fail("no variable has such a name")
		}
	}
}

func (p *Program) checkName(d *structure.Decoder) {
	if !roleName().MatchString(p.Name) || p.Name == anyRole {
		d.Fail("a role is named by letters, digits and _, and not %q", anyRole)
	}
}

// Check validates the combination of conditions.
func (r *Ready) Check(d *structure.Decoder) {
	switch {
	case r.Contains != "" && r.HTTP == "":
		d.At("contains").Fail("it is a part of the answer of http, which is not given")
	case r.Empty():
		d.Fail("it has none of listens, http, log, file, etcd and command")
	}
}

// Empty reports whether a program is ready when it has started.
func (r *Ready) Empty() bool {
	return r.Listens == "" && r.HTTP == "" && r.Log == "" && r.File == "" && r.Etcd == "" && len(r.Command) == 0
}

// checkRoles validates references between roles.
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
				return structure.Wrong([]string{r.Name, "after"}, "there is no role %q; there are %s", other, known)
			}
		}
		if with, ok := r.Ends.With(); ok && !slices.Contains(names, with) {
			return structure.Wrong([]string{r.Name, "ends"}, "there is no role %q; there are %s", with, known)
		}
		for _, name := range r.names() {
			if other, isRole := Address(name); isRole && !slices.Contains(names, other) {
				return structure.Wrong([]string{r.Name}, "%s: there is no role %q; there are %s", placeholder.Of(name),
					other, known)
			}
		}
	}
	for _, r := range roles {
		if loop := cycle(r.Name, func(name string) []string { return roles[index[name]].After }); loop != nil {
			return structure.Wrong([]string{r.Name, "after"}, "the roles wait for each other: %s",
				strings.Join(loop, " after "))
		}
		with := func(name string) []string {
			if other, ok := roles[index[name]].Ends.With(); ok {
				return []string{other}
			}
			return nil
		}
		if loop := cycle(r.Name, with); loop != nil {
			return structure.Wrong([]string{r.Name, "ends"}, "no role ends these roles: %s",
				strings.Join(loop, " with "))
		}
	}
	if !slices.ContainsFunc(roles, func(r Role) bool { return r.Ends == EndsByItself }) {
		return fmt.Errorf("these roles never end, since none ends by itself: %s", known)
	}
	return nil
}

// cycle returns a cycle through a name; nil: there is none.
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
