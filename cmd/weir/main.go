// Weir benchmarks the data paths of AI inference: it reads a scenario, moves real bytes
// between processes, and reports by its exit code whether the assertions hold.
//
// This package is the command line, with one file per command; run and cluster have folders
// of their own. The other folders are shared by several commands.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/screen"
	_ "github.com/weir-bench/weir/engine/command" // registers the engine that starts programs
	_ "github.com/weir-bench/weir/engine/serving" // registers the clients of endpoints
	_ "github.com/weir-bench/weir/engine/sim"     // registers the engine of simulations
	"github.com/weir-bench/weir/gate"
)

func main() {
	os.Exit(recovered(os.Stderr, func() int { return execute(os.Args[1:], os.Stdout, os.Stderr) }))
}

// execute executes one command line and returns its exit code.
func execute(args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	out := &screen.ErrWriter{Writer: screen.Printable(stdout, false)} // cobra ignores errors of some of its writes
	stderr = screen.Printable(stderr, true)
	root.SetOut(out)
	root.SetErr(stderr)
	cmd, err := root.ExecuteC()
	if failed := out.Err(); failed != nil && !out.BrokenPipe() {
		err = exit.Execution(cmp.Or(err, fmt.Errorf("writing to stdout: %w", failed)))
	}
	return exit.Explain(stderr, cmd, err)
}

// recovered turns a panic of this goroutine into exit code 8 and a message with the file of the stack trace.
func recovered(stderr io.Writer, f func() int) (code int) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(stderr, "weir: internal error: %v\nThis is a bug in weir %s. Please report it with the command line and %s",
				v, buildVersion().Version, traced(debug.Stack()))
			code = gate.ExitInternal
		}
	}()
	return f()
}

// traced writes a stack trace to a file and returns its path, or the trace if it cannot be written.
func traced(stack []byte) string {
	f, err := os.CreateTemp("", "weir-bug-*.txt")
	if err == nil {
		_, err = f.Write(stack)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Sprintf("this stack trace.\n\n%s", stack)
	}
	return fmt.Sprintf("%s.\n", f.Name())
}
