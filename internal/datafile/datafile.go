// Package datafile reads tables in YAML that are embedded in the program.
package datafile

import (
	"bytes"

	"gopkg.in/yaml.v3"
)

// Node is a value before decoding, for types that decode themselves.
type Node = yaml.Node

// The kinds of a Node.
const (
	Scalar   = yaml.ScalarNode
	Sequence = yaml.SequenceNode
)

// Decode reads a document into a struct. Unknown keys are errors.
func Decode(text []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	return d.Decode(into)
}
