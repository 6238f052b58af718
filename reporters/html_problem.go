package reporters

import (
	"io"

	"github.com/weir-bench/weir/reporters/html"
)

// ProblemHTML writes why a page cannot be shown, with a link to the list of sessions.
func ProblemHTML(w io.Writer, why error, home string) error {
	p := &html.Page{
		Kind: "problem", Home: home, Title: "this page cannot be shown", Sign: symbols["error"], Status: "error",
		Headline: plain(why.Error()),
	}
	return p.Write(w)
}
