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
		return noTopic(cmd, name)
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

// noTopic names what has help for a word that is no topic: a command, the pages that have the word, or the topic that
// a misspelt one most likely is.
func noTopic(cmd *cobra.Command, name string) error {
	topics := docs.Topics()
	word, section := strings.CutPrefix(name, "language ")
	if section {
		topics = docs.Sections()
	}
	if verb, _, err := cmd.Root().Find(strings.Fields(name)); err == nil && verb != cmd.Root() {
		return exit.Usage("there is no topic %q; it is a command: %s --help", name, verb.CommandPath())
	}
	if mentioned := docs.Mentioning(word); word != "" && len(mentioned) > 0 {
		return exit.Usage("there is no topic %q; it is explained in: %s (weir docs NAME prints one)", name,
			strings.Join(mentioned, ", "))
	}
	for _, n := range topics {
		if strings.HasPrefix(n, word) && word != "" {
			return exit.Usage("there is no topic %q; did you mean %q?", name, n)
		}
	}
	if near := suggest.DidYouMean(word, topics); near != "" {
		return exit.Usage("there is no topic %q%s weir docs lists all of them", name, near)
	}
	return exit.Usage("there is no topic %q; near topics are %s", name, suggest.Few(word, topics, "weir docs"))
}

func written(cmd *cobra.Command, text string) error {
	_, err := io.WriteString(cmd.OutOrStdout(), text)
	return exit.With(gate.ExitExecution, err)
}
