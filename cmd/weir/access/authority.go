package access

import (
	"fmt"
	"os"
	"path/filepath"
)

// CoordinatorFiles are the files of a coordinator's certificate and key, with .pem and .key.
const CoordinatorFiles = "coordinator"

// ClusterDir is where the authority of this user's cluster is.
func ClusterDir() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("there is no place for a cluster's files by default, so give a directory: %w", err)
	}
	return filepath.Join(dir, "weir", "cluster"), nil
}
