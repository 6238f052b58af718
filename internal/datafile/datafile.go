// Package datafile reads tables in YAML that are embedded in the program.
package datafile

import (
	"bytes"
	"errors"
	"io"

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

// Values reads all documents of a text whose form is not known: mappings, lists, texts and numbers.
func Values(text []byte) (all []any, err error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var one any
		switch err := d.Decode(&one); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, one)
	}
}
