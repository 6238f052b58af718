package importer

import (
	"path"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// block is the commands of a block of code in a Markdown file, below as many empty lines as the file has before it.
type block struct {
	text     string
	line     int    // of the first command
	language string // which is not that of a shell; "": it is
}

var (
	fence = lazyregexp.New("^([ \t>*+-]*)(`{3,}|~{3,})[ \t]*\\{?[ \t]*\\.?([A-Za-z0-9_:+-]*)\\}?[ \t]*([A-Za-z0-9_+-]*)")
	// prompt matches that of a shell before a command.
	prompt = lazyregexp.New(`^\s*(\([\w.-]+\)\s*)?(\[?[\w.-]+@[\w.-]+[^$#]*)?[$#]\s+`)
	// directives are fences of MyST that have the language behind them.
	directives = []string{"code-block", "code", "sourcecode"}
	// directiveOption matches a line of a directive that says how it looks.
	directiveOption = lazyregexp.New(`^\s*:[a-z-]+:`)
	// span matches code within a line.
	span = lazyregexp.New("`+([^`]+)`+")
	// placeholder matches what readers replace, such as <host>.
	placeholder = lazyregexp.New(`(^|[^<&0-9A-Za-z])<([A-Za-z][A-Za-z0-9_.-]*)>`)
)

// shells are the languages of blocks that have commands; "": a block without a language.
var shells = []string{
	"", "bash", "sh", "shell", "zsh", "console", "shell-session", "sh-session", "shellsession", "terminal",
}

func isMarkdown(file string) bool {
	return slices.Contains([]string{".md", ".markdown", ".mdx"}, strings.ToLower(path.Ext(file)))
}

// blocksOf returns the blocks of commands of a Markdown file, and the lines outside of blocks at their places.
func blocksOf(text string) (all []block, outside []string) {
	lines := strings.Split(text, "\n")
	outside = make([]string, len(lines))
	for i := 0; i < len(lines); i++ {
		m := fence().FindStringSubmatch(lines[i])
		if m == nil {
			if n := indented(lines[i:]); n > 0 && (i == 0 || strings.TrimSpace(lines[i-1]) == "") {
				all = append(all, blockAt(i, lines[i:i+n]))
				i += n - 1
				continue
			}
			outside[i] = lines[i]
			continue
		}
		indent, mark, language := m[1], m[2], strings.ToLower(m[3])
		var body []string
		start := i + 1
		directive := slices.Contains(directives, language)
		if directive {
			language = strings.ToLower(m[4])
		}
		for i++; i < len(lines); i++ {
			line := strings.TrimSuffix(lines[i], "\r")
			if closing := strings.TrimLeft(line, " \t>"); strings.HasPrefix(closing, mark) &&
				strings.Trim(closing, mark[:1]+" \t") == "" {
				break
			}
			if directive && directiveOption().MatchString(line) {
				line = ""
			}
			body = append(body, unindented(line, indent))
		}
		if slices.Contains(shells, language) {
			all = append(all, blockAt(start, body))
		} else {
			all = append(all, block{strings.Repeat("\n", start) + strings.Join(body, "\n"), start, language})
		}
	}
	return all, outside
}

// blockAt is the block of some lines, with the number of lines before it.
func blockAt(before int, lines []string) block {
	return block{text: strings.Repeat("\n", before) + strings.Join(commandsOf(lines), "\n") + "\n", line: before + 1}
}

// indented returns the number of lines at the beginning that are an indented block of code.
func indented(lines []string) (n int) {
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t"):
			n = i + 1
		case strings.TrimSpace(line) != "":
			return n
		}
	}
	return n
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
// These are none that the whole text assigns.
func withoutPlaceholders(text, whole string) string {
	return placeholder().ReplaceAllStringFunc(text, func(found string) string {
		m := placeholder().FindStringSubmatch(found)
		name := strings.Map(func(r rune) rune {
			if r == '.' || r == '-' {
				return '_'
			}
			return r
		}, strings.ToUpper(m[2]))
		for strings.Contains(whole, name+"=") || strings.Contains(whole, "for "+name+" ") {
			name += "_"
		}
		return m[1] + "${" + name + "}"
	})
}

// trace matches what set -x prints before a command.
var trace = lazyregexp.New(`^\++ `)

// pasted returns a command line that was copied from a page or a log, without what stood before it.
func pasted(text string) string {
	text = strings.ReplaceAll(text, "\u00a0", " ")
	text = strings.TrimPrefix(text, promptOf(text))
	return withoutPlaceholders(strings.TrimPrefix(text, trace().FindString(text)), text)
}

// readAll reads a script, or the blocks of a Markdown file. A block that is no shell is told, if it names a tool.
func (s *script) readAll(text string) error {
	if !isMarkdown(s.file) {
		if s.file == "" {
			text = pasted(text)
		}
		return s.readText(text, 0)
	}
	blocks, outside := blocksOf(text)
	for i, line := range outside {
		if command := s.commandIn(line); command != "" {
			s.tellBlock(i+1, command, "it is outside of a block of code")
		}
	}
	for _, b := range blocks {
		b.text = withoutPlaceholders(strings.ReplaceAll(b.text, "\u00a0", " "), text)
		if b.language != "" {
			s.tellLanguage(b)
			continue
		}
		if !s.mentioned(b.text) && !strings.Contains(b.text, "=") {
			continue
		}
		before := len(s.lines)
		if err := s.readText(b.text, 0); err != nil && s.mentioned(b.text) {
			s.lines = s.lines[:before]
			command, _, _ := strings.Cut(strings.TrimSpace(b.text), "\n")
			why := strings.TrimPrefix(err.Error(), s.prefix())
			s.tellBlock(b.line, command, "this block is no text of a shell: "+why)
		}
	}
	return nil
}

func (s *script) tellBlock(line int, command, why string) {
	s.fates = append(s.fates, &Fate{Line: line, Command: command, Became: "nothing: " + why})
}

// tellLanguage tells the first command of a tool in a block of another language.
func (s *script) tellLanguage(b block) {
	for i, line := range strings.Split(b.text, "\n") {
		if strings.Contains(line, " -") && s.mentioned(line) {
			s.tellBlock(i+1, strings.TrimSpace(line), "weir reads no block of "+b.language)
			return
		}
	}
}

// commandIn returns the command of a tool in a line outside of blocks: one with flags, as code or after a prompt.
func (s *script) commandIn(line string) string {
	candidates := []string{}
	if before := promptOf(line); before != "" {
		candidates = append(candidates, strings.TrimPrefix(line, before))
	}
	for _, m := range span().FindAllStringSubmatch(line, -1) {
		candidates = append(candidates, strings.TrimPrefix(m[1], promptOf(m[1])))
	}
	for _, c := range candidates {
		if strings.Contains(c, " -") && s.mentioned(c) {
			return strings.TrimSpace(c)
		}
	}
	return ""
}
