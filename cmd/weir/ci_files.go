package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/input"
)

// ciFiles are the files that a job names, from the root of the repository, where it runs.
type ciFiles struct {
	scenario  string
	variables []string
	site      string
}

// files are those of the command line. Absolute paths outside the repository are of the runner.
func (f *ciFlags) files(scenario string) (ciFiles, error) {
	all := ciFiles{scenario: scenario}
	var err error
	if !strings.HasPrefix(scenario, input.CatalogPrefix) {
		if all.scenario, err = inRepository(scenario, false); err != nil {
			return all, err
		}
	}
	for _, file := range f.variables.Files {
		if file, err = inRepository(file, true); err != nil {
			return all, err
		}
		all.variables = append(all.variables, file)
	}
	if site := f.variables.Site.File(); site != "" {
		all.site, err = inRepository(site, true)
	}
	return all, err
}

// inRepository is a path from the root of the repository that has the working directory. If there is no repository,
// relative paths are from its root already.
func inRepository(file string, orOfRunner bool) (string, error) {
	here, err := realWorkingDir()
	if err != nil {
		return "", exit.Execution(err)
	}
	root, path := rootOf(here), file
	switch {
	case file == input.Stdin:
		root = ""
	case filepath.IsAbs(file):
		if folder, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
			path = filepath.Join(folder, filepath.Base(file))
		}
	case root == "":
		return file, nil
	default:
		path = filepath.Join(here, file)
	}
	if inside, err := filepath.Rel(root, path); root != "" && err == nil && filepath.IsLocal(inside) {
		return inside, nil
	}
	if orOfRunner && filepath.IsAbs(file) {
		return file, nil
	}
	return "", exit.Usage("%s: give the path of a file in the repository; the job runs at its root", file)
}

// realWorkingDir is the working directory without symbolic links.
func realWorkingDir() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(here)
}

// rootOf is the root of the repository that has a directory; "" without one.
func rootOf(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// labelsOf are the labels of runners; a value may be several with commas between.
func labelsOf(values []string) (labels []string, err error) {
	for _, value := range values {
		for label := range strings.SplitSeq(value, ",") {
			if label = strings.TrimSpace(label); label == "" {
				return nil, exit.Usage("--runner %q: a label is empty", value)
			}
			labels = append(labels, label)
		}
	}
	return labels, nil
}
