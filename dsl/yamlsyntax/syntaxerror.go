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

// syntaxError places an error of yaml.v3. It often names the line where the
// enclosing block began; the shortest run of lines that fails to parse ends with
// the line that is wrong far more often.
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
	rng := s.span(from+indent, from+len(bytes.TrimRight(line, " \t")))
	if rng.End.Byte < rng.Start.Byte {
		rng = s.span(from, from)
	}
	return s.diag(rng, "Invalid YAML", advice(problem, string(line)))
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

// quotedTwice is a text in double quotes whose template has such quotes of its own.
var quotedTwice = regexp.MustCompile(`"[^"']*\$\{[^}"]*"[^}]*"[^}]*\}`)

// advice says what to do about the commonest mistakes.
func advice(problem, line string) string {
	text := strings.TrimLeft(line, " ")
	detail := strings.ToUpper(problem[:1]) + problem[1:] + "."
	switch {
	case strings.HasPrefix(text, "\t"):
		return detail + " The line is indented with a tab: YAML is indented with spaces."
	case strings.Contains(problem, "mapping values are not allowed"):
		return detail + " A text that contains `: ` stands in quotes, and every key of a mapping begins in the same column."
	case strings.Contains(problem, "cannot start any token"):
		return detail + " A text that begins with @, ` or % stands in quotes."
	case strings.Contains(problem, "incompatible YAML document"):
		return detail + " Remove the line %YAML: nothing in a scenario depends on the version."
	case strings.Contains(problem, "unknown anchor"):
		return detail + " A text that begins with * stands in quotes."
	case quotedTwice.MatchString(line):
		return detail + ` Inside of "…" the quotes of ${f("x")} end the text: put it in '…'.`
	case strings.Contains(line, "${"):
		return detail + " A text with ${…} that goes over several lines stands in quotes."
	case strings.Contains(problem, "did not find expected key"):
		return detail + " Every key of a mapping begins in the same column."
	}
	return detail
}
