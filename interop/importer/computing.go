package importer

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/interp"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// Commands, programs and files of evaluations.

// changesNothing are commands of the shell that only compute.
var changesNothing = names("echo|printf|read|mapfile|readarray|test|[|true|false|:|break|continue|return|exit|shift|set|" +
	"unset|getopts")

// call decides what a command may do.
func (e *evaluation) call(ctx context.Context, args []string) ([]string, error) {
	if e.commands.Add(1) > mostEvaluated {
		return nil, e.stop()
	}
	of, name := interp.HandlerCtx(ctx), args[0]
	if e.files[functionEntry(name)].function != nil {
		return args, nil
	}
	text := strings.Join(args[1:], " ")
	switch {
	case name == "which" || (name == "command" || name == "type") && len(args) == 3:
		name = args[len(args)-1]
		if strings.HasPrefix(name, "-") || len(args) == 3 && args[1] != "-v" && args[1] != "-P" {
			return nil, e.stop()
		}
		return []string{"echo", name}, nil
	case name == "command" && len(args) > 1 && !strings.HasPrefix(args[1], "-"):
		return e.call(ctx, args[1:])
	case name == "read" || name == "mapfile" || name == "readarray":
		if of.Stdin == nil || slices.Contains(args, "-t") && name == "read" {
			return nil, e.stop()
		}
	case name == "echo" && len(args) > 1 && (args[1] == "-ne" || args[1] == "-en"):
		return slices.Concat([]string{"echo", "-n", "-e"}, args[2:]), nil
	case (name == "[" || name == "test") && !comparesNumbers(args):
		return nil, e.stop()
	case name == "echo" && strings.Contains(text, `\`): // shells differ
		if !strings.HasPrefix(args[1], "-") || !strings.Contains(args[1], "e") || strings.Contains(text, `\c`) {
			return nil, e.stop()
		}
	case name == "printf" && (printfDiffers().MatchString(text) || strings.HasPrefix(text, "-") && args[1] != "--"):
		return nil, e.stop()
	case name == "printf" && len(args) > 1 && args[1] == "--":
		return slices.Delete(slices.Clone(args), 1, 2), nil
	case name == "set" && len(args) > 1 && args[1] != "--" && strings.Contains("-+", args[1][:min(1, len(args[1]))]):
		return []string{"true"}, nil // an option
	}
	if interp.IsBuiltin(name) && !slices.Contains(changesNothing, name) {
		return nil, e.stop()
	}
	return args, nil
}

// comparesNumbers reports whether operators that compare numbers have them.
func comparesNumbers(args []string) bool {
	for i, a := range args {
		if slices.Contains(comparisons, a) && i > 1 && i+1 < len(args) && !(wholeNumber().MatchString(args[i-1]) &&
			wholeNumber().MatchString(args[i+1])) {
			return false
		}
	}
	return true
}

// printfDiffers matches what printf of bash has, and that of the interpreter not: among that long paddings, which
// would be long texts, too.
var printfDiffers = lazyregexp.New(`%q|%b|%[-+ 0#.]*(\*|\d{5})`)

// wholeNumber matches what test takes for a number.
var wholeNumber = lazyregexp.New(`^\s*[-+]?\d+\s*$`)

// program runs a program that makes a text of another.
func (e *evaluation) program(interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		of := interp.HandlerCtx(ctx)
		run, ok := filters[args[0]]
		if !ok {
			return e.stop()
		}
		text, needsInput := "", !slices.Contains(withoutInput, args[0])
		for last := len(args) - 1; last > 0 && (needsInput || args[0] == "cat"); last-- {
			file, known := e.files.fileText(args[last])
			if !known {
				break
			}
			text, args, needsInput = file+text, args[:last], false
		}
		if args[0] == "cat" && len(args) > 1 {
			return e.stop()
		}
		if needsInput {
			if of.Stdin == nil {
				return e.stop()
			}
			read, err := io.ReadAll(io.LimitReader(of.Stdin, mostValue+1))
			if text = string(read); err != nil || len(text) > mostValue {
				return e.stop()
			}
		}
		printed, ok := run(args[1:], text)
		if !ok {
			return e.stop()
		}
		_, err := io.WriteString(of.Stdout, printed)
		return err
	}
}

// openText is a file of a known text, or one that keeps nothing.
type openText struct{ io.Reader }

func (openText) Close() error { return nil }

// open opens a file that the script writes, and no other.
func (e *evaluation) open(_ context.Context, path string, flag int, _ os.FileMode) (io.ReadWriteCloser, error) {
	if path == "/dev/null" {
		return openText{strings.NewReader("")}, nil
	}
	text, known := e.files.fileText(path)
	if !known || flag != os.O_RDONLY {
		return nil, e.stop()
	}
	return openText{strings.NewReader(text)}, nil
}
