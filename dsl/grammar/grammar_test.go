package grammar

import "testing"

func TestNotesHaveDefaultsAndRanges(t *testing.T) {
	for want, k := range map[string]Key{
		"":                           key("k", "", scalar(String)),
		" (required)":                key("k", "", scalar(String)).required(),
		" (default: 1; 1 to 100000)": key("k", "", scalar(Count)).or("1").within(1, 100_000),
		" (50% to below 100%)":       key("k", "", scalar(Percent)).within(0.5, 1),
	} {
		if got := k.Note(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
