// Package cgroupfs finds the control groups of this process in what the kernel has mounted.
package cgroupfs

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Folders are the folders of a process's cgroups, "" if they are not mounted: of version 2, and of a controller of
// version 1.
type Folders struct{ V2, V1 string }

// Own finds the folders of this process.
func Own(root fs.FS, controller string) (out Folders, err error) {
	mounts, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return out, fmt.Errorf("looking for cgroups: %w", err)
	}
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return out, fmt.Errorf("looking for this process's cgroup: %w", err)
	}
	for line := range strings.Lines(string(groups)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		switch {
		case !ok:
		case controllers == "" && out.V2 == "":
			out.V2 = mountOf(mounts, "cgroup2", "", group)
		case controller != "" && slices.Contains(strings.Split(controllers, ","), controller):
			out.V1 = mountOf(mounts, "cgroup", controller, group)
		}
	}
	return out, nil
}

// mountOf is the path of a group in a hierarchy (cgroup2, or cgroup with a controller), "" if it is not mounted.
// Fields of mountinfo (proc(5)): id, parent, device, root, mount point, options, optional fields, a hyphen,
// type, source, options of the file system.
func mountOf(mounts []byte, version, controller, group string) string {
	lines := bufio.NewScanner(bytes.NewReader(mounts))
	for lines.Scan() {
		before, after, ok := strings.Cut(lines.Text(), " - ")
		f := strings.Fields(before)
		kind, options, _ := strings.Cut(after, " ")
		_, options, _ = strings.Cut(options, " ")
		if !ok || len(f) < 6 || kind != version ||
			controller != "" && !slices.Contains(strings.Split(options, ","), controller) {
			continue
		}
		rel, err := filepath.Rel(unescape(f[3]), group)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, "../") && !strings.HasPrefix(group, "/..") {
			return filepath.Join(unescape(f[4]), rel)
		}
	}
	return ""
}

// unescape decodes the blanks in mountinfo.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace

// Count is the number behind a name in a file of a cgroup, such as oom_kill in memory.events; 0 if it has none.
func Count(text []byte, name string) uint64 {
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, _ := strconv.ParseUint(f[1], 10, 64) // the kernel writes numbers
			return n
		}
	}
	return 0
}
