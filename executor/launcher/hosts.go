package launcher

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/bounded"
)

// maxHosts is the largest number of hosts of a list, to detect typing errors in ranges.
const maxHosts = 10_000

// Hosts expands a list of hosts in Slurm's notation: entries separated by commas, with numbers and ranges in
// brackets, which keep leading zeros: a[1-4,7],rack[01-12]x[1,2]. @FILE stands for the entries of a file with
// one or more lists per line and # comments. A duplicate host is an error.
func Hosts(list string) ([]string, error) {
	hosts, err := hostsIn(list, fileOfHosts)
	switch {
	case err == nil:
		err = once(hosts)
	case err == errTooMany:
		err = fmt.Errorf("it has %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("list of hosts %.80q: %w", list, err)
	}
	return hosts, nil
}

var errTooMany = fmt.Errorf("more than %d hosts", maxHosts)

// hostsIn expands the entries of a list, those of files by ofFile.
func hostsIn(list string, ofFile func(path string) ([]string, error)) ([]string, error) {
	var hosts []string
	entries, err := split(list)
	for _, entry := range entries {
		var more []string
		if file, ok := strings.CutPrefix(entry, "@"); ok {
			more, err = ofFile(file)
		} else {
			more, err = expand(entry)
		}
		if err != nil {
			return nil, err
		}
		if hosts = append(hosts, more...); len(hosts) > maxHosts {
			return nil, errTooMany
		}
	}
	return hosts, err
}

func once(hosts []string) error {
	if len(hosts) == 0 {
		return errors.New("it names no host")
	}
	seen := map[string]bool{}
	for _, h := range hosts {
		if seen[h] {
			return fmt.Errorf("%s is named twice", h)
		}
		seen[h] = true
	}
	return nil
}

// split cuts a list at commas and white space that are not in brackets.
func split(list string) ([]string, error) {
	var entries []string
	depth, from := 0, 0
	for i := 0; i <= len(list); i++ {
		switch {
		case i == len(list) || depth == 0 && strings.IndexByte(", \t\n\r", list[i]) >= 0:
			if i > from {
				entries = append(entries, list[from:i])
			}
			from = i + 1
		case list[i] == '[':
			depth++
		case list[i] == ']':
			depth--
		}
		if depth < 0 || depth > 1 {
			break
		}
	}
	if depth != 0 {
		return nil, errors.New("its brackets do not match")
	}
	return entries, nil
}

func fileOfHosts(path string) ([]string, error) {
	text, err := bounded.ReadFile(path, bounded.Text)
	if err != nil {
		return nil, err
	}
	var hosts []string
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		more, err := hostsIn(line, func(string) ([]string, error) {
			return nil, errors.New("a file of hosts names no further file")
		})
		if hosts = append(hosts, more...); err == nil && len(hosts) > maxHosts {
			err = errTooMany
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
	}
	return hosts, nil
}

// expand replaces the brackets of an entry, the last ones counting fastest.
func expand(entry string) ([]string, error) {
	before, rest, found := strings.Cut(entry, "[")
	if !found {
		return []string{entry}, checkHost(entry)
	}
	inside, after, _ := strings.Cut(rest, "]")
	numbers, err := ranges(inside)
	if err != nil {
		return nil, err
	}
	tails := []string{""}
	if after != "" {
		// not checked alone, as it may be no valid host
		if tails, err = expandTail(after); err != nil {
			return nil, err
		}
	}
	if len(numbers)*len(tails) > maxHosts {
		return nil, fmt.Errorf("%s has more than %d hosts", entry, maxHosts)
	}
	hosts := make([]string, 0, len(numbers)*len(tails))
	for _, n := range numbers {
		for _, tail := range tails {
			if err := checkHost(before + n + tail); err != nil {
				return nil, err
			}
			hosts = append(hosts, before+n+tail)
		}
	}
	return hosts, nil
}

func expandTail(tail string) ([]string, error) {
	const head = "h" // makes any tail a valid host
	if !strings.Contains(tail, "[") {
		return []string{tail}, nil
	}
	tails, err := expand(head + tail)
	for i := range tails {
		tails[i] = tails[i][len(head):]
	}
	return tails, err
}

// ranges expands the contents of brackets.
func ranges(inside string) ([]string, error) {
	var all []string
	for part := range strings.SplitSeq(inside, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := number(first)
		to, err2 := number(last)
		switch {
		case err != nil || err2 != nil:
			return nil, fmt.Errorf("%q in brackets: must be a number or a range like 1-4", part)
		case to < from:
			return nil, fmt.Errorf("the range %s goes backwards", part)
		case len(all)+to-from >= maxHosts:
			return nil, fmt.Errorf("[%s] has more than %d numbers", inside, maxHosts)
		}
		for n := from; n <= to; n++ {
			all = append(all, fmt.Sprintf("%0*d", len(first), n))
		}
	}
	return all, nil
}

func number(s string) (int, error) {
	if !only(s, digits) || len(s) > 9 {
		return 0, strconv.ErrSyntax
	}
	return strconv.Atoi(s)
}

// checkHost refuses names that ssh would not accept, or would parse as an option.
func checkHost(h string) error {
	switch {
	case len(h) > 250 || !only(h, letters+digits+"._-@:%") || strings.ContainsAny(h[:1], "-.@:%") ||
		strings.HasSuffix(h, "@"):
		return fmt.Errorf("%.80q is no host: it has letters, digits, '.', '_' and '-', and may have a user, user@host",
			h)
	case strings.Count(h, ":") == 1:
		return fmt.Errorf("%s: a port goes into ~/.ssh/config, or as Port=N into the setting ssh.option", h)
	}
	return nil
}
