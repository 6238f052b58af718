package access

import (
	"fmt"
	"os"
)

// passwordVariable has the password of etcd's user: a command line is everybody's to read.
const passwordVariable = "WEIR_ETCD_PASSWORD"

// TakeVariable takes a variable with a credential out of the environment: what weir starts
// has no use for it.
func TakeVariable(name string) (string, error) {
	value := os.Getenv(name)
	if err := os.Unsetenv(name); err != nil {
		return "", fmt.Errorf("taking %s out of the environment: %w", name, err)
	}
	return value, nil
}

// TokenVariable has a join token: a command line is everybody's to read.
const TokenVariable = "WEIR_JOIN_TOKEN"
