package run

import (
	"cmp"
	"os"

	"weir/cmd/weir/exit"
	"weir/executor"
)

// DisturbedVariable says what becomes of disturbed launches where --disturbed does not.
const DisturbedVariable = "WEIR_DISTURBED"

// KeepDisturbed is for hosts that are never quiet, where a verdict on noisy launches is wanted.
const KeepDisturbed = executor.KeepDisturbed

// voidDisturbed is what earlier versions called executor.RepeatDisturbed.
const voidDisturbed = "void"

// disturbedPolicy is what becomes of disturbed launches.
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
