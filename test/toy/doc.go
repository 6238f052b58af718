// Package toy adds workloads to weir as CONTRIBUTING.md says, and tries them from a
// scenario to its reports.
package toy
