package fleet

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestSuspendDetector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		p := &suspendDetector{}
		go p.run(ctx)
		time.Sleep(5 * time.Second)
		if text := p.note(time.Now()); text != "" {
			t.Errorf("while it runs: %q", text)
		}
		stop() // a process that does not tick is suspended
		synctest.Wait()
		time.Sleep(3 * time.Second)
		const want = "; the coordinator itself had not run for 3s"
		for range 2 {
			if text := p.note(time.Now()); text != want {
				t.Errorf("after a pause: %q", text)
			}
			time.Sleep(500 * time.Millisecond)
		}
		for range 25 {
			time.Sleep(500 * time.Millisecond)
			p.tick(time.Now())
		}
		if text := p.note(time.Now()); text != "" {
			t.Errorf("long after a pause: %q", text)
		}
	})
}
