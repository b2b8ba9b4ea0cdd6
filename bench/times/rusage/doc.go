// Package rusage reads the resource usage of a finished process.
package rusage
