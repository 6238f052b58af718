package serving

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"weir/placeholder"
	"weir/workload"
)

// Header is a header of requests; its value is a text of package placeholder.
type Header struct{ Name, Value string }

// ownHeaders are those that a client sets itself.
var ownHeaders = []string{"Content-Type", "Content-Length", "Accept", "Host", "Transfer-Encoding", "Connection"}

func readHeaders(text string) (all []Header, err error) {
	k, err := flat(text)
	if err != nil {
		return nil, err
	}
	for name, value := range k {
		plain, err := placeholder.Expand(value, func(string) (string, error) { return "x", nil })
		switch {
		case err != nil:
			return nil, workload.Wrong([]string{name}, "%w", err)
		case !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(plain):
			return nil, workload.Wrong([]string{name}, "a header has a name of letters, digits and -, and a value in one line")
		case slices.Contains(ownHeaders, http.CanonicalHeaderKey(name)):
			return nil, workload.Wrong([]string{name}, "the client sets this header itself")
		}
		all = append(all, Header{http.CanonicalHeaderKey(name), value})
	}
	slices.SortFunc(all, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(all); i++ {
		if all[i].Name == all[i-1].Name {
			return nil, workload.Wrong([]string{all[i].Name}, "it stands twice in them")
		}
	}
	return all, nil
}

func canonicalHeaders(text string) (string, error) {
	all, err := readHeaders(text)
	s := workload.Structured{Pairs: []workload.Pair{}}
	for _, h := range all {
		s.Pairs = append(s.Pairs, workload.Pair{Key: h.Name, Value: &workload.Structured{Text: h.Value}})
	}
	return s.JSON(), err
}

// readBody reads further fields of requests. Its structure has types.
func readBody(text string) (map[string]json.RawMessage, error) {
	s, err := workload.ReadStructure(text)
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

func jsonOf(s *workload.Structured) json.RawMessage {
	switch {
	case s.IsText():
		if workload.IsLiteral(s.Text) {
			return json.RawMessage(s.Text)
		}
		return json.RawMessage(s.JSON())
	case s.Items != nil:
		list := []json.RawMessage{}
		for _, item := range s.Items {
			list = append(list, jsonOf(item))
		}
		out, _ := json.Marshal(list) // of JSON it always succeeds
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
	s, err := workload.ReadStructure(text)
	if err == nil {
		_, err = readBody(text)
	}
	if err != nil {
		return "", err
	}
	slices.SortFunc(s.Pairs, func(a, b workload.Pair) int { return strings.Compare(a.Key, b.Key) })
	return s.JSON(), nil
}
