package agent

import (
	"encoding/binary"
	"errors"
	"fmt"

	"weir/executor/cluster"
	"weir/executor/trust"
)

// Seal gives a task the form in which a session places it on a node: signed, so that who
// can write to etcd cannot make up tasks, and numbered, so that it cannot repeat them.
// No two seals of a session may have the same number.
func Seal(key *trust.Signer, about trust.Subject, number uint64, spec []byte) []byte {
	return key.Seal(about, append(binary.AppendUvarint(nil, number), spec...))
}

// open gives the task that was placed, if it is this session's, for this node, and new.
func (a *Agent) open(p cluster.Placement) (Task, error) {
	body, err := a.o.Verifier.Open(trust.Subject{Session: a.o.Session, Node: a.o.Node, Name: p.Task}, p.Spec)
	if err != nil {
		return Task{}, fmt.Errorf("task %s: %w", p.Task, err)
	}
	number, used := binary.Uvarint(body)
	if used <= 0 {
		return Task{}, fmt.Errorf("task %s: %w", p.Task, errors.New("it has no number"))
	}
	a.numbers.Lock()
	again := a.seen[number]
	a.seen[number] = true
	a.numbers.Unlock()
	if again {
		return Task{}, fmt.Errorf("task %s: it was placed before", p.Task)
	}
	return decodeTask(body[used:])
}

// mostTold is of how many refused tasks of a session the node's owner is told.
const mostTold = 10

// tellRefused tells whoever runs the node of a task with which its own session reaches
// for files that are not the agent's. What strangers write is theirs to flood.
func (a *Agent) tellRefused(err error) {
	if a.o.Refused != nil && errors.Is(err, errElsewhere) && a.refused.Add(1) <= mostTold {
		a.o.Refused(err.Error())
	}
}
