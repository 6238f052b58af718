// Texts of CI jobs: words of the shell, of YAML and of Groovy.

package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// groovyText quotes a text as a Groovy string without interpolation.
func groovyText(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)
	if strings.Contains(s, "\n") {
		return "'''" + s + "'''"
	}
	return "'" + s + "'"
}

// groovyAgent is the agent clause of a Jenkins pipeline: all labels, and a container if there is an image.
func groovyAgent(image string, labels []string) string {
	label := groovyText(strings.Join(labels, " && "))
	switch {
	case image != "" && len(labels) > 0:
		return fmt.Sprintf("{ docker { image %s; label %s } }", groovyText(image), label)
	case image != "":
		return fmt.Sprintf("{ docker { image %s } }", groovyText(image))
	case len(labels) > 0:
		return fmt.Sprintf("{ label %s }", label)
	}
	return "any"
}

// indent puts n spaces before each line.
func indent(n int, text string) string {
	space := strings.Repeat(" ", n)
	return space + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+space)
}

// shellWord quotes a text as one word of a POSIX shell.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./:=,@", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// yamlText quotes a text as a YAML scalar: JSON strings are valid YAML.
func yamlText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string cannot fail
	}
	return string(b)
}

func yamlList(list []string) string {
	var texts []string
	for _, s := range list {
		texts = append(texts, yamlText(s))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
