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

// A comment behind an anchor stays at its key.
func TestCommentsBehindAnchorsStayAtTheirKeys(t *testing.T) {
	const src = "scenario: s\nruns:\n  p: &r # run\n    stage: x # stage\n    setup: &l # list\n      - a\n      - b\n" +
		"  q: # other\n    stage: x\n"
	const want = "scenario: s\nruns:\n  # run\n  p: &r\n    stage: x  # stage\n    # list\n    setup: &l\n      - a\n" +
		"      - b\n  q:  # other\n    stage: x\n"
	out, err := Format([]byte(src), "s.yaml")
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
}
