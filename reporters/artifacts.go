package reporters

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
)

// artifacts lists the files kept from nodes, with links relative to the session's directory.
func artifacts(doc *results.Document) []html.File {
	var out []html.File
	for _, a := range doc.Artifacts {
		f := html.File{Name: plain(sentence(" of node ", a.Name, a.Node)), Href: artifactLink(a.File)}
		size := ""
		if a.File != "" {
			size = bytesText(a.Bytes)
		}
		status := ""
		if a.Status != results.OK {
			status = sentence(": ", a.Status, a.Reason)
		}
		f.Says = plain(clip(sentence(", ", a.Source, size, status), " …"))
		out = append(out, f)
	}
	return out
}

// artifactLink is the relative link to a file below the session's directory; "" for others.
func artifactLink(file string) string {
	rest, ok := strings.CutPrefix(file, "artifacts/")
	if !ok {
		return ""
	}
	parts := []string{"artifacts"}
	for part := range strings.SplitSeq(rest, "/") {
		if part == "" || part == "." || part == ".." {
			return ""
		}
		parts = append(parts, strings.NewReplacer("(", "%28", ")", "%29").Replace(url.PathEscape(part)))
	}
	return strings.Join(parts, "/")
}

// mdFile formats a file as a line of Markdown.
func mdFile(f html.File) string {
	name := mdText(f.Name)
	if f.Href != "" {
		name = "[" + name + "](" + f.Href + ")"
	}
	return "- " + sentence(": ", name, mdText(f.Says)) + "\n"
}

// nodesChanged lists launches on other nodes than before: their numbers come from other hardware.
func nodesChanged(doc *results.Document) (out []string) {
	moved := casesOf(doc, func(c *results.Case, l *results.Launch) (all []string) {
		for _, m := range l.Moved {
			all = append(all, plain(fmt.Sprintf("%s of run %s on %s", results.LaunchName(l.Index), c.Run, m)))
		}
		return all
	})
	for text, cases := range moved.All() {
		out = append(out, text+" ("+plural(len(cases), "case")+")")
	}
	return out
}

// casesOf returns the cases with launches of each text, "" excepted.
func casesOf(
	doc *results.Document, texts func(*results.Case, *results.Launch) []string,
) (of ordered.Groups[string, *results.Case]) {
	for _, c := range doc.Cases {
		var own []string
		for _, l := range c.Launches {
			for _, text := range texts(c, l) {
				own = ordered.Append(own, text)
			}
		}
		for _, text := range own {
			if text != "" {
				of.Add(text, c)
			}
		}
	}
	return of
}
