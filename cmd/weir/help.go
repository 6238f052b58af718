package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/screen"
)

// wrapHelp makes the help of all commands fit the terminal.
func wrapHelp(root *cobra.Command) {
	print := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := cmd.OutOrStdout()
		width := screen.Width(out)
		if width <= 0 {
			print(cmd, args)
			return
		}
		var page bytes.Buffer
		cmd.SetOut(&page)
		print(cmd, args)
		cmd.SetOut(out)
		text := strings.Replace(page.String(), strings.TrimSpace(cmd.Long), filled(strings.TrimSpace(cmd.Long)), 1)
		_, _ = io.WriteString(out, screen.Reflow(text, width)) // out keeps its first error
	})
}

// filled joins the lines of each paragraph, so that they can be wrapped at another width. Indented lines stay.
func filled(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		switch joined := b.String(); {
		case joined == "":
		case line == "" || strings.HasPrefix(line, " ") || strings.HasSuffix(joined, "\n"):
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	return b.String()
}
