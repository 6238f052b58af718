package importer

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// xargs reads the command of xargs once for each group of words that it gets.
func (s *script) xargs(text string, n *syntax.CallExpr, given string, depth int) error {
	s.reached[n] = true
	words := []string{}
	for _, w := range n.Args[1:] {
		words = append(words, s.words(text, w)...)
	}
	each, place, together, between := 0, "", "", ""
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		flag, value, joined := words[0], "", false
		if words = words[1:]; strings.HasPrefix(flag, "--") {
			flag, value, joined = strings.Cut(flag, "=")
		}
		if short := xargsLong[flag]; short != "" {
			flag = short
			if value = or(value, "{}"); flag != "-I" && !joined && len(words) > 0 {
				value, words = words[0], words[1:]
			}
		} else if len(flag) > 2 && flag[1] != '-' {
			flag, value = flag[:2], flag[2:]
		} else if slices.Contains([]string{"-n", "-P", "-I", "-L", "-d"}, flag) && len(words) > 0 {
			value, words = words[0], words[1:]
		}
		switch flag {
		case "-n":
			each, _ = strconv.Atoi(value)
		case "-L":
			if value != "1" {
				return s.call(text, n, depth)
			}
			each = -1
		case "-I":
			place = value
		case "-P":
			together = value
		case "-0", "--null":
			between = "\x00"
		case "-d":
			between = unescapedText(value)
		case "-t", "-r", "--no-run-if-empty", "--verbose":
		default:
			return s.call(text, n, depth)
		}
	}
	if len(words) == 0 || between == "" && strings.ContainsAny(given, `'"\`) {
		return s.call(text, n, depth)
	}
	all := groups(given, between, each, place != "")
	return s.pool("xargs -P", together, len(all), func(i int) error {
		var line []string
		for _, w := range words {
			if place != "" {
				w = strings.ReplaceAll(w, place, all[i][0])
			}
			line = append(line, w)
		}
		if place == "" {
			line = append(line, all[i]...)
		}
		if s.commands++; s.commands > mostCommands {
			return s.tooMany()
		}
		return s.command(text, n, line, append([]string{"xargs"}, words...), depth)
	})
}

// xargsLong are long names of flags of xargs; the value of --replace is {} if it has none.
var xargsLong = map[string]string{
	"--replace": "-I", "-i": "-I", "--max-args": "-n", "--max-procs": "-P", "--max-lines": "-L", "--delimiter": "-d",
}

// groups divides words as xargs does: by a number of words, by lines, or all together; between separates them, if it is
// not "".
func groups(text, between string, each int, lines bool) (all [][]string) {
	words := strings.Fields(text)
	if between != "" {
		words = strings.Split(strings.TrimSuffix(text, between), between)
	}
	if between != "" && (lines || each < 0) {
		each = 1
	} else if lines || each < 0 {
		for _, line := range strings.Split(text, "\n") {
			if line = strings.TrimLeft(line, " \t"); line != "" && lines {
				all = append(all, []string{line})
			} else if line != "" {
				all = append(all, strings.Fields(line))
			}
		}
		return all
	}
	if each == 0 {
		each = max(1, len(words))
	}
	for group := range slices.Chunk(words, each) {
		all = append(all, group)
	}
	return all
}
