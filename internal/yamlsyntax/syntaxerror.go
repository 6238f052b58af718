package yamlsyntax

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"gopkg.in/yaml.v3"
)

var yamlPrefix = regexp.MustCompile(`^yaml: (line \d+: )?`)

// syntaxError places an error of yaml.v3, which often names only the line of the enclosing block.
// The last line of the shortest prefix that fails to parse is wrong far more often.
func syntaxError(s *source, masked []byte, err error) *hcl.Diagnostic {
	lines := newSource(masked, "").yamlLine
	parses, fails := 0, len(lines) // numbers of leading lines
	for fails-parses > 1 {
		middle := (parses + fails) / 2
		end := len(masked)
		if middle < len(lines) {
			end = lines[middle]
		}
		if e := parseAll(masked[:end]); e != nil {
			fails, err = middle, e
		} else {
			parses = middle
		}
	}
	from := s.yamlLine[min(fails, len(s.yamlLine))-1]
	to := s.lineEnd(from)
	line := s.src[from:to]
	indent := len(line) - len(bytes.TrimLeft(line, " \t"))
	problem := unmask(yamlPrefix.ReplaceAllString(err.Error(), ""))
	if begin, end, detail := part(problem, string(line)); detail != "" {
		return s.diag(s.span(from+begin, from+end), "Invalid YAML", detail)
	}
	rng := s.span(from+indent, from+len(bytes.TrimRight(line, " \t")))
	if rng.End.Byte < rng.Start.Byte {
		rng = s.span(from, from)
	}
	return s.diag(rng, "Invalid YAML", advice(problem, string(line)))
}

var (
	anchorName = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)
	behindEnd  = regexp.MustCompile(`["'}\]][ \t]+([^\s#,:}\]].*?)[ \t]*$`)
	openQuote  = regexp.MustCompile(`(?:^|[\s:,\[{])("[^"]*|'[^']*)$`)
	gluedKey   = regexp.MustCompile(`^[ \t]*([\w.-]+):[^\s:/]\S*[ \t]*$`)
)

// part is the part of a line that a problem is about, with what to say of it; "" for the whole line.
func part(problem, line string) (begin, end int, detail string) {
	line = strings.TrimRight(line, "\r")
	if m := anchorName.FindStringSubmatch(problem); m != nil {
		if at := strings.Index(line, "*"+m[1]); at >= 0 {
			return at, at + 1 + len(m[1]), "There is no anchor &" + m[1] + ". Quote a text that begins with *."
		}
	}
	if m := gluedKey.FindStringSubmatchIndex(line); m != nil && strings.Contains(problem, "expected ':'") {
		return m[2], m[3] + 1, "Write a space after the colon of a key."
	}
	key := strings.Contains(problem, "did not find expected key")
	if m := behindEnd.FindStringSubmatchIndex(line); m != nil && key {
		return m[2], m[3], "The value of the key has ended: remove what follows, or quote all of it."
	}
	if m := openQuote.FindStringSubmatchIndex(line); m != nil && strings.Contains(problem, "unexpected end of stream") {
		return m[2], m[3], "No quote closes this text."
	}
	return 0, 0, ""
}

func parseAll(src []byte) error {
	dec := yaml.NewDecoder(bytes.NewReader(src))
	for {
		var n yaml.Node
		if err := dec.Decode(&n); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// quotedTwice matches a text in double quotes with a template that has double quotes itself.
var quotedTwice = regexp.MustCompile(`"[^"']*\$\{[^}"]*"[^}]*"[^}]*\}`)

// advice adds hints for the most common mistakes.
func advice(problem, line string) string {
	text := strings.TrimLeft(line, " ")
	detail := strings.ToUpper(problem[:1]) + problem[1:] + "."
	switch {
	case strings.HasPrefix(text, "\t"):
		return detail + " The line is indented with a tab: use spaces in YAML."
	case strings.Contains(problem, "mapping values are not allowed"):
		return detail + " Write a space after the colon of a key, quote a text that contains `: `, and begin all keys of a mapping in the same column."
	case strings.Contains(problem, "cannot start any token"):
		return detail + " Quote a text that begins with @, ` or %."
	case strings.Contains(problem, "incompatible YAML document"):
		return detail + " Remove the line %YAML: scenarios do not depend on the version."
	case strings.Contains(problem, "unknown anchor"):
		return detail + " Quote a text that begins with *."
	case quotedTwice.MatchString(line):
		return detail + ` Inside of "…" the quotes of ${f("x")} end the text: use '…'.`
	case strings.Contains(line, "${"):
		return detail + " Quote a text with ${…} that spans several lines."
	case strings.Contains(problem, "did not find expected key"):
		return detail + " Begin all keys of a mapping in the same column."
	}
	return detail
}
