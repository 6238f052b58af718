package expression

import (
	"testing"

	"weir/test/phase"
)

func TestMain(m *testing.M) { phase.Serial(m) }
