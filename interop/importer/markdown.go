package importer

import (
	"path"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// block is the commands of a block of code in a Markdown file, below as many empty lines as the file has before it.
type block struct {
	text string
	line int // of the first command
}

var (
	fence = lazyregexp.New("^([ \t>*+-]*)(`{3,}|~{3,})[ \t]*\\{?\\.?([A-Za-z0-9_+-]*)")
	// prompt matches that of a shell before a command.
	prompt = lazyregexp.New(`^\s*(\([\w.-]+\)\s*)?([\w.-]+@[\w.-]+[^$#]*)?[$#]\s+`)
	// placeholder matches what readers replace, such as <host>.
	placeholder = lazyregexp.New(`(^|[^<&0-9A-Za-z])<([A-Za-z][A-Za-z0-9_.-]*)>`)
)

// shells are the languages of blocks that have commands; "": a block without a language.
var shells = []string{"", "bash", "sh", "shell", "zsh", "console", "shell-session", "sh-session", "shellsession", "terminal"}

func isMarkdown(file string) bool {
	return slices.Contains([]string{".md", ".markdown", ".mdx"}, strings.ToLower(path.Ext(file)))
}

// blocksOf returns the blocks of commands of a Markdown file.
func blocksOf(text string) (all []block) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		m := fence().FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		indent, mark, language := m[1], m[2], strings.ToLower(m[3])
		var body []string
		start := i + 1
		for i++; i < len(lines); i++ {
			line := strings.TrimSuffix(lines[i], "\r")
			if closing := strings.TrimLeft(line, " \t>"); strings.HasPrefix(closing, mark) &&
				strings.Trim(closing, mark[:1]+" \t") == "" {
				break
			}
			body = append(body, unindented(line, indent))
		}
		if slices.Contains(shells, language) {
			all = append(all, block{strings.Repeat("\n", start) + strings.Join(commandsOf(body), "\n") + "\n", start + 1})
		}
	}
	return all
}

// unindented removes what stands before the fence of a block from one of its lines.
func unindented(line, indent string) string {
	if strings.Contains(indent, ">") {
		line = strings.TrimPrefix(strings.TrimLeft(line, " "), ">")
	}
	for range len(indent) {
		if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") {
			break
		}
		line = line[1:]
	}
	return line
}

// commandsOf returns the commands of a block: if any line has a prompt, those lines and what continues them.
func commandsOf(body []string) []string {
	prompts := slices.ContainsFunc(body, func(l string) bool { return promptOf(l) != "" })
	out := make([]string, len(body))
	continues := false
	for i, line := range body {
		before := promptOf(line)
		if prompts && before == "" && !continues {
			continue // what a command printed
		}
		if continues {
			before = ""
			line = strings.TrimPrefix(line, "> ")
		}
		out[i] = strings.TrimPrefix(line, before)
		continues = prompts && strings.HasSuffix(strings.TrimRight(line, " \t"), `\`)
	}
	return out
}

// promptOf returns the prompt before a command; a comment has none.
func promptOf(line string) string {
	found := prompt().FindString(line)
	if strings.HasSuffix(strings.TrimRight(found, " \t"), "#") && !strings.Contains(found, "@") {
		return ""
	}
	return found
}

// withoutPlaceholders returns a text with variables in place of what readers replace: a shell reads <host> as files.
func withoutPlaceholders(text string) string {
	return placeholder().ReplaceAllStringFunc(text, func(found string) string {
		m := placeholder().FindStringSubmatch(found)
		name := strings.Map(func(r rune) rune {
			if r == '.' || r == '-' {
				return '_'
			}
			return r
		}, strings.ToUpper(m[2]))
		return m[1] + "${" + name + "}"
	})
}

// trace matches what set -x prints before a command.
var trace = lazyregexp.New(`^\++ `)

// pasted returns a command line that was copied from a page or a log, without what stood before it.
func pasted(text string) string {
	text = strings.ReplaceAll(text, "\u00a0", " ")
	text = strings.TrimPrefix(text, promptOf(text))
	return withoutPlaceholders(strings.TrimPrefix(text, trace().FindString(text)))
}

// readAll reads a script, or the blocks of a Markdown file. A block that is no shell is told, if it names a tool.
func (s *script) readAll(text string) error {
	if !isMarkdown(s.file) {
		if s.file == "" {
			text = pasted(text)
		}
		return s.readText(text, 0)
	}
	for _, b := range blocksOf(text) {
		b.text = withoutPlaceholders(strings.ReplaceAll(b.text, "\u00a0", " "))
		if !s.mentioned(b.text) && !strings.Contains(b.text, "=") {
			continue
		}
		before := len(s.lines)
		if err := s.readText(b.text, 0); err != nil && s.mentioned(b.text) {
			s.lines = s.lines[:before]
			command, _, _ := strings.Cut(strings.TrimSpace(b.text), "\n")
			s.fates = append(s.fates, &Fate{b.line, command, "nothing: this block is no text of a shell: " +
				strings.TrimPrefix(err.Error(), s.prefix())})
		}
	}
	return nil
}
