// Package executor runs a plan: it starts the agents of the nodes, surveys the nodes, runs launch after
// launch in the order that the statistics require, and fills the result document. A session always
// ends with a complete document: cases that did not run are in it, with their reasons.
//
// The files of this package by prefix, in reading order:
//
//	options.go    Run, the entry point: session.run, then session.conclude
//	session*.go   the session. session.go has the main loop: package ledger names the next groups and
//	              cases, launch runs them. Before it: open agents and etcd (session_open.go), find out
//	              what the plan needs (session_demand.go), drop cases that cannot run
//	              (session_admit.go), run setup and checks. After it: teardown, session_end.go
//	launch*.go    one launch: prepare (launch_prepare.go), setup and services, run, evaluate and record
//	              (launch_evaluate.go); launch_background.go runs its background load
//	backend.go    where ranks run: processes of nodes, or a simulation (backend_simulated.go)
//	task*.go      orders to agents and their reports; every wait of the session is session.Wait in task.go
//	service*.go   services: processes or pods that launches need, and that may outlive them
//
// Orders go from the session to package agent, one agent for each node, which starts rank processes
// (package rank) and talks to them over package wire. Reports come back the same way: task.go passes
// each to its task, launch.go gathers those of a launch, launch_evaluate.go turns them into metrics, and
// package ledger puts them into the document and the journal. Package placement assigns ranks to nodes,
// package event tells observers what happens.
package executor
