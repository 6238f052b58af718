package child

import "testing"

func TestMemoryKills(t *testing.T) {
	for text, want := range map[string]int{
		"nr_free_pages 5\noom_kill 12\ndrop_pagecache 0\n": 12,
		"nr_free_pages 5\n": 0,
		"":                  0,
	} {
		if got := memoryKillsIn(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	now := MemoryKills()
	if got := MemoryKillsSince(now + 1<<20); got != "" {
		t.Errorf("without a kill: %q", got)
	}
	for before, want := range map[int]string{
		now - 1: ": memory ran out, and the kernel killed a process of this host meanwhile",
		now - 3: ": memory ran out, and the kernel killed 3 processes of this host meanwhile",
	} {
		if got := MemoryKillsSince(before); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
