package sqlite_test

import "errors"

// readAsNobody has no counterpart: there, a folder for reading only is no obstacle
// to files in it.
func readAsNobody(string) error { return errors.ErrUnsupported }
