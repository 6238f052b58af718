package child

import (
	"os/exec"
	"testing"
	"time"
)

func TestEndsAreSeenWithoutReaping(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if Ended(cmd.Process.Pid) {
		t.Error("it has ended although it waits for input")
	}
	ended := make(chan bool)
	go func() {
		AwaitEnd(cmd.Process.Pid)
		close(ended)
	}()
	select {
	case <-ended:
		t.Error("its end was awaited too briefly")
	case <-time.After(20 * time.Millisecond):
	}
	in.Close()
	<-ended
	if !Ended(cmd.Process.Pid) {
		t.Error("it has not ended although its input has")
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("its exit status is gone: %v", err)
	}
	if !Ended(cmd.Process.Pid) {
		t.Error("it has not ended although it was waited for")
	}
}
