package main

import "golang.org/x/sys/unix"

// lowerDiskPriority lets this process group use the disk only when it is idle.
func lowerDiskPriority() {
	const (
		group = 2       // IOPRIO_WHO_PGRP
		idle  = 3 << 13 // IOPRIO_CLASS_IDLE
	)
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, group, 0, idle)
}
