package structure

import (
	"strings"
	"testing"
)

func TestValuesAreWrittenAsTheyWereRead(t *testing.T) {
	for _, text := range []string{`""`, `[]`, `{}`, `{"b":{"x":["1",{}]},"a":"é\n<&>"}`} {
		s, err := Read(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := s.JSON(); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
	deep := strings.Repeat("[", mostNested+1) + strings.Repeat("]", mostNested+1)
	for _, text := range []string{``, `1`, `{"a":null}`, `{"a":"b"`, `"a" "b"`, `{"a":true}`, deep} {
		if s, err := Read(text); err == nil {
			t.Errorf("%s was read as %+v", text, s)
		}
	}
}
