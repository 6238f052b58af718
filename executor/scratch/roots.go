package scratch

import (
	"os"
	"slices"
)

// Roots are where temporary directories may be, the first first.
func Roots() []string {
	roots := []string{os.TempDir(), "/tmp", os.Getenv("XDG_RUNTIME_DIR"), sharedMemory, "/var/tmp"}
	return slices.DeleteFunc(roots, func(root string) bool { return root == "" })
}
