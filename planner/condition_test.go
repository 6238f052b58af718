package planner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
)

func TestWhenThatNeedsNoHostIsSettledNow(t *testing.T) {
	p := build(t, `
scenario: s
runs:
  a:
    workload: transfer
    when: block_size < 8KiB
    sweep: {block_size: [4KiB, 8KiB]}
  b:
    workload: transfer
    needs: [a]
    sweep: {block_size: [4KiB, 8KiB]}
`)
	equal(t, "status", statuses(p), map[string]string{
		"a[block_size=4KiB]": Planned, "a[block_size=8KiB]": Skipped,
		"b[block_size=4KiB]": Planned, "b[block_size=8KiB]": Skipped,
	})
	equal(t, "reason", p.Case("a[block_size=8KiB]").Reason, "when: block_size < 8KiB")
	equal(t, "reason downstream", p.Case("b[block_size=8KiB]").Reason, "needs a[block_size=8KiB], which does not run")
	equal(t, "cases of the group", p.Groups[0].Cases, []string{"a[block_size=4KiB]"})
}

func TestWhenAboutHostsIsLeftForTheRun(t *testing.T) {
	p := build(t, `
scenario: s
runs:
  a:
    workload: transfer
    when: fabric in host.fabrics
    sweep: {fabric: [shm, ucx]}
    options: {block_size: 1MiB}
`)
	equal(t, "when", p.Cases[1].When, "fabric in host.fabrics")
	equal(t, "status", p.Cases[1].Status, Planned)
}

func TestWhenThatFailsIsPointedAt(t *testing.T) {
	diags := refuse(t, `
scenario: s
runs:
  a:
    workload: transfer
    when: batch % (batch - 1) == 0
    options: {block_size: 1MiB}
`)
	mentions(t, diags, 6, "`when` of run \"a\"", "the divisor is zero")
	equal(t, "hint", diags[0].Extra, any(dsl.Hint("Correct the condition.")))
	equal(t, "column", diags[0].Subject.Start.Column, 11)
}

// A run that a variable disables may lack what it would need, such as the file of an option.
func TestARunThatIsLeftOutMayLackOptions(t *testing.T) {
	const text = `scenario: s
variables: {trace: {default: ""}}
runs:
  replay:
    workload: serving
    when: %s
    options: {url: "http://127.0.0.1:1", model: m, trace: "${var.trace}", input: {prefix: as traced}}
`
	p := build(t, fmt.Sprintf(text, `${var.trace != ""}`))
	if c := p.Cases[0]; c.Status != Skipped || c.Reason != `when: var.trace != "" is false` {
		t.Errorf("%s: %s", c.Status, c.Reason)
	}
	_, diags := plan(t, "test.yaml", fmt.Sprintf(text, "true"))
	if !strings.Contains(diags.Error(), "a load needs an end") {
		t.Errorf("without it: %v", diags)
	}
}

// A condition of variables alone is told as the file has it, not as "false".
func TestASkippedCaseTellsTheConditionOfVariables(t *testing.T) {
	const text = `scenario: s
variables: {fast: {default: false}, limit: {default: 8KiB}}
runs:
  a:
    workload: transfer
    options: {block_size: 16KiB, fabric: shm}
    when: %s
`
	for when, want := range map[string]string{
		`"${var.fast}"`:                         "when: var.fast is false",
		`'${var.limit == "4KiB"}'`:              `when: var.limit == "4KiB" is false`,
		`"${var.fast} and ${var.fast}"`:         "when: ${var.fast} and ${var.fast} is false and false",
		`"block_size < ${var.limit}"`:           "when: block_size < 8KiB",
		"false":                                 "when: false",
		">-\n      ${var.fast\n      || false}": "when: false",
	} {
		if c := build(t, fmt.Sprintf(text, when)).Cases[0]; c.Status != Skipped || c.Reason != want {
			t.Errorf("%s: %s, want %s", when, c.Reason, want)
		}
	}
}
