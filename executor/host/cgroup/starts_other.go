//go:build !linux

package cgroup

import "syscall"

// Starts does nothing: only Linux has groups.
func (g *Group) Starts(*syscall.SysProcAttr) {}
