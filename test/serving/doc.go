// Package serving tests what a load on an endpoint becomes: from what clients record to gains and
// verdicts.
package serving
