package main

import (
	"cmp"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/docs"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/suggest"
)

// docsColumns is how wide pages are where nothing is a terminal.
const docsColumns = 100

// docsPage prints the list of topics, or the page of the topic that is named.
func docsPage(cmd *cobra.Command, args []string) error {
	width := cmp.Or(screen.Width(cmd.OutOrStdout()), docsColumns)
	if len(args) == 0 {
		return written(cmd, screen.Reflow(docs.Listing()+"weir docs TOPIC prints one of them.\n", width))
	}
	name := strings.Join(args, " ")
	page, ok := docs.Lookup(name)
	if !ok {
		word := strings.TrimPrefix(name, "language ")
		mentioned := docs.Mentioning(word)
		for _, n := range docs.Names() {
			if strings.HasPrefix(n, word) && word != "" {
				return exit.Usage("there is no topic %q; did you mean %q?", name, n)
			}
		}
		if near := suggest.DidYouMean(word, docs.Names()); near != "" || len(mentioned) == 0 {
			return exit.Usage("there is no topic %q%s weir docs lists all of them", name, cmp.Or(near, ";"))
		}
		return exit.Usage("there is no topic %q; it is explained in: %s (weir docs NAME prints one)", name,
			strings.Join(mentioned, ", "))
	}
	text, err := page.Text()
	if err != nil {
		return exit.With(gate.ExitInternal, err)
	}
	return written(cmd, docs.Wrap(text, width))
}

func written(cmd *cobra.Command, text string) error {
	_, err := io.WriteString(cmd.OutOrStdout(), text)
	return exit.With(gate.ExitExecution, err)
}
