// Weir measures the data paths of AI inference and judges what it measured: it
// reads a scenario, moves real bytes between processes, and says by its exit
// code whether the flow is what was promised.
//
// This package is the command line: one file for each verb, flags in, exit code out; run
// and cluster have folders. The other folders are what several verbs share. What the verbs
// do is in the packages that they call.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"weir/cmd/weir/exit"
	_ "weir/engine/command" // registers the engine that starts programs
	_ "weir/engine/serving" // registers the clients of endpoints
	_ "weir/engine/sim"     // registers the engine of simulations
	"weir/gate"
)

func main() {
	os.Exit(guard(os.Stderr, func() int { return execute(os.Args[1:], os.Stdout, os.Stderr) }))
}

// execute executes one command line and returns its exit code.
func execute(args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteC()
	return exit.Explain(stderr, cmd, err)
}

// guard turns a panic of this goroutine into exit code 8 with a text that can be acted on.
// Go's own handling would exit with 2 and leave the user with a stack trace only.
func guard(stderr io.Writer, f func() int) (code int) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(stderr, "weir: internal error: %v\nThis is a bug in weir %s. Please report it with the command line and %s",
				v, buildVersion().Version, traced(debug.Stack()))
			code = gate.ExitInternal
		}
	}()
	return f()
}

// traced keeps a stack trace in a file and says where, or is the trace where there can be
// no file.
func traced(stack []byte) string {
	f, err := os.CreateTemp("", "weir-bug-*.txt")
	if err == nil {
		_, err = f.Write(stack)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Sprintf("what follows.\n\n%s", stack)
	}
	return fmt.Sprintf("%s.\n", f.Name())
}
