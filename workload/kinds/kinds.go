// Package kinds links all workloads into a program: each is a line here and a folder.
package kinds

import (
	_ "weir/workload/command"
	_ "weir/workload/ep"
	_ "weir/workload/epcontrol"
	_ "weir/workload/sequence"
	_ "weir/workload/serving"
	_ "weir/workload/traffic"
	_ "weir/workload/transfer"
)
