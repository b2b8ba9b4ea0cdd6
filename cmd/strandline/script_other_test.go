//go:build !unix

package main

import "github.com/rogpeppe/go-internal/testscript"

func cmdFifo(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("this system has no named pipes")
}

func cmdReadonly(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("on this system a folder for reading only is no obstacle to its files")
}

func asNobody() { panic("this system has no user without rights") }
