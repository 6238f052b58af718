package workload

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestStructuresAreWrittenAsTheyWereRead(t *testing.T) {
	for _, text := range []string{`""`, `[]`, `{}`, `{"b":{"x":["1",{}]},"a":"é\n"}`} {
		s, err := ReadStructure(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if b, err := json.Marshal(s); err != nil || string(b) != text {
			t.Errorf("%s became %s, %v", text, b, err)
		}
	}
	deep := strings.Repeat("[", mostNested+1) + strings.Repeat("]", mostNested+1)
	for _, text := range []string{``, `1`, `{"a":null}`, `{"a":"b"`, `"a" "b"`, `{"a":true}`, deep} {
		if s, err := ReadStructure(text); err == nil {
			t.Errorf("%s was read as %+v", text, s)
		}
	}
}
