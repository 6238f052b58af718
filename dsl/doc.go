// Package dsl loads scenarios. Programs may import it, together with packages planner and results.
//
// YAML and HCL are two syntaxes of one language: both become an hcl.Body, and everything after that is
// the same for both. Load returns a typed Scenario with source ranges, or diagnostics that point at the
// wrong characters. The data goes this way:
//
//	source     entry.go       Load reads the text; loading.module reads each file of it
//	syntax     entry.go       parse calls hclsyntax or internal/yamlsyntax, which return an hcl.Body
//	decoder    top_level.go   loader.scenario decodes a file, section by section, in this order:
//	           variables.go   the variables, and the checks of validation.go
//	           services.go    the services, and variant_read.go the variants that change them
//	           include.go     the included files, each by loading.module again
//	run        run.go         the runs except their assertions; for each run:
//	sweep      sweep.go       the axes and how they combine: axis.go, and sequence.go for sequences of traffic
//	settings   settings.go    options and environment: matrix.go, structure.go, other_run_values.go
//	           metrics.go     the metrics of the run
//	assert     assert.go      the assertions of all runs, compiled by package expression
//	Scenario   scenario.go    the result
//
// All of them read sections with decoder.go (body_schema.go, mappings.go, fields.go, value.go) by the tables
// of package grammar, and evaluate ${…} with evaluate.go and functions.go.
//
// Package planner computes settings at points (resolve.go) and lowers assertions (assert_lower.go).
package dsl
