// Package kinds links all workloads into a program: each is a line here and a folder. Launches of all of
// them can have services beside them.
package kinds

import (
	"weir/workload"
	"weir/workload/command"
	_ "weir/workload/ep"
	_ "weir/workload/epcontrol"
	_ "weir/workload/epelastic"
	_ "weir/workload/sequence"
	_ "weir/workload/serving"
	_ "weir/workload/traffic"
	_ "weir/workload/transfer"
)

func init() {
	for _, k := range workload.Kinds() {
		command.Serve(k)
	}
}
