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

// YAML 1.1 and 1.2 resolve scalars without quotes differently, and their readers
// (PyYAML, ruamel.yaml, js-yaml, npm yaml) differ once more. What is written here
// is read alike by all of them.

// otherWords are words that a version of YAML takes for something else than a text.
var otherWords = []string{
	"", "y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "=", "<<",
	".inf", "-.inf", "+.inf", ".nan",
}

// otherForms are numbers and dates of any version of YAML: with underscores, octal,
// hexadecimal, binary, sexagesimal (1:30), with an exponent.
var otherForms = regexp.MustCompile(`^([-+]?[0-9_.:]*[0-9][0-9_.:]*|[-+]?[0-9_.]+[eE][-+]?[0-9_]+|` +
	`[-+]?0[bBoOxX][0-9a-fA-F_]+|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt\s].*)?)$`)

// sameValues are numbers and words that all versions read as the same value.
var sameValues = regexp.MustCompile(`^(-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?|` +
	`true|True|TRUE|false|False|FALSE|null|Null|NULL|~|)$`)

// IsPlain says whether a text can stand without quotes, as a value or in a flow
// collection, and is the same text to all readers of YAML.
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

// ReadAlike says whether all readers of YAML accept a scalar that stands without
// quotes, and read the same value.
func ReadAlike(text string, flow bool) bool {
	return !refusedBySome(text, flow) && (sameValues.MatchString(text) || !hasOtherMeaning(text))
}

func hasOtherMeaning(text string) bool {
	return slices.Contains(otherWords, strings.ToLower(text)) || otherForms.MatchString(text)
}

// refusedBySome says whether some reader of YAML refuses a text that stands without
// quotes, or ends it earlier. The reader of this package takes more: it hides what
// stands in ${…} from yaml.v3.
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

// warnOfScalar warns of a scalar without quotes that this package reads and others do
// not.
func (b *builder) warnOfScalar(n *node) {
	if b.plain || b.stop || n.null || !refusedBySome(n.text, b.flows > 0) {
		return
	}
	b.diags = append(b.diags, &hcl.Diagnostic{
		Severity: hcl.DiagWarning, Summary: "Other YAML readers do not read this", Subject: &n.rng,
		Detail: "weir reads this text without quotes; editors and other programs refuse the file or end the text earlier. " +
			"Quote it: " + Quote(n.text),
	})
}

// NeedsEscape says whether a character is written as an escape: control characters,
// those that have no glyph, and all spaces and line breaks but the space itself.
func NeedsEscape(r rune) bool {
	return r != ' ' && unicode.IsSpace(r) || r == 0xFEFF || r == unicode.ReplacementChar || unicode.Is(unicode.C, r)
}

// Quote writes a text in quotes, on one line.
func Quote(text string) string {
	if strings.ContainsAny(text, `"\`) && !strings.ContainsFunc(text, NeedsEscape) {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return `"` + Escape(text) + `"`
}

// Escape writes what cannot stand in double quotes as it is, in the escapes that
// YAML and HCL have both.
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
