package access

import (
	"fmt"
	"io"
	"os"
	"strings"

	"weir/cmd/weir/exit"
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

// maxToken is how long a file with a join token may be, in bytes.
const maxToken = 64 << 10

// ReadToken is the join token in a file, or in stdin if it is "-"; without a file it is the one
// that was given in the environment.
func ReadToken(file, given string, stdin io.Reader) (string, error) {
	var text []byte
	var err error
	switch file {
	case "":
		return strings.TrimSpace(given), nil
	case "-":
		text, err = io.ReadAll(io.LimitReader(stdin, maxToken))
	default:
		text, err = os.ReadFile(file)
		if err != nil && strings.HasPrefix(file, "weir-join-") {
			return "", exit.Usage("--join takes a file: a token on the command line would show in the list of processes")
		}
	}
	if err != nil {
		return "", exit.Usage("--join: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}
