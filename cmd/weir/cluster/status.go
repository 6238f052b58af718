package cluster

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/access"
	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/executor/control/fleet"
	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/gate"
)

// status is the output of weir cluster status --format json.
type status struct {
	Schema   string   `json:"schema"`
	Sessions []member `json:"sessions"`
	Agents   []member `json:"agents"`
}

// member is a session or an agent.
type member struct {
	Name string `json:"name"`
	// About is nil if the session's coordinator is gone, or if another version wrote it.
	About    *registry.About `json:"about,omitempty"`
	Keys     int             `json:"keys,omitempty"`     // of a session
	Nodes    []string        `json:"nodes,omitempty"`    // that have joined a session
	Sessions []string        `json:"sessions,omitempty"` // that have claimed an agent's node
	Offers   *offers         `json:"offers,omitempty"`   // of an agent
}

// offers are the properties of an agent that scenarios can ask for.
type offers struct {
	CPUs     int               `json:"cpus"`
	GPUs     int               `json:"gpus"`
	Labels   map[string]string `json:"labels,omitempty"`
	Commands bool              `json:"commands"`
}

func (o *offers) cells() []string {
	if o == nil {
		return []string{"", "", "", ""}
	}
	var labels []string
	for _, name := range slices.Sorted(maps.Keys(o.Labels)) {
		labels = append(labels, name+"="+o.Labels[name])
	}
	return []string{
		strconv.Itoa(o.CPUs), strconv.Itoa(o.GPUs), strings.Join(labels, ","),
		map[bool]string{true: "yes", false: "no"}[o.Commands],
	}
}

func newStatus() *cobra.Command {
	var f access.Etcd
	format := "text"
	cmd := &cobra.Command{
		Use:   "status",
		Short: "list the sessions and registered agents of an etcd",
		Example: `  weir cluster status --etcd http://127.0.0.1:2379
  weir cluster status --etcd https://etcd:2379 --etcd-cacert ca.pem --format json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains([]string{"text", "json"}, format) {
				return exit.Usage("--format %s: there are text, json", format)
			}
			return f.Directory(cmd.Context(), func(d *registry.Directory) error {
				s, err := readStatus(cmd.Context(), d)
				if err != nil {
					return err
				}
				if format == "json" {
					return exit.With(gate.ExitExecution, screen.JSON(cmd.OutOrStdout(), s))
				}
				return exit.With(gate.ExitExecution, s.print(screen.Text(cmd.OutOrStdout())))
			})
		},
	}
	f.Add(cmd.Flags(), "`URLS` of the etcd")
	cmd.Flags().StringVar(&format, "format", format, "`FORMAT`: text or json")
	return cmd
}

func readStatus(ctx context.Context, d *registry.Directory) (*status, error) {
	s := &status{Schema: "weir.cluster/v1", Sessions: []member{}, Agents: []member{}}
	sessions, err := d.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	for _, i := range sessions {
		s.Sessions = append(s.Sessions, member{Name: i.ID, About: aboutOf(i.About), Keys: i.Keys, Nodes: i.Nodes})
	}
	agents, err := d.Agents(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range agents {
		m := member{Name: a.Node, About: aboutOf(a.About), Sessions: a.Sessions}
		if about, err := fleet.DecodeAbout(a.Node, a.About); err == nil { // else another version wrote it
			m.Offers = &offers{len(about.CPUs), about.GPUs, about.Labels, about.Commands}
		}
		s.Agents = append(s.Agents, m)
	}
	return s, nil
}

func aboutOf(text []byte) *registry.About {
	a, err := registry.ReadAbout(text)
	if err != nil { // empty, or written by another version
		return nil
	}
	return &a
}

func (s *status) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(cells ...string) {
		for i := range cells {
			cells[i] = printable(cells[i])
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	if len(s.Sessions) == 0 {
		row("no sessions")
	} else {
		row("session", "by", "scenario", "since (UTC)", "keys", "nodes")
	}
	for _, m := range s.Sessions {
		by, since, a := m.by()
		row(m.Name, by, a.Scenario, since, strconv.Itoa(m.Keys), strings.Join(m.Nodes, ","))
	}
	row()
	if len(s.Agents) == 0 {
		row("no registered agents")
	} else {
		row("agent", "by", "weir", "since (UTC)", "CPUs", "GPUs", "labels", "commands", "sessions")
	}
	for _, m := range s.Agents {
		by, since, a := m.by()
		row(slices.Concat([]string{m.Name, by, a.Weir, since}, m.Offers.cells(),
			[]string{strings.Join(m.Sessions, ",")})...)
	}
	return t.Flush()
}

// by is the user, host and process of a member, and its start time.
func (m member) by() (by, since string, a registry.About) {
	if m.About == nil {
		return "no coordinator", "", a
	}
	a = *m.About
	return fmt.Sprintf("%s@%s[%d]", a.User, a.Host, a.PID), a.Since.UTC().Format(time.DateTime), a
}
