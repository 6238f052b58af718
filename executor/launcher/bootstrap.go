package launcher

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/weir-bench/weir/executor/control/link"
)

// Stdio as the only address of a coordinator means that the agent's stdin and stdout are the connection.
const Stdio = "stdio"

// Limits of a bootstrap document.
const (
	MaxBootstrap = 256 << 10 // bytes
	maxAddresses = 64
	maxAddress   = 4 << 10 // bytes
)

// Bootstrap is the configuration of a launched agent: the addresses of its coordinator, and a certificate of
// the session's authority. As it has a key, it is passed in a pipe or a file with mode 0600, never in
// arguments.
type Bootstrap struct {
	Session string `json:"session"`
	// Node is the agent's name; "" or link.AnyNode: from the agent's environment.
	Node     string        `json:"node,omitempty"`
	Identity link.Identity `json:"identity"`
	// Coordinator are the addresses of the coordinator, host:port, in the order of attempts; or Stdio alone.
	Coordinator []string `json:"coordinator"`
}

// Encode writes the document as one line of JSON.
func (b Bootstrap) Encode() ([]byte, error) {
	text, err := json.Marshal(b)
	if err == nil {
		err = b.check(len(text))
	}
	if err != nil {
		return nil, fmt.Errorf("writing a bootstrap document: %w", err)
	}
	return append(text, '\n'), nil
}

// DecodeBootstrap decodes the output of Encode. Unknown fields are errors, as the agent and its launcher are
// the same version. Errors contain no secrets.
func DecodeBootstrap(text []byte) (Bootstrap, error) {
	b, err := decodeBootstrap(text)
	if err == nil {
		err = b.check(len(text))
	}
	if err != nil {
		return Bootstrap{}, fmt.Errorf("reading a bootstrap document: %w", err)
	}
	return b, nil
}

func decodeBootstrap(text []byte) (b Bootstrap, err error) {
	if len(text) > MaxBootstrap {
		return b, nil // check reports it
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		return b, err
	}
	if _, err := d.Token(); err != io.EOF {
		return b, errors.New("there is text after the document")
	}
	return b, nil
}

func (b Bootstrap) check(size int) error {
	if size > MaxBootstrap {
		return fmt.Errorf("%d bytes: %d are allowed", size, MaxBootstrap)
	}
	if err := link.CheckName(b.Session); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	name := b.Node
	if name == "" {
		name = link.AnyNode
	}
	if name != link.AnyNode {
		if err := link.CheckName(name); err != nil {
			return fmt.Errorf("node: %w", err)
		}
	}
	if err := b.Identity.Check(link.Agent, name); err != nil {
		return err
	}
	return checkAddresses(b.Coordinator)
}

func checkAddresses(all []string) error {
	if len(all) == 0 || len(all) > maxAddresses {
		return fmt.Errorf("%d addresses of the coordinator: must be 1 to %d", len(all), maxAddresses)
	}
	for _, a := range all {
		if a == Stdio && len(all) == 1 {
			return nil
		}
		host, port, err := net.SplitHostPort(a)
		if err != nil || host == "" || port == "" || len(a) > maxAddress || strings.ContainsFunc(a, notPrinted) {
			return fmt.Errorf("address %.80q of the coordinator: must be host:port, or %q alone", a, Stdio)
		}
	}
	return nil
}

func notPrinted(r rune) bool { return r <= ' ' || r > '~' }
