package command

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/placeholder"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Spec are the options of a case. Rank i is role i.
type Spec struct {
	Roles []Role `json:"roles"`
	Parse Parse  `json:"parse"`
	Row   string `json:"row,omitempty"` // value of the key Parse.Rows of this case
	// Serves says that the only role is a service; nil: the roles are those of a launch.
	Serves *Serving `json:"serves,omitempty"`

	services Used
	etcd     bool
	values   []string // names of results of other runs
}

// Serving are the settings of a service beyond those of a role.
type Serving struct {
	URL  string `json:"url,omitempty"`
	Stop Stop   `json:"stop"`
	// Stamped: each line of its log begins with its time.
	Stamped bool `json:"stamped,omitempty"`
	// Proof is the path of a file that must exist after a launch; it may have placeholders.
	Proof string `json:"proof,omitempty"`
}

func decode(v option.Values) (*Spec, error) {
	get := Kind.Get(v)
	roles, _ := get("roles").(string)
	parse, _ := get("parse").(string)
	s := &Spec{}
	var err error
	if s.Roles, err = readRoles(roles); err != nil {
		return nil, err
	}
	if s.Parse, err = readParse(parse); err != nil {
		return nil, err
	}
	s.Row, _ = get("row").(string)
	if s.Row != "" && s.Parse.Rows == "" {
		return nil, fmt.Errorf("option row is the value of the axis that parse names in rows: name it there, and sweep it")
	}
	served, _ := get("services").(string)
	if s.services, err = Use(served); err != nil {
		return nil, err
	}
	services := s.services.all
	s.etcd, _ = get("etcd").(bool)
	var names []string
	for i := range s.Roles {
		r := &s.Roles[i]
		names = append(names, r.Name)
		if !s.etcd && (r.Ready.Etcd != "" || r.Mentions(EtcdURL)) {
			return nil, fmt.Errorf("role %s uses etcd, which needs etcd: true", r.Name)
		}
		s.values = append(s.values, option.NamesOfRuns(r.names())...)
		for _, name := range r.names() {
			other, what, isService := OfService(name)
			i := slices.IndexFunc(services, func(s Service) bool { return s.Name == other })
			switch {
			case !isService:
			case i < 0:
				return nil, fmt.Errorf("role %s uses service %s, which the run lacks: declare it in services beside runs, or name it in services of the run",
					r.Name, other)
			case what == "url" && !services[i].hasURL():
				return nil, fmt.Errorf("role %s uses %s, but the service has no url", r.Name, placeholder.Of(name))
			}
		}
	}
	if of := s.Parse.Of; of != "" && of != anyRole && !slices.Contains(names, of) {
		return nil, fmt.Errorf("parse.of: there is no role %q; there are %s", of, strings.Join(names, ", "))
	}
	files, _ := placeholder.Names(s.Parse.File)
	for _, name := range files {
		if other, isRole := Address(name); isRole && !slices.Contains(names, other) {
			return nil, fmt.Errorf("parse.file: there is no role %q; there are %s", other, strings.Join(names, ", "))
		}
		if _, isPort := Port(name); isPort &&
			!slices.ContainsFunc(s.Roles, func(r Role) bool { return r.Mentions(name) }) {
			return nil, fmt.Errorf("parse.file: no role has %s", placeholder.Of(name))
		}
	}
	return s, nil
}

// Demand is a process for each role, on its node.
func (s *Spec) Demand() workload.Demand {
	d := workload.Demand{
		Runner: Runner, Ranks: len(s.Roles), Threads: 1, NUMA: option.Default, Services: s.services.Demands,
		Etcd:   s.etcd,
		Values: option.NamesOfRuns(s.values),
	}
	for _, r := range s.Roles {
		d.On, d.Own = append(d.On, r.Node), append(d.Own, r.Place)
	}
	if !slices.ContainsFunc(d.Own, func(o workload.Own) bool { return o != workload.NothingOwn }) {
		d.Own = nil
	}
	return d
}

// Parsed reports whether the output of a role is read.
func (s *Spec) Parsed(rank int) bool {
	return s.Parse.Of == anyRole || s.Parse.Of == s.Roles[rank].Name
}

// Facts are the results of a rank besides its output.
type Facts struct {
	Seconds float64   `json:"seconds"`       // from the start of its program to its end
	Last    LastLines `json:"said,omitzero"` // of a rank with parsed output
}

func (behaviour) Reduce(m *workload.Measured, l *results.Launch) (map[string]float64, error) {
	s := m.Spec.(*Spec)
	longest := 0.
	var outputs []printed
	for i, p := range m.Parts {
		var f Facts
		if err := json.Unmarshal(p.Facts, &f); err != nil {
			return nil, fmt.Errorf("role %s: %w", s.Roles[i].Name, err)
		}
		if s.Roles[i].Ends == EndsByItself {
			longest = max(longest, f.Seconds)
		}
		if s.Parsed(i) {
			outputs = append(outputs, printed{s.Roles[i].Name, p.Samples, f.Last})
		}
	}
	values := map[string]float64{}
	if s.Parse.Of != "" {
		var err error
		if values, err = s.Parse.find(outputs, s.Row); err != nil {
			return nil, err
		}
	}
	if err := s.services.Observe(m.Observed, values); err != nil {
		return nil, err
	}
	values[elapsed] = longest
	l.Verified = true // programs verify their own transfers
	return values, nil
}

// Recompute parses the programs' output again.
func (behaviour) Recompute(options map[string]any, files [][]byte) (map[string]float64, error) {
	s, err := workload.Decoded(Kind, options, decode)
	if err != nil || s.Parse.Of == "" {
		return nil, err
	}
	var all []printed
	for _, output := range files {
		one := printed{role: s.Parse.Of, output: output}
		if s.Parse.File == "" {
			one.last = TakeLastLines(output, nil)
		}
		all = append(all, one)
	}
	return s.Parse.find(all, s.Row)
}
