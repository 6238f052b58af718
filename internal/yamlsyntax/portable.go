package yamlsyntax

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"gopkg.in/yaml.v3"
)

// YAML 1.1 and 1.2 resolve unquoted scalars differently, and so do their readers (PyYAML,
// ruamel.yaml, js-yaml, npm yaml). All of them read the output of this package alike.

// otherWords are words that a version of YAML does not read as a text.
var otherWords = []string{
	"", "y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "=", "<<",
	".inf", "-.inf", "+.inf", ".nan",
}

// otherForms matches numbers and dates of any version of YAML: with underscores, octal,
// hexadecimal, binary, sexagesimal (1:30), with an exponent.
var otherForms = regexp.MustCompile(`^([-+]?[0-9_.:]*[0-9][0-9_.:]*|[-+]?[0-9_.]+[eE][-+]?[0-9_]+|` +
	`[-+]?0[bBoOxX][0-9a-fA-F_]+|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt\s].*)?)$`)

// sameValues matches numbers and words that all versions read as the same value.
var sameValues = regexp.MustCompile(`^(-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?|` +
	`true|True|TRUE|false|False|FALSE|null|Null|NULL|~|)$`)

// IsPlain reports whether an unquoted text, as a value or in a flow collection, is the same text to
// all readers of YAML.
func IsPlain(text string, flow bool) bool {
	if !ReadAlike(text, flow) || hasOtherMeaning(text) || strings.ContainsFunc(text, NeedsEscape) {
		return false
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("- "+text), &doc); err != nil || len(doc.Content) != 1 {
		return false
	}
	list := doc.Content[0]
	if list.Kind != yaml.SequenceNode || len(list.Content) != 1 {
		return false
	}
	n := list.Content[0]
	return n.Kind == yaml.ScalarNode && n.Style == 0 && n.Tag == "!!str" && n.Anchor == "" && n.Value == text
}

// ReadAlike reports whether all readers of YAML accept an unquoted scalar and read the same value.
func ReadAlike(text string, flow bool) bool {
	return !refusedBySome(text, flow) && (sameValues.MatchString(text) || !hasOtherMeaning(text))
}

func hasOtherMeaning(text string) bool {
	return slices.Contains(otherWords, strings.ToLower(text)) || otherForms.MatchString(text)
}

// refusedBySome reports whether some reader of YAML refuses an unquoted text, or ends it earlier.
// This package accepts more, since it hides ${…} from yaml.v3.
func refusedBySome(text string, flow bool) bool {
	for _, end := range []string{": ", " #", "\t"} {
		if strings.Contains(text, end) {
			return true
		}
	}
	if strings.HasSuffix(text, ":") || text == "=" {
		return true
	}
	return flow && (strings.ContainsAny(text, ",[]{}?") || strings.HasPrefix(text, ":"))
}

// warnOfScalar warns of an unquoted scalar that this package reads and others do not.
func (b *builder) warnOfScalar(n *Node) {
	if b.plain || b.stop || n.Null || !refusedBySome(n.Text, b.flows > 0) {
		return
	}
	b.diags = append(b.diags, &hcl.Diagnostic{
		Severity: hcl.DiagWarning, Summary: "Other YAML readers cannot read this", Subject: &n.Range,
		Detail: "weir can read this text without quotes, but editors and other programs refuse the file or end the text earlier. " +
			"Quote it: " + Quote(n.Text),
	})
}

// NeedsEscape reports whether a character must be escaped: control characters, those without a
// glyph, and all spaces and line breaks but the space itself.
func NeedsEscape(r rune) bool {
	return r != ' ' && unicode.IsSpace(r) || r == 0xFEFF || r == unicode.ReplacementChar || unicode.Is(unicode.C, r)
}

// Quote quotes a text on one line.
func Quote(text string) string {
	if strings.ContainsAny(text, `"\`) && !strings.ContainsFunc(text, NeedsEscape) {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return `"` + Escape(text) + `"`
}

// Escape escapes characters that cannot be in double quotes, with escapes that both YAML and HCL
// have.
func Escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case !NeedsEscape(r):
			b.WriteRune(r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	return b.String()
}
