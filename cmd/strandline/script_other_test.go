//go:build !unix

package main

import "github.com/rogpeppe/go-internal/testscript"

func cmdFifo(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("this system has no named pipes")
}
