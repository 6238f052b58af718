package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const secret = `tok-S3CR/T+"abc\def&%41ghijkl`

// left is the part of a secret of eight characters that is found in a text.
func left(text string) string {
	for i := range len(secret) - 7 {
		if part := secret[i : i+8]; strings.Contains(text, part) {
			return part
		}
	}
	return ""
}

// forms are the forms in which servers and programs echo the secret.
func forms() map[string]string {
	inJSON, _ := json.Marshal(secret)
	twice, _ := json.Marshal(string(inJSON))
	var unicodes, hexes strings.Builder
	for _, c := range []byte(secret) {
		fmt.Fprintf(&unicodes, `\u%04X`, c)
		fmt.Fprintf(&hexes, `%%%02x`, c)
	}
	return map[string]string{
		"as it is": secret, "JSON": string(inJSON), "JSON in JSON": string(twice),
		"slashes": strings.ReplaceAll(strings.Trim(string(inJSON), `"`), "/", `\/`),
		"\\u":     unicodes.String(), "URL": url.QueryEscape(secret), "path of a URL": url.PathEscape(secret),
		"all of a URL": hexes.String(), "Go": strconv.Quote(secret), "HTML": html.EscapeString(secret),
		"shell": strings.NewReplacer(`"`, `\"`, `\`, `\\`, "&", `\&`).Replace(secret),
	}
}

// Nothing is left of any form of a secret, in any context.
func TestFormsOfASecretAreFound(t *testing.T) {
	v := Of("Bearer "+secret, "other-secret")
	for name, form := range forms() {
		for _, text := range []string{form, "Bearer " + form, `{"error":"` + form + `"}`, "x" + form + "y" + form} {
			got := v.Text(text)
			if left(got) != "" || !strings.Contains(got, Redacted) || strings.Contains(got, form) {
				t.Errorf("%s: %q becomes %q", name, text, got)
			}
		}
	}
	const kept = `nothing of it: tok-S3, "tok" \u0041 100% %4 &am`
	if got := v.Text(kept); got != kept {
		t.Errorf("%q becomes %q", kept, got)
	}
}

// Characters that others remove do not hide a secret, at any place, in one piece or in many.
func TestNoiseInASecretHidesNothing(t *testing.T) {
	v := Of(secret)
	for _, noise := range []string{
		"\x00", "\x01\x02", "\n", "\r\n    ", "\n\t", "\x1b[31m", "\x1b[0;1m\x1b[K", "\x1b]0;t\x07", "\u200b", "\ufeff",
		"\u009b", "\u2028", "\xff", "\uFFFD", "\u202e", `\u0001`, `\n`,
	} {
		for i := 1; i < len(secret); i++ {
			text := "before " + secret[:i] + noise + secret[i:] + " after\n"
			if secret[i-1] == '%' || secret[i] == '4' || secret[i-1] == '\\' || secret[i] == '1' ||
				secret[i] == '\\' && noise == `\n` {
				continue // then it is another text
			}
			got := v.Text(text)
			if left(strings.ReplaceAll(got, noise, "")) != "" || !strings.HasPrefix(got, "before ***") {
				t.Errorf("%q becomes %q", text, got)
			}
			var b bytes.Buffer
			w := v.Writer(&b)
			for _, c := range []byte(text) {
				if _, err := w.Write([]byte{c}); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if left(strings.ReplaceAll(b.String(), noise, "")) != "" || !strings.HasSuffix(b.String(), "*** after\n") {
				t.Errorf("in pieces %q becomes %q", text, &b)
			}
		}
	}
}

// An escape that is truncated after its backslash may be the first character of a value.
func TestEscapeOfTheFirstCharacterInPieces(t *testing.T) {
	v := Of("ddcc")
	var b strings.Builder
	w := v.Writer(&b)
	for _, piece := range []string{`\`, "d", "d", "cc"} {
		if _, err := w.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := v.Text(`\ddcc`); b.String() != want {
		t.Errorf("%q in pieces, %q as a whole", b.String(), want)
	}
}

// For all sizes of pieces, no value is left, and everything else is.
func TestPiecesMakeNoDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := Of("abcdef", "abcd", "ddcc", `c\b%41`)
		text := rapid.StringOfN(rapid.SampledFrom([]rune(`abcdef\%41"`)), 0, 60, -1).Draw(t, "text")
		var b strings.Builder
		w := v.Writer(&b)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if b.String() != v.Text(text) {
			t.Fatalf("%q becomes %q in pieces and %q as a whole", text, b.String(), v.Text(text))
		}
		for _, value := range v {
			if strings.Contains(b.String(), value) {
				t.Fatalf("%q is left in %q", value, b.String())
			}
		}
	})
}

// A complete line is passed on at once, since readiness depends on it.
func TestLinesAreNotHeldBack(t *testing.T) {
	v := Of("d3adbeef", "ready-or-not", "line one\nline two\n")
	for _, line := range []string{"started\n", "ready\n", "rea\n", "\n", "l\n", `"d` + "\n"} {
		var b bytes.Buffer
		w := v.Writer(&b)
		if _, err := w.Write([]byte(line)); err != nil || b.String() != line && line != "ready\n" {
			t.Errorf("of %q %q is passed on, %v", line, &b, err)
		}
	}
}

// The truncated beginning of a value is a part of it.
func TestBeginningsOfCutTexts(t *testing.T) {
	v := Of(secret)
	for cut := 1; cut <= len(secret); cut++ {
		got := v.Beginning("it says " + secret[:cut])
		want := "it says ***"
		if cut < Least {
			want = "it says " + secret[:cut]
		}
		if got != want {
			t.Errorf("cut after %d: %q", cut, got)
		}
	}
	if got := v.Beginning("tok-S3CR and more"); got != "tok-S3CR and more" {
		t.Errorf("%q", got)
	}
}

func TestRedaction(t *testing.T) {
	h := Values{"token-long", "token"}
	for text, want := range map[string]string{
		"":                         "",
		"nothing":                  "nothing",
		"token":                    "***",
		"a token, a token-long b":  "a ***, a *** b",
		"tok":                      "tok",
		"tokentoken":               "******",
		"toke\ntoken-lon":          "toke\n***-lon",
		"{\"password\":\"token\"}": "{\"password\":\"***\"}",
	} {
		if got := h.Text(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if got := Values(nil).Text("token"); got != "token" {
		t.Errorf("without secrets, token becomes %q", got)
	}
}

func TestValues(t *testing.T) {
	got := Of("token", "token-long", "first line\r\nsecond line\nabc\n", "Bearer key-of-eight", "abc")
	for _, want := range []string{"second line", "first line", "token", "token-long", "key-of-eight"} {
		if !strings.Contains(strings.Join(got, "|"), want) {
			t.Errorf("%q is not hidden", want)
		}
	}
	if text := got.Text("a token, a token-long, token-lon abc"); text != "a ***, a ***, ***-lon abc" {
		t.Errorf("%q", text)
	}
	if text := Values(nil).Text("token"); text != "token" {
		t.Errorf("without secrets, token becomes %q", text)
	}
	clean := got.JSON(json.RawMessage(`{"to\u006ben": ["a token", 1.50, null, {"x": "second\u0001 line"}]}`))
	if string(clean) != `{"***":["a ***",1.50,null,{"x":"***"}]}` {
		t.Errorf("%s", clean)
	}
}

func FuzzText(f *testing.F) {
	for _, form := range forms() {
		f.Add(form)
	}
	v := Of(secret, "a\nlonger value")
	f.Fuzz(func(t *testing.T, text string) {
		if got := v.Text(text); strings.Contains(got, secret) {
			t.Errorf("%q becomes %q", text, got)
		}
		v.Beginning(text)
	})
}
