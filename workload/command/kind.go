// Package command is a workload whose ranks are programs that weir did not write, as
// ucx_perftest or a script: which there are, in which order they start and end, and how
// their output becomes metrics. Package engine/command executes them.
package command

import (
	_ "embed"

	"weir/workload"
)

//go:embed docs.md
var docs string

// Runner is the name of what executes the ranks.
const Runner = "command"

// elapsed is measured of each run, whatever its programs print.
const elapsed = "elapsed"

// Names whose values are known only when a launch runs.
const (
	LaunchID       = "launch.id"
	LaunchScratch  = "launch.scratch"
	SessionScratch = "session.scratch"
	EtcdURL        = "etcd.url"
	portPrefix     = "port."
	rolePrefix     = "role."
	addressSuffix  = ".address"
	servicePrefix  = "service."
)

var (
	ofServices = []string{
		servicePrefix + "*.url", servicePrefix + "*" + addressSuffix, servicePrefix + "*." + portPrefix + "*",
	}
	late = append([]string{portPrefix + "*", rolePrefix + "*" + addressSuffix, LaunchID, LaunchScratch,
		SessionScratch, EtcdURL}, ofServices...)
	// serviceLate are the names that services may have: they outlive launches.
	serviceLate = append([]string{portPrefix + "*", SessionScratch, LaunchScratch, EtcdURL}, ofServices...)
)

// Kind is workload command.
var Kind = &workload.Kind{
	Name: "command",
	Doc:  "programs that weir did not write, each a rank; their output becomes metrics",
	Options: []workload.Option{
		{Name: "roles", Type: workload.Structure, Required: true, Process: true, Late: late, Read: canonicalRoles},
		{
			Name: "parse", Type: workload.Structure, Default: nothingParsed, Process: true, Late: late,
			Read: canonicalParse,
		},
		ServicesOption,
		{Name: "row", Type: workload.String, Default: ""},
		{Name: "etcd", Type: workload.Bool, Default: false, Process: true},
	},
	Metrics:         []workload.Metric{{Name: elapsed, Unit: "s", Better: workload.Lower}},
	DeclaresMetrics: true,
	CountedBy:       []string{"roles"},
	Count: func(value func(string) any) int {
		roles, _ := value("roles").(string)
		s, err := workload.ReadStructure(roles)
		if err != nil {
			return 0 // which the loader reports
		}
		return len(s.Pairs)
	},
	Row:     "row",
	Checked: []string{"roles", "parse", "services", "row", "etcd"},
}

func init() {
	Kind.Document(docs)
	Kind.Check = func(v workload.Values) error {
		_, err := decode(v)
		return err
	}
	Kind.Measures, Kind.RowAxis, Kind.RowValues = measures, rowAxis, rowValues
	Kind.Behaviour = workload.Behaviour{
		Spec:   func(v workload.Values) (workload.Spec, error) { return decode(v) },
		Reduce: reduce, Recompute: recompute, Doubtful: doubtful,
	}
	workload.Register(Kind)
}
