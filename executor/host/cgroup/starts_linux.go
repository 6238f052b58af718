package cgroup

import "syscall"

// Starts has a new process begin in the group.
func (g *Group) Starts(attr *syscall.SysProcAttr) { attr.UseCgroupFD, attr.CgroupFD = true, g.FD() }
