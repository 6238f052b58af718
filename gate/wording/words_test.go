package wording

import (
	"regexp"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// Every kind stands once in the table, with a sentence each for its meaning and its remedy, and has words.
func TestEachKindHasAMeaningAndWords(t *testing.T) {
	sentence := regexp.MustCompile(`^[A-Z][^.]*\.$`)
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[results.ReasonKind]bool{}
	for _, k := range results.ReasonKinds {
		if seen[k.Kind] || !name.MatchString(string(k.Kind)) || !sentence.MatchString(k.Meaning) ||
			k.Remedy != "" && !strings.HasSuffix(k.Remedy, ".") {
			t.Errorf("%+v", k)
		}
		seen[k.Kind] = true
		if (words[k.Kind] == "") == (sentences[k.Kind] == nil) {
			t.Errorf("%s: a template, and a function: %v", k.Kind, sentences[k.Kind] != nil)
		}
	}
	for kind := range words {
		if !seen[kind] {
			t.Errorf("%s is not in the table", kind)
		}
	}
	for kind := range sentences {
		if !seen[kind] {
			t.Errorf("%s is not in the table", kind)
		}
	}
}
