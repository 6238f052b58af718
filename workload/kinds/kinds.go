// Package kinds links all workloads into a program, and lets their launches use services.
package kinds

import (
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/command"
	_ "github.com/weir-bench/weir/workload/ep"
	_ "github.com/weir-bench/weir/workload/epcontrol"
	_ "github.com/weir-bench/weir/workload/epelastic"
	_ "github.com/weir-bench/weir/workload/sequence"
	_ "github.com/weir-bench/weir/workload/serving"
	_ "github.com/weir-bench/weir/workload/traffic"
	_ "github.com/weir-bench/weir/workload/transfer"
)

func init() {
	for _, k := range workload.Kinds() {
		command.Serve(k)
	}
}
