package jsonschema_test

import (
	"testing"

	"weir/test/phase"
)

func TestMain(m *testing.M) { phase.Serial(m) }
