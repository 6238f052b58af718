// Package command is a workload with ranks that are external programs, as ucx_perftest or a script: their start and
// end, and the metrics in their output. Package engine/command runs them.
package command

import (
	_ "embed"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/structure"
	"github.com/weir-bench/weir/workload"
)

//go:embed docs.md
var docs string

// Runner is the name of the runner of its ranks.
const Runner = "command"

// elapsed is the metric of every run, whatever its programs print.
const elapsed = "elapsed"

// Names with values that are known only when a launch runs.
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
	// serviceLate are the names for services, which outlive launches.
	serviceLate = append([]string{portPrefix + "*", SessionScratch, LaunchScratch, EtcdURL}, ofServices...)
)

// Kind is workload command.
var Kind = &workload.Kind{
	Name: "command",
	Doc:  "external programs, each a rank; metrics are read from their output",
	Options: []option.Option{
		{Name: "roles", Type: option.Structure, Required: true, Process: true, Late: late, Read: canonicalRoles},
		{
			Name: "parse", Type: option.Structure, Default: nothingParsed, Process: true, Late: late,
			Read: canonicalParse,
		},
		ServicesOption,
		{Name: "row", Type: option.String, Default: ""},
		{Name: "etcd", Type: option.Bool, Default: false, Process: true},
	},
	Metrics:         []workload.Metric{{Name: elapsed, Unit: "s", Better: workload.Lower}},
	DeclaresMetrics: true,
	Checked:         []string{"roles", "parse", "services", "row", "etcd"},
}

func init() {
	Kind.Document(docs)
	Kind.Measures = measures
	Kind.Behaviour = behaviour{}
	workload.Register(Kind)
}

// behaviour implements workload.Behaviour.
type behaviour struct{}

// Spec decodes and checks the options of a case.
func (behaviour) Spec(v option.Values) (workload.Spec, error) { return decode(v) }

// Row returns the option that distinguishes the rows of one output.
func (behaviour) Row() string { return "row" }

// CountedBy returns the option with a role for each rank.
func (behaviour) CountedBy() []string { return []string{"roles"} }

// CountRanks returns the number of roles.
func (behaviour) CountRanks(value func(string) any) int {
	roles, _ := value("roles").(string)
	s, err := structure.Read(roles)
	if err != nil {
		return 0 // the loader reports the error
	}
	return len(s.Pairs)
}
