package agent

// logPieceSize is how much of a log is reported at a time, in bytes.
const logPieceSize = 1 << 20

// ship reports a log that a task has made, once it is complete, where the agent's log
// directory is not the session's; the file is then removed. During a launch it stays on
// the node: passing it on would cost what is measured processor time.
func (a *Agent) ship(task string, log *logFile) {
	if !a.o.ShipLogs || log == nil {
		return
	}
	defer log.remove()
	for from := int64(0); from <= maxOutput; { // behind it stands how much was left out
		piece := log.read(from, logPieceSize)
		if len(piece) > 0 || from == 0 {
			a.report(Report{Task: task, Log: &Log{Name: log.name, From: from, Text: piece}})
		}
		if from += int64(len(piece)); len(piece) < logPieceSize {
			return
		}
	}
}
