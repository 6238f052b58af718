package serving

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/weir-bench/weir/internal/placeholder"
	"github.com/weir-bench/weir/internal/structure"
)

// Header is a header of requests; its value may have placeholders.
type Header struct{ Name, Value string }

// ownHeaders are set by the client itself.
var ownHeaders = []string{"Content-Type", "Content-Length", "Accept", "Transfer-Encoding", "Connection"}

// OwnHeader reports whether the client sets a header itself.
func OwnHeader(name string) bool { return slices.Contains(ownHeaders, http.CanonicalHeaderKey(name)) }

func readHeaders(text string) (all []Header, err error) {
	v, err := structure.Read(text)
	if err != nil {
		return nil, err
	}
	given, err := texts.DecodePairs(v)
	if err != nil {
		return nil, err
	}
	for _, h := range given {
		plain, err := placeholder.Expand(h.Value, func(string) (string, error) { return "x", nil })
		switch {
		case err != nil:
			return nil, structure.Wrong([]string{h.Name}, "%w", err)
		case !httpguts.ValidHeaderFieldName(h.Name) || !httpguts.ValidHeaderFieldValue(plain):
			return nil, structure.Wrong([]string{h.Name}, "a header has a name of letters, digits and -, and a value in one line")
		case OwnHeader(h.Name):
			return nil, structure.Wrong([]string{h.Name}, "the client sets this header itself")
		}
		all = append(all, Header{http.CanonicalHeaderKey(h.Name), h.Value})
	}
	slices.SortFunc(all, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(all); i++ {
		if all[i].Name == all[i-1].Name {
			return nil, structure.Wrong([]string{all[i].Name}, "it is given twice")
		}
	}
	return all, nil
}

func canonicalHeaders(text string) (string, error) {
	all, err := readHeaders(text)
	named := make([]structure.Named, len(all))
	for i, h := range all {
		named[i] = structure.Named(h)
	}
	return texts.Pairs(named).JSON(), err
}

// readBody reads further fields of requests, with types.
func readBody(text string) (map[string]json.RawMessage, error) {
	s, err := structure.Read(text)
	if err != nil {
		return nil, err
	}
	if s.Pairs == nil {
		return nil, fmt.Errorf("it is %s, not a mapping of fields", s.What())
	}
	all := map[string]json.RawMessage{}
	for _, p := range s.Pairs {
		all[p.Key] = jsonOf(p.Value)
	}
	return all, nil
}

// choices returns how many choices requests with these further fields ask for.
func choices(body string) int {
	fields, _ := readBody(body) // validated as an option
	var n float64
	if json.Unmarshal(fields["n"], &n) != nil || n < 1 {
		return 1
	}
	return int(min(n, math.MaxInt32))
}

// several reports whether requests ask for more than one choice.
func several(body string) bool { return choices(body) > 1 }

func jsonOf(s *structure.Value) json.RawMessage {
	switch {
	case s.IsText():
		if structure.IsLiteral(s.Text) {
			return json.RawMessage(s.Text)
		}
		return json.RawMessage(s.JSON())
	case s.Items != nil:
		list := []json.RawMessage{}
		for _, item := range s.Items {
			list = append(list, jsonOf(item))
		}
		out, _ := json.Marshal(list) // JSON values always encode
		return out
	}
	all := map[string]json.RawMessage{}
	for _, p := range s.Pairs {
		all[p.Key] = jsonOf(p.Value)
	}
	out, _ := json.Marshal(all)
	return out
}

func canonicalBody(text string) (string, error) {
	s, err := structure.Read(text)
	if err == nil {
		_, err = readBody(text)
	}
	if err != nil {
		return "", err
	}
	slices.SortFunc(s.Pairs, func(a, b structure.Pair) int { return strings.Compare(a.Key, b.Key) })
	return s.JSON(), nil
}
