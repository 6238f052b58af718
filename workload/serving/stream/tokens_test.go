package stream

import (
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	for answer, want := range map[string]int{
		`{"count":7}`: 7, `{"tokens":[1,2,3]}`: 3, `{"tokens":["a","b"]}`: 2, `{"count":5,"tokens":[1]}`: 5,
		`{"count":null,"tokens":[]}`: 0, `{"count":3.0,"max_model_len":9}`: 3,
		`{}`: -1, `{"count":-1}`: -1, `{"count":1.5}`: -1, `{"count":"7"}`: 7, `{"count":"x"}`: -1,
		`[1]`: -1, ``: -1, `{"tokens":[1`: -1,
		`{"tokens":["` + strings.Repeat("x", 3<<20) + `"]}`: -1, `{"count":1e99}`: -1,
		`{"tokens":[` + strings.Repeat("1,", MaxBytes/2) + `1]}`: -1,
	} {
		if n, err := Tokens(strings.NewReader(answer)); (err != nil) != (want < 0) || err == nil && n != want {
			t.Errorf("%.60s: %d, %v", answer, n, err)
		}
	}
}
