package run

import (
	"os"

	"weir/cmd/weir/exit"
)

// DisturbedVariable says what becomes of disturbed launches where --disturbed does not.
const DisturbedVariable = "WEIR_DISTURBED"

// What becomes of launches that did not have their processors.
const (
	voidDisturbed = "void"
	// KeepDisturbed is for hosts that are never quiet, where a verdict on noisy launches is wanted.
	KeepDisturbed = "keep"
)

// voids says whether disturbed launches do not count.
func (f *flags) voids() (bool, error) {
	from, value := "--disturbed", f.disturbed
	if value == "" {
		from, value = DisturbedVariable, os.Getenv(DisturbedVariable)
	}
	switch value {
	case "", voidDisturbed:
		return true, nil
	case KeepDisturbed:
		return false, nil
	}
	return false, exit.Usage("%s: %q is neither %s nor %s", from, value, voidDisturbed, KeepDisturbed)
}
