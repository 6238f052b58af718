// Package pages executes the documentation. A page is README.md or a file below docs.
//
// Of a page's blocks of code:
//
//   - yaml or hcl: one whose first line is the comment "# NAME.yaml" is the file NAME.yaml in the
//     page's directory. One that is a scenario must pass weir validate.
//   - console: lines that begin with "$ " are run by bash, one after the other, in that directory.
//     The lines below a command are what it prints: each must occur in its output, in this order.
//     Numbers with their units count as equal, but for exit codes, and so do runs of spaces. A line
//     "…" stands for lines that are not shown, and "…" at the end of a line for any rest. A command
//     must succeed, unless it ends with ; echo "exit $?".
//   - sh: is not run, because it needs a cluster or hardware; notRun says what. Commands and flags
//     of weir must exist, as must those that the text names.
//   - json: must be JSON. text: is a figure or an output, which nothing checks.
//
// The directory has examples of the repository as examples, and what testdata/PAGE has.
package pages
