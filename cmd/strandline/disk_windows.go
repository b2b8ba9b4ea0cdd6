package main

import "golang.org/x/sys/windows"

// diskFree returns how many bytes this user may write below a folder.
func diskFree(dir string) (int64, bool) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var free uint64
	if windows.GetDiskFreeSpaceEx(path, &free, nil, nil) != nil {
		return 0, false
	}
	return int64(min(free, 1<<62)), true
}
