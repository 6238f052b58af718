package lab

import (
	"os"
	"strings"

	"github.com/weir-bench/weir/executor/host/environ"
)

// UnsetTuningVariables removes the variables that weir run would carry from this process's
// shell to every node. Tests that compare records or meet agents without commands call it
// first: their results must not depend on the shell that runs them.
func UnsetTuningVariables() {
	for _, assignment := range os.Environ() {
		if name, _, _ := strings.Cut(assignment, "="); environ.Tuning(name) {
			os.Unsetenv(name)
		}
	}
}
