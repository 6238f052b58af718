package yamlsyntax

import "testing"

func TestTextsWithMarksAreRefused(t *testing.T) {
	for _, text := range []string{"a #\uE080 b", "#\uE081"} {
		if out, err := Write(&Node{Kind: Mapping, Pairs: []Pair{{Key: "k", Value: &Node{Text: text}}}}); err == nil {
			t.Errorf("%q was written as %q", text, out)
		}
	}
	if out, err := Write(&Node{Kind: Mapping, Pairs: []Pair{{Key: "k", Value: &Node{Text: "a\uE080"}}}}); err != nil {
		t.Errorf("%q, %v", out, err)
	}
}
