// Package planner turns a scenario into a plan: every case of the sweeps, their order, the launches that
// run them, and the assertions on each. Programs may import it, together with packages dsl and results.
// It has no side effects: the same scenario and variables give the same bytes.
//
// Build runs the steps of build.go on a Table (table.go), in which the rows of a run share their values:
//
//	expand     expand.go     the points of each sweep become rows
//	exclude    exclude.go    points that the sweep excludes are removed, and those that it includes are added
//	resolve    resolve.go    options and environment of each row; idle.go, unread.go and numbered.go check them
//	need       need.go       edges between runs and their cases; cycle.go refuses cycles, run_value.go checks values
//	assert     assert.go     assertions of each case; multi_case.go makes those over several cases
//	condition  condition.go  `when`, as far as it needs no host
//	order      order.go      the execution order of the runs
//	describe   describe.go   the parts of the scenario that the plan contains
//	group      group.go      cases that share processes become launch groups
//	seal       seal.go       ids, digest (digest.go) and cost (cost.go, expected.go)
//
// write.go writes the Table as a Plan (plan.go). A Plan can be saved (encode.go), compared (diff.go),
// reduced to a selection (selection.go) and shown as text (text.go).
package planner
