package reporters

import "testing"

func TestShortTime(t *testing.T) {
	for text, want := range map[string]string{
		"1416699809ns": "1.4s", "361776087ns": "360ms", "9999999999ns": "10s", "500ns": "500ns", "5ms": "5ms", "": "",
		"1m30s": "1m30s",
	} {
		if got := shortTime(text); got != want {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
}
