package run

import (
	"cmp"
	"os"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/executor"
)

// DisturbedVariable is the default of --disturbed.
const DisturbedVariable = "WEIR_DISTURBED"

// KeepDisturbed is the policy for hosts that are never quiet.
const KeepDisturbed = executor.KeepDisturbed

// voidDisturbed is the former name of executor.RepeatDisturbed.
const voidDisturbed = "void"

// disturbedPolicy is the policy of --disturbed, its variable, or the default.
func (f *flags) disturbedPolicy() (string, error) {
	from, value := "--disturbed", f.disturbed
	if value == "" {
		from, value = DisturbedVariable, os.Getenv(DisturbedVariable)
	}
	switch value = cmp.Or(value, executor.RepeatDisturbed); value {
	case voidDisturbed:
		return executor.RepeatDisturbed, nil
	case executor.RepeatDisturbed, executor.KeepDisturbed, executor.FailDisturbed:
		return value, nil
	}
	return "", exit.Usage("%s: %q is neither %s, %s nor %s", from, value, executor.KeepDisturbed,
		executor.RepeatDisturbed, executor.FailDisturbed)
}
