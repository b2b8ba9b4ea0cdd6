// Package rusage reads what the system counted for a process that has ended.
package rusage
