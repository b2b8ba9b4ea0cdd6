package sqlite_test

import "errors"

// readAsNobody is not supported on Windows, where a read-only folder does not prevent
// writing to the files in it.
func readAsNobody(string) error { return errors.ErrUnsupported }
