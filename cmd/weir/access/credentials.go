package access

import (
	"fmt"
	"os"
)

// passwordVariable has the password of the etcd user: all users of a host can read a command line.
const passwordVariable = "WEIR_ETCD_PASSWORD"

// TakeVariable removes a credential from the environment and returns it: child processes must not inherit it.
func TakeVariable(name string) (string, error) {
	value := os.Getenv(name)
	if err := os.Unsetenv(name); err != nil {
		return "", fmt.Errorf("removing %s from the environment: %w", name, err)
	}
	return value, nil
}
