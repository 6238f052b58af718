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
	switch pages := docs.Topic(name); len(pages) {
	case 0:
		return noTopic(name)
	case 1:
		return printPage(cmd, pages[0], width)
	default:
		return written(cmd, screen.Reflow(docs.ListingOf(pages)+"\nweir docs TOPIC prints one of them.\n", width))
	}
}

// printPage prints a page, or the reference that a command below docs makes.
func printPage(cmd *cobra.Command, page docs.Page, width int) error {
	for _, reference := range cmd.Commands() {
		if reference.Name() == page.Name {
			return reference.RunE(reference, nil)
		}
	}
	text, err := page.Text()
	if err != nil {
		return exit.With(gate.ExitInternal, err)
	}
	return written(cmd, docs.Wrap(text, width))
}

// noTopic names the topic that a misspelt one most likely is, or the pages that have the word.
func noTopic(name string) error {
	topics := docs.Topics()
	word, section := strings.CutPrefix(name, "language ")
	if section {
		topics = docs.Sections()
	}
	for _, n := range topics {
		if strings.HasPrefix(n, word) && word != "" {
			return exit.Usage("there is no topic %q; did you mean %q?", name, n)
		}
	}
	mentioned := docs.Mentioning(word)
	near := suggest.DidYouMean(word, topics)
	switch {
	case near == "" && len(mentioned) == 0:
		return exit.Usage("there is no topic %q; near topics are %s", name, suggest.Few(word, topics, "weir docs"))
	case near != "":
		return exit.Usage("there is no topic %q%s weir docs lists all of them", name, near)
	}
	return exit.Usage("there is no topic %q; it is explained in: %s (weir docs NAME prints one)", name,
		strings.Join(mentioned, ", "))
}

func written(cmd *cobra.Command, text string) error {
	_, err := io.WriteString(cmd.OutOrStdout(), text)
	return exit.With(gate.ExitExecution, err)
}
