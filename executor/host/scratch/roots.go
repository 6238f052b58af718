package scratch

import (
	"os"
	"slices"
)

// Roots are the candidates for the parent of temporary directories, in order of preference.
func Roots() []string {
	roots := []string{os.TempDir(), "/tmp", os.Getenv("XDG_RUNTIME_DIR"), sharedMemory, "/var/tmp"}
	return slices.DeleteFunc(roots, func(root string) bool { return root == "" })
}
