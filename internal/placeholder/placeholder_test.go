package placeholder

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	values := map[string]string{"port.a": "4711", "role.server.address": "10.0.0.1", "dollar": "$$ ${port.a}"}
	lookup := func(name string) (string, error) {
		if v, ok := values[name]; ok {
			return v, nil
		}
		return "", errors.New("there is no such name")
	}
	for text, want := range map[string]string{
		"":           "",
		"plain } {":  "plain } {",
		Of("port.a"): "4711",
		"http://${role.server.address}:${port.a}/": "http://10.0.0.1:4711/",
		Quote("$HOME $${x} $"):                     "$HOME $${x} $",
		Quote("$") + Of("port.a"):                  "$4711",
		"a ${dollar}":                              "a $$ ${port.a}", // a value is not expanded again
	} {
		if got, err := Expand(text, lookup); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"$": "must be doubled", "a$b": "must be doubled", "${": "must be doubled", "${}": "must be doubled",
		"$$$": "must be doubled", "${port.b}": "${port.b}: there is no such name",
	} {
		if _, err := Expand(text, lookup); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if got, err := Names("${b} $$ ${a}${b}"); err != nil || !slices.Equal(got, []string{"b", "a", "b"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// Quote of any text is a text without names, also beside a name.
func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"", "$", "$$", "${x}", "$${", "}", "é$\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := Unquote(Quote(text)); !ok || got != text {
			t.Errorf("%q became %q", text, got)
		}
		got, err := Expand(Quote(text)+Of("n")+Quote(text), func(string) (string, error) { return "|", nil })
		if err != nil || got != text+"|"+text {
			t.Errorf("%q, %v", got, err)
		}
		if _, ok := Unquote(text); ok && strings.Contains(strings.ReplaceAll(text, "$$", ""), "$") {
			t.Errorf("%q was taken for a text without names", text)
		}
	})
}
